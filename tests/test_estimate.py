"""The estimate of a fit: which rows are held out, and the baseline on the same ones."""

import warnings

import numpy as np
import pyarrow as pa
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import StratifiedKFold

from extreme_entropy import EEMClassifier, gmean_score
from extreme_entropy.errors import InputError
from extreme_entropy.metrics import Outcome, by_class, recall_scores, saving
from extreme_entropy.tables.baseline import Boosting
from extreme_entropy.tables.estimate import Split, Terms, estimate_outcome
from extreme_entropy.tables.fitting import FitRequest, fit_table
from extreme_entropy.tables.reading import open_table
from extreme_entropy.tables.writing import write_table


class Watched(EEMClassifier):
    """Remembers which rows it learnt, by their first column."""

    seen = ()

    def fit(self, X, y):
        Watched.seen = (*Watched.seen, X["row"].to_numpy())
        return super().fit(X, y)


@pytest.fixture
def table(rng):
    """Rows with their number, two columns and labels."""
    n = 300
    y = np.where(rng.random(n) < 0.3, "yes", "no")
    x = rng.normal(size=n) + 1.5 * (y == "yes")
    Watched.seen = ()
    return pa.table({"row": 1.0 * np.arange(n), "x": x, "z": rng.normal(size=n)}), y


def test_the_baseline_is_scikit_learns_on_the_same_folds(table):
    """By another route: scikit-learn's own, of the same folds, with its threshold at the prior."""
    X, y = table
    guess = estimate_outcome(EEMClassifier(20, random_state=0), X, y, 3, baseline=True)
    theirs = HistGradientBoostingClassifier(l2_regularization=1, random_state=3)
    folds, rows = StratifiedKFold(5, shuffle=True, random_state=3), X.to_pandas().to_numpy()
    predicted = np.empty(300, "U3")
    for learnt, out in folds.split(rows, y):
        p = theirs.fit(rows[learnt], y[learnt]).predict_proba(rows[out])[:, 1]
        predicted[out] = np.where(p > (y[learnt] == "yes").mean(), "yes", "no")
    assert guess.baseline.name == "gradient boosting"
    assert guess.baseline.gmean == pytest.approx(gmean_score(y, predicted))
    assert np.array_equal(guess.baseline.confusion, confusion_matrix(y, predicted))
    assert guess.baseline.low < guess.baseline.gmean < guess.baseline.high
    alone = estimate_outcome(EEMClassifier(20, random_state=0), X, y, 3)
    assert alone.baseline is None
    assert alone.gmean == guess.gmean


def test_the_baseline_can_split_few_rows(rng):
    """22 rows are fewer than two leaves of 20, which scikit-learn would ask for."""
    y = np.arange(22) % 2
    X = pa.table({"x": rng.normal(size=22) + 4 * y})
    rows = np.arange(22)
    decided = Boosting(X, 0).decisions(rows[:16], y, rows[16:], np.ones(2))
    assert (decided == y[16:]).all()


def test_costs_of_the_fit_are_those_of_the_estimate(table):
    """Thresholds of both follow the costs and shares; precision and cost are for these shares."""
    X, y = table
    at_costs = [
        estimate_outcome(
            EEMClassifier(20, random_state=0),
            X,
            y,
            0,
            terms=Terms(np.array([1.0, cost]), np.array([0.95, 0.05])),
            baseline=True,
        )
        for cost in (1.0, 200.0)
    ]
    for part in ("model", "baseline"):
        few, many = (
            np.array((g if part == "model" else g.baseline).confusion)[:, 1].sum() for g in at_costs
        )
        assert few < many
    guess = at_costs[1]
    matrix = np.array(guess.confusion)
    assert matrix.sum() == 300
    shares = matrix / matrix.sum(axis=1, keepdims=True) * [[0.95], [0.05]]
    outcome = guess.outcome(guess.confusion)
    assert outcome.cost == pytest.approx(200 * shares[1, 0] + shares[0, 1])
    assert outcome.precisions[1] == pytest.approx(shares[1, 1] / shares[:, 1].sum())
    constant = min(200 * 0.05, 0.95)
    assert guess.saved[0] == pytest.approx(constant - outcome.cost)
    theirs = guess.outcome(guess.baseline.confusion).cost
    assert guess.baseline.saved[0] == pytest.approx(theirs - outcome.cost)


@pytest.mark.parametrize("grouped", [False, True])
def test_the_interval_of_a_saving_holds_what_comes_true(grouped):
    """Of 300 draws of 200 rows, about 95 in 100 have the true saving in their interval."""
    rng = np.random.default_rng(0)
    costs, shares, inside = by_class([1, 5]), np.array([0.8, 0.2]), 0
    truth = 0.2 * 5 * (0.9 - 0.6) + 0.8 * (0.3 - 0.2)  # by recalls and false alarms of both
    for _ in range(300):
        n = 4 if grouped else 1  # as many rows in a group
        labels = np.repeat([0, 1], [160 * n, 40 * n])
        draws, groups = np.repeat(rng.random((2, 200)), n, axis=1), np.repeat(np.arange(200), n)
        ours = draws[0] < np.where(labels, 0.9, 0.2)
        theirs = draws[1] < np.where(labels, 0.6, 0.3)
        saved = saving(
            labels, ours * 1, theirs * 1, costs, shares, groups=groups if grouped else None
        )
        inside += saved.low < truth < saved.high
    assert 0.91 < inside / 300 < 0.99


def test_a_class_without_a_mistake_is_not_taken_for_certain():
    outcome = Outcome(np.array([[100, 0], [0, 8]]), by_class([1, 10]))
    saved = outcome.saving_on_constant(0)
    assert saved.value == pytest.approx(80 / 108)
    assert saved.low < 0.9 * saved.value
    assert saved.high == saved.value  # no more can be saved than the constant costs


def test_the_baseline_takes_categories_dates_and_gaps(rng):
    """A rare category, more categories than codes, and a column of nothing but gaps."""
    n = 600
    y = np.arange(n) % 2
    town = [None if i % 50 == 0 else f"town {rng.integers(300)} {y[i]}" for i in range(n)]
    X = pa.table(
        {
            "town": town,
            "day": pa.array(np.datetime64("2020-01-01", "us") + np.arange(n)),
            "gone": pa.nulls(n, pa.float64()),
            "x": rng.normal(size=n) + y,
        }
    )
    rows = np.arange(n)
    predicted = Boosting(X, 0).decisions(rows[:400], y, rows[400:], np.ones(2))
    assert (predicted == y[400:]).mean() > 0.55


def test_a_wide_baseline_says_that_it_has_fewer_rounds(rng):
    X = pa.table({f"x{j}": rng.normal(size=40) for j in range(100)})
    assert Boosting(X, 0).name == "gradient boosting (50 rounds)"
    rows = np.arange(40)
    assert len(Boosting(X, 0).decisions(rows[:30], rows % 2, rows[30:], np.ones(2))) == 10


def test_by_time_only_earlier_rows_are_learnt(table, rng):
    """The last fifth is held out; a row without a time is on neither side."""
    X, y = table
    time = rng.permutation(300).astype(float)
    time[0] = np.nan
    guess = estimate_outcome(Watched(20, random_state=0), X, y, 0, split=Split("time", "t", time))
    assert (guess.split, guess.column, guess.folds, guess.held_out) == ("time", "t", 1, 60)
    (learnt,) = Watched.seen
    assert set(learnt) == set(np.flatnonzero(time < np.sort(time)[239]))


def test_where_the_last_rows_are_too_few_each_part_follows_those_before_it(table):
    """Of a rare class: four parts are predicted in turn, each from all rows before it."""
    X, _ = table
    y = np.where(np.arange(300) % 15 == 0, "yes", "no")
    split = Split("time", "t", np.arange(300.0))
    guess = estimate_outcome(Watched(20, random_state=0), X, y, 0, split=split)
    assert (guess.folds, guess.held_out) == (4, 240)
    assert [len(rows) for rows in Watched.seen] == [60, 120, 180, 240]
    assert all((rows == np.arange(len(rows))).all() for rows in Watched.seen)


def test_rows_of_one_time_are_never_on_both_sides(table):
    """Three years: the last is held out, however many rows it has."""
    X, y = table
    year = np.repeat([2019.0, 2020.0, 2021.0], [150, 30, 120])
    guess = estimate_outcome(Watched(20, random_state=0), X, y, 0, split=Split("time", "t", year))
    assert guess.held_out == 120
    (learnt,) = Watched.seen
    assert learnt.max() == 179


def test_groups_are_held_out_whole(table, rng):
    """Rows of a group that is predicted are never learnt, those of rare classes neither."""
    X, y = table
    y = y.astype("U5")
    y[:5] = "rare"
    groups = rng.integers(0, 20, 300).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the rare class
        split = Split("group", "g", groups)
        guess = estimate_outcome(Watched(20, random_state=0), X, y, 0, split=split)
    assert (guess.split, guess.folds, guess.not_judged) == ("group", 5, ("rare",))
    assert guess.held_out == 295
    for learnt in Watched.seen:
        inside = np.isin(np.arange(300), learnt)
        assert not set(groups[inside]) & set(groups[~inside])


def test_without_two_classes_to_judge_the_reason_is_given(table):
    """All rows of a class lie before the last."""
    X, _ = table
    y = np.where(np.arange(300) < 50, "yes", "no")
    reason = estimate_outcome(
        EEMClassifier(20), X, y, 0, split=Split("time", "day", np.arange(300.0))
    )
    assert reason == "of two classes 8 rows or more must be held out by --time day"


def written(folder, **columns):
    table = pa.table(columns)
    write_table(folder / "a.csv", table.to_batches(), table.schema)
    return open_table(folder / "a.csv")


@pytest.fixture
def source(rng, tmp_path):
    n = 200
    y = rng.random(n) < 0.4
    return written(
        tmp_path,
        x=rng.normal(size=n) + y,
        day=np.datetime64("2020-01-01") + rng.integers(0, 400, n),
        who=[f"p{i % 25}" for i in range(n)],
        number=np.arange(n),
        same=["one"] * n,
        y=np.where(y, "b", "a"),
    )


def used(model):
    return [column.name for column in model.columns.used]


def test_the_time_is_learnt_from_and_the_group_only_if_asked(source):
    options = {"model": "eem", "size": 10}
    model = fit_table(source, FitRequest("y", time="day", **options))
    assert (model.facts.estimate.split, model.facts.estimate.column) == ("time", "day")
    assert used(model) == ["x", "day", "who"]
    model = fit_table(
        source, FitRequest("y", time="number", **options)
    )  # though it only numbers the rows
    assert model.facts.estimate.held_out == 40
    model = fit_table(source, FitRequest("y", group="who", **options))
    assert model.facts.estimate.split == "group"
    assert used(model) == ["x", "day"]
    assert model.columns.dropped["who"] == "it is the --group"
    model = fit_table(
        source, FitRequest("y", group="who", read_as={"category": ("who",)}, **options)
    )
    assert used(model) == ["x", "day", "who"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"time": "who"}, "must hold dates or numbers; 'who' is read as text"),
        ({"time": "y"}, "must not be the target"),
        ({"group": "x", "drop": ("x",)}, "must not be the target or left out"),
        ({"group": "same"}, "two groups or more"),
        ({"time": "dya"}, "Did you mean 'day'"),
    ],
)
def test_columns_that_cannot_split_rows_are_refused(options, message, source):
    with pytest.raises(InputError, match=message):
        fit_table(source, FitRequest("y", model="eem", size=10, **options))


def test_intervals_by_group_are_those_of_groups():
    """Where labels belong to groups and mean nothing, no interval excludes ½ for long."""
    covered = 0
    for seed in range(8):
        own = np.random.default_rng(seed)
        groups = np.repeat(np.arange(40), 20)
        y = own.permutation(np.arange(40) % 2)[groups]
        centre = own.normal(size=(40, 3))[groups]
        X = pa.table({f"x{j}": centre[:, j] + 0.3 * own.normal(size=800) for j in range(3)})
        classifier = EEMClassifier(20, relevance="uniform", random_state=0)
        split = Split("group", "patient", groups)
        guess = estimate_outcome(classifier, X, y, 0, split=split)
        assert guess.high - guess.low > 0.15  # rows alone would give less than 0.08
        covered += guess.low <= 0.5 <= guess.high
    assert covered >= 5


def test_recalls_of_groups_with_one_row_each_have_the_intervals_of_rows():
    found = (np.arange(400) % 5 > 0).astype(float)
    labels = np.arange(400) % 2
    by_class = np.eye(2)[labels]
    grouped = recall_scores(found[:, None] * by_class, by_class)["gmean"]
    alone = recall_scores((found[:, None] * by_class).sum(axis=0), by_class.sum(axis=0))["gmean"]
    assert grouped.value == alone.value
    np.testing.assert_allclose([grouped.low, grouped.high], [alone.low, alone.high], atol=0.01)


def test_rows_without_a_time_are_pointed_out(tmp_path, rng):
    """They can be neither earlier nor later than others."""
    days = np.where(np.arange(300) % 4 == 0, None, np.arange(300).astype(object))
    x = rng.normal(size=300)
    table = pa.table({"x": x, "day": pa.array(days, pa.int64()), "y": (x > 0).astype(str)})
    write_table(tmp_path / "a.parquet", table.to_batches(), table.schema)
    source = open_table(tmp_path / "a.parquet")
    fitted = fit_table(source, FitRequest("y", model="eem", size=10, time="day"))
    [note] = [note for note in fitted.facts.warnings if "take no part" in note]
    assert note.startswith("25.0% of the rows have no value in 'day'")
