"""The data table, Table 1 and the two figures: measured, compared and drawn correctly."""

import sys
from importlib.resources import files
from xml.etree import ElementTree

import matplotlib as mpl
import matplotlib.figure
import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.covariance import ledoit_wolf
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold

from extreme_entropy import EEMClassifier, gmean_score
from extreme_entropy.entropy import cauchy_schwarz_divergence
from extreme_entropy_paper.cli.root import root
from extreme_entropy_paper.experiments import (
    correlation,
    correlation_page,
    counts,
    pictures,
    process,
    stability,
)
from extreme_entropy_paper.experiments.catalogue import PAGES
from extreme_entropy_paper.experiments.jobs import Job
from extreme_entropy_paper.experiments.render import FORMATS
from extreme_entropy_paper.store import key_of

OURS = ("data", "correlation", "stability", "process")


# ------------------------------------------------------------------ D_CS and its last term


@pytest.fixture
def layer(rng):
    """Rows of two classes of unequal size and spread in a feature space of six dimensions."""
    H = np.vstack(
        [rng.normal(0.5, 1.0, (30, 6)), rng.normal(0.1, 2.0, (70, 6)) @ np.diag(range(6))]
    )
    return H, np.arange(100) < 30


def projected(layer, rng):
    """Operators, and projections of the positive and the negative rows by them."""
    H, positive = layer
    B = rng.normal(size=(6, 8))
    return B, H[positive] @ B, H[~positive] @ B


def forms_of(layer, B):
    H, positive = layer
    return correlation.forms([H[positive], H[~positive]], B)


def test_both_terms_together_are_the_divergence(layer, rng):
    """As `entropy` has it, for the Gaussians of the projections themselves."""
    B, plus, minus = projected(layer, rng)
    whole, term = forms_of(layer, B)["plain"]
    for i in range(8):
        a, b = plus[:, i], minus[:, i]
        theirs = cauchy_schwarz_divergence(a.mean(), a.var(), b.mean(), b.var())
        assert whole[i] == pytest.approx(theirs)
        assert term[i] == pytest.approx((a.mean() - b.mean()) ** 2 / (a.var() + b.var()))


def test_the_printed_sign_takes_the_log_term_away(layer, rng):
    """t − (D − t) = 2t − D."""
    B, _, _ = projected(layer, rng)
    found = forms_of(layer, B)
    whole, term = found["plain"]
    np.testing.assert_allclose(found["printed sign"][0], 2 * term - whole)
    np.testing.assert_array_equal(found["printed sign"][1], term)


def test_shrunk_variances_are_those_of_ledoit_and_wolf(layer, rng):
    """Σ± by scikit-learn, then βᵀΣ±β."""
    (H, positive), (B, plus, minus) = layer, projected(layer, rng)
    spread = sum(np.diag(B.T @ ledoit_wolf(part)[0] @ B) for part in (H[positive], H[~positive]))
    _, term = forms_of(layer, B)["ledoit-wolf"]
    np.testing.assert_allclose(term, (plus.mean(axis=0) - minus.mean(axis=0)) ** 2 / spread)


def test_class_sizes_come_from_sums_over_all_rows(layer, rng):
    """Means divided by all rows, squares by the class and not centred."""
    B, plus, minus = projected(layer, rng)
    whole, term = forms_of(layer, B)["class sizes"]
    a, b = (plus**2).mean(axis=0), (minus**2).mean(axis=0)
    theirs = (plus.sum(axis=0) - minus.sum(axis=0)) ** 2 / 100**2 / (a + b)
    np.testing.assert_allclose(term, theirs)
    np.testing.assert_allclose(whole, theirs + np.log((a + b) / 2 / np.sqrt(a * b)))


def test_ranks_are_correlated_and_what_is_no_number_is_left_out():
    """Any monotone curve gives 1; a pair without spread does not count."""
    a = np.array([1.0, 2.0, 3.0, 4.0, np.inf])
    assert correlation.spearman(a, np.array([1.0, 8.0, 27.0, 64.0, 0.0])) == pytest.approx(1)
    assert correlation.spearman(a, np.array([2.0, 1.0, 4.0, 3.0, 0.0])) == pytest.approx(0.6)
    assert correlation.spearman(a, np.ones(5)) is None
    assert correlation.spearman(a[3:], a[3:]) is None
    _, term = correlation.terms(np.ones((2, 1)), np.zeros((2, 1)))
    assert not np.isfinite(term).any()


def rank(values):
    return np.argsort(np.argsort(values))


@pytest.mark.parametrize("activation", ["rbf", "linear"])
def test_correlations_are_over_all_maps_and_operators(rng, activation):
    """A second route: map by map, row by row, with the same seeds."""
    X, positive = rng.normal(size=(50, 3)), np.arange(50) % 3 == 0
    X[positive] *= 1.5
    found = correlation.correlations(X, positive, activation, sizes=(1, 2, 4), n_maps=3)
    Z = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    pairs, sizes = {}, {}
    for number in range(3):
        chance = np.random.default_rng([0, number])
        drawn = chance.random((4, 4))
        w, b = drawn[:, :3], drawn[:, 3]
        H = (
            Z @ w.T + b
            if activation == "linear"
            else np.exp(-b * ((Z[:, None] - w) ** 2).sum(axis=2))
        )
        for h in (1, 2, 4):
            for kind in ("normal", "uniform"):
                draw = chance.standard_normal if kind == "normal" else chance.random
                G = H[:, :h] @ draw((h, 100))
                p, q = G[positive], G[~positive]
                total = p.var(axis=0) + q.var(axis=0)
                term = (p.mean(axis=0) - q.mean(axis=0)) ** 2 / total
                ratio = np.log(total / 2) - np.log(p.std(axis=0) * q.std(axis=0))
                pairs.setdefault((h, kind), []).append((term + ratio, term))
                a, b = (p**2).mean(axis=0), (q**2).mean(axis=0)
                sized = (p.sum(axis=0) - q.sum(axis=0)) ** 2 / 50**2 / (a + b)
                log = np.log((a + b) / 2 / np.sqrt(a * b))
                sizes.setdefault((h, kind), []).append((sized + log, sized))
    for (h, kind), parts in pairs.items():
        if h == 1:  # ties of equal pairs up to rounding: ranks of maps decide
            continue
        for form, those in (("plain", parts), ("class sizes", sizes[h, kind])):
            whole, term = map(np.concatenate, zip(*those, strict=True))
            theirs = np.corrcoef(rank(whole), rank(term))[0, 1]
            assert found[h, kind][form] == pytest.approx(theirs, abs=1e-3)
        within = np.mean([np.corrcoef(rank(a), rank(b))[0, 1] for a, b in parts])
        assert found[h, kind]["within maps"] == pytest.approx(within, abs=1e-3)
    assert found[1, "normal"]["within maps"] is None


def test_large_sets_are_sampled_by_class():
    """Small ones are taken whole."""
    X, y = np.arange(20_000.0)[:, None], np.where(np.arange(20_000) % 10, -1, 1)
    some, labels = correlation.sample(X, y)
    assert len(some) == len(labels) == correlation.MOST_ROWS
    assert (labels > 0).sum() == correlation.MOST_ROWS // 10
    np.testing.assert_array_equal(labels > 0, some[:, 0] % 10 == 0)
    assert correlation.sample(X[:100], y[:100])[0] is not X
    assert len(correlation.sample(X[:100], y[:100])[0]) == 100


# ------------------------------------------------------------------ Table 1


def correlated(dataset, h, value, activation="rbf", operators="normal", form="plain"):
    """A row with one correlation."""
    return {
        "dataset": dataset,
        "model": f"D_CS {activation}",
        "setting": {"h": h, "operators": operators},
        "repeat": 0,
        "fold": 0,
        "correlations": {form: value},
    }


def test_table_1_has_24_rows_of_five():
    """In the paper's order."""
    printed = correlation_page.printed()
    assert len(printed) == 24
    assert {len(values) for values in printed.values()} == {5}
    assert printed["diabetes"] == (-0.983, -0.976, -0.941, -0.982, -0.952)
    assert printed["isolet"][0] == 0.784


def test_each_correlation_has_a_verdict():
    """Within 0.05 of the printed 0.964 for heart, h = 1; far from the −0.983 of diabetes."""
    rows = [correlated("heart", 1, 0.92), correlated("diabetes", 1, 0.9)]
    rows += [correlated("heart", 10, 0.83, "sig"), correlated("heart", 100, None)]
    rows.append(correlated("heart", 200, 0.5))
    table = correlation_page.page(rows)
    shown = {row[0]: row[1:] for row in table.rows}
    assert shown["heart"][:3] == ["0.920 / 0.964 =", "– / 0.829", "– / 0.931"]
    assert shown["heart"][3] == "0.500 / 0.910 ≠"
    assert shown["diabetes"][0] == "0.900 / -0.983 ≠"
    assert table.summary[0] == "1 of 120 cells within 0.05, 2 differ, 117 not run."
    assert table.summary[1] == (
        "Ours is 0.9 or more in 2 of 3 cells; the median is 0.900, the least 0.500."
    )


def test_forms_are_ordered_by_how_near_they_come():
    """Uniform operators here give what is printed; the normal ones are 0.1 off."""
    rows = [
        correlated(d, h, value - gap, operators=operators)
        for operators, gap in (("normal", 0.1), ("uniform", 0.01))
        for d, values in correlation_page.printed().items()
        for h, value in zip(correlation.SIZES, values, strict=True)
    ]
    told = correlation_page.page(rows).summary
    assert told[2] == "All 2 forms, the nearest first:"
    assert told[3].startswith("rbf, uniform operators, plain: mean difference 0.01 on the UCI")
    assert told[3].endswith("0.01 on the others; 120 of 120 cells within 0.05.")
    assert told[4].startswith("rbf, normal operators, plain: mean difference 0.10")


def test_a_job_has_a_row_for_each_size_and_kind_of_operators(monkeypatch):
    """Fewer maps and operators are enough to see it."""
    monkeypatch.setattr(correlation, "N_OPERATORS", 5)
    few = correlation.correlations
    monkeypatch.setattr(
        correlation, "correlations", lambda X, p, a: few(X, p, a, sizes=(1, 10), n_maps=4)
    )
    ((job, reason),) = correlation.plan(["balance"], ["D_CS linear"], 3)
    assert reason is None
    assert len(job.settings) == 10
    part = Job(job.dataset, job.model, 0, 0, job.settings[:4])
    rows = correlation.work(part)
    assert [key_of(row) for row in rows] == [key_of(part.about(s)) for s in part.settings]
    assert set(rows[0]["correlations"]) == set(correlation.FORMS)
    assert rows[0]["correlations"]["class sizes"] > 0.9  # what is printed is 1.000
    assert rows[0]["rows"] == 625


# ------------------------------------------------------------------ the data table


def counted(name, columns, negatives, positives):
    """A row of counts."""
    return {
        "dataset": name,
        "model": "counts",
        "setting": {},
        "repeat": 0,
        "fold": 0,
        "columns": columns,
        "negatives": negatives,
        "positives": positives,
    }


def test_every_printed_data_set_is_in_the_table():
    """23 printed, ionosphere and balance besides."""
    assert len(counts.printed()) == 23
    assert counts.printed()["heart"] == (13, 150, 120)
    assert counts.order()[:2] == ["australian", "bank"]
    assert set(counts.order()[23:]) == {"ionosphere", "balance"}


def test_counts_are_compared_one_by_one():
    """Classes taken for each other are a difference."""
    rows = [counted("heart", 13, 150, 120), counted("sonar", 60, 97, 111)]
    rows.append(counted("ionosphere", 34, 126, 225))
    table = counts.page(rows)
    shown = {row[0]: row[1:] for row in table.rows}
    assert shown["heart"] == ["13 / 13", "150 / 150", "120 / 120", "="]
    assert shown["sonar"] == ["60 / 60", "97 / 111", "111 / 97", "≠"]
    assert shown["ionosphere"] == ["34 / –", "126 / –", "225 / –", "+"]
    assert shown["bank"] == ["– / 4", "– / 762", "– / 610", "–"]
    assert table.summary[0].startswith("Of 23 printed sets 1 have the printed counts, 1 differ")


def test_what_is_odd_about_a_set_is_said():
    """bank is used nowhere, balance in Table 1 only, ionosphere without counts; and the doubts."""
    told = "\n".join(counts.page([]).summary)
    assert "bank: printed here, but in no result of the paper." in told
    assert "balance: used in the table of correlations only." in told
    assert "ionosphere: in the paper's results without counts; checked against UCI's" in told
    assert "oil_spill: Column 0 is the number of the patch" in told
    assert "heart:" not in told


def test_counts_are_of_what_was_loaded():
    """balance is generated."""
    ((job, _),) = counts.plan(["balance"], ["counts"], 1)
    (row,) = counts.work(job)
    assert (row["columns"], row["negatives"], row["positives"]) == (4, 576, 49)


# ------------------------------------------------------------------ stability


def test_each_size_is_what_a_fit_of_its_own_gives():
    """The same neurons, scaled by the training rows alone, scored on the test rows."""
    X, y = make_classification(400, 5, flip_y=0.2, weights=[0.8], random_state=0)
    X[:20] *= 3  # so that scaling by all rows would be another one
    test, train = next(StratifiedKFold(4, shuffle=True, random_state=0).split(X, y))
    sizes = (5, 20, 80)
    scores = stability.path(X, y, train, test, "rbf", 7, sizes)
    seed = int(np.random.RandomState(7).randint(2**31 - 1))
    for h, score in zip(sizes, scores, strict=True):
        fitted = EEMClassifier.paper("rbf", h, random_state=seed).fit(X[train], y[train])
        assert score == pytest.approx(gmean_score(y[test], fitted.predict(X[test])))
    assert len(set(scores)) > 1


def test_a_curve_is_averaged_over_its_neighbours():
    """Five sizes, fewer at the ends; straight lines stay."""
    np.testing.assert_allclose(
        stability.smoothed(np.array([0.0, 0, 0, 5, 0, 0, 0, 3])),
        [0, 0, 1, 1, 1, 8 / 5, 1, 3],
    )
    np.testing.assert_allclose(stability.smoothed(np.arange(9.0)), np.arange(9))


def curve(**at):
    """80 everywhere but at the sizes given, over stretches long enough to survive averaging."""
    values = np.full(100, 80.0)
    sizes = np.array(stability.SIZES)
    for span, value in at.items():
        low, high = map(int, span.strip("_").split("_"))
        values[(sizes >= low) & (sizes <= high)] = value
    return values


def test_variation_is_that_beyond_a_hundred_neurons():
    """What happens before does not count."""
    assert stability.variation(curve(_5_80=50.0)) == pytest.approx(0)
    assert stability.variation(curve(_300_400=77.5)) == pytest.approx(2.5)


def test_enough_is_the_first_size_within_a_point_of_the_best():
    """Not the best itself, and not the last."""
    assert stability.enough(curve(_5_200=70.0, _400_450=80.9)) == 215
    assert stability.enough(curve()) == 5
    assert stability.SIZES[0] == 5
    assert stability.SIZES[-1] == 500
    assert len(stability.SIZES) == 100


def scored(values, dataset="heart", activation="rbf", fold=0):
    """A row of one fold."""
    return {
        "dataset": dataset,
        "model": f"stability {activation}",
        "setting": stability.SETTING,
        "repeat": 0,
        "fold": fold,
        "gmeans": list(values),
    }


def test_curves_are_means_over_folds():
    """Of one activation and data set."""
    rows = [scored(curve() + 2 * k, fold=k) for k in range(3)] + [scored(curve(), "sonar", "sig")]
    found = stability.gather(rows)
    assert set(found) == {("heart", "rbf"), ("sonar", "sig")}
    assert found["heart", "rbf"].shape == (3, 100)
    page = stability.page(rows)[".md"]
    assert "| heart | 0.0 / 5 | – / – | – / – | 82.0 | 82.0 |" in page
    assert "Every curve is the mean over 1 or more folds." in page


def test_the_page_says_how_stable_each_set_is():
    """In the table and in words; the figure has a panel for each set that was run."""
    rows = [scored(curve(_300_400=77.5)), scored(curve(_5_80=50.0), "sonar")]
    pages = stability.page(rows)
    assert "| heart | 2.5 / 5 | – / – | – / – | 80.0 | 80.0 |" in pages[".md"]
    assert "| sonar | 0.0 / 95 |" in pages[".md"]
    assert (
        "rbf: from 100 neurons on GMean varies by at most 2 points on 1 of 2 sets" in pages[".md"]
    )
    assert "by 2.5 at most" in pages[".md"]
    assert "sig: not run." in pages[".md"]
    assert "(stability.svg)" in pages[".md"]
    words = text_of(pages[".svg"])
    assert {"heart", "sonar", "rbf"} <= words
    assert not {"splice", "sig"} & words
    assert ".svg" not in stability.page([])


def test_every_panel_spans_as_many_points():
    """So that a flat curve looks flat; the best of each is just below its upper end."""
    found = {("heart", "rbf"): curve(_5_80=20.0), ("sonar", "sig"): curve(_300_400=80.5)}
    figure = mpl.figure.Figure()
    stability.draw(figure, found)
    limits = [ax.get_ylim() for ax in figure.axes]
    assert limits == [(56, 81), (57, 82)]


def test_a_fold_is_one_row(monkeypatch):
    """With a score for each size, in percent."""
    monkeypatch.setattr(stability, "data_of", lambda name: make_classification(60, random_state=0))
    monkeypatch.setattr(stability, "path", lambda X, y, train, test, a, seed: [0.5, len(test) / 6])
    jobs = [job for job, _ in stability.plan(["heart"], ["stability sig"], 2)]
    assert len({key_of(job.about(job.settings[0])) for job in jobs}) == 20
    (row,) = stability.work(jobs[3])
    assert row["gmeans"] == [50.0, 100.0]
    assert row["fold"] == 3


# ------------------------------------------------------------------ pictures


def text_of(picture):
    """All words of an SVG, which must be well formed."""
    return {"".join(e.itertext()).strip() for e in ElementTree.fromstring(picture).iter()}


def test_a_picture_is_the_same_each_time_whatever_the_reader_has_set_up():
    """No date, no random names, no style but ours."""

    def draw(figure):
        ax = figure.subplots()
        ax.plot([0, 1], [0, 1], label="line")
        ax.set_title("title")
        ax.fill_between([0, 1], [0, 0], [1, 1], hatch="/")

    first = pictures.svg(3, 2, draw)
    with mpl.rc_context({"font.size": 30, "lines.linewidth": 9, "svg.hashsalt": None}):
        assert pictures.svg(3, 2, draw) == first
        assert mpl.rcParams["font.size"] == 30
    assert "title" in text_of(first)
    assert "<dc:date>" not in first


def test_the_process_has_its_four_panels():
    """The same bytes each time, with the numbers of the classifier in it."""
    ((job, _),) = process.plan([process.DATASET], [process.MODEL], 1)
    rows = process.work(job)
    pages = process.page(rows)
    assert pages == process.page(rows)
    assert pages[".svg"].count('<g id="axes_') >= 4
    assert {"negative", "positive"} <= text_of(pages[".svg"])
    model, X, y = process.example()
    assert f"D_CS is {model.divergence_:.2f}" in pages[".md"]
    right = 100 * (model.predict(X) == y).mean()
    assert f"{right:.1f} % of the rows are classified correctly" in pages[".md"]
    assert right > 85


def test_without_matplotlib_pages_still_have_their_words(monkeypatch):
    """And say what the figure needs."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert process.page([]).keys() == {".md"}
    assert "needs matplotlib" in process.page([])[".md"]
    pages = stability.page([scored(curve())])
    assert pages.keys() == set(FORMATS)
    assert "stability.svg" not in pages[".md"]


# ------------------------------------------------------------------ in the catalogue


@pytest.mark.parametrize("name", OURS)
def test_pages_can_be_made_of_no_rows_and_of_rows_of_others(name):
    """They take what is theirs."""
    facts = {"run": "2026-01-01", "commit": None}
    other = {**correlated("heart", 1, 1.0), "model": "EEM-rbf", "gmean": 1.0}
    assert PAGES[name].render([]) == PAGES[name].render([facts, other])


@pytest.mark.parametrize("name", ["data", "correlation", "stability"])
def test_tables_are_well_formed_in_each_format(name):
    """HTML parses; LaTeX has as many cells in each row and no sign its fonts lack."""
    rows = [counted("heart", 13, 150, 120), correlated("heart", 1, 0.92), scored(curve())]
    pages = PAGES[name].render(rows)
    assert set(FORMATS) <= set(pages)
    body = pages[".html"].split("<body>")[1].split("</body>")[0]
    ElementTree.fromstring(f"<b>{body}</b>")
    lines = [line for line in pages[".tex"].splitlines() if line.endswith(r"\\")]
    assert len({line.count("&") for line in lines}) == 1
    assert pages[".tex"].isascii()


def test_no_two_jobs_are_about_the_same():
    """Over all of our experiments, on all of their data sets."""
    keys = [
        key_of(job.about(setting))
        for name in OURS
        for job, _ in PAGES[name].experiment.plan(
            PAGES[name].datasets, PAGES[name].experiment.models, 1
        )
        for setting in job.settings
    ]
    assert len(keys) == len(set(keys)) == 25 + 24 * 4 * 5 * 2 + 9 * 3 * 10 + 1


def test_the_printed_files_are_read_from_the_package():
    """They travel with it."""
    folder = files("extreme_entropy_paper.experiments") / "printed"
    assert (folder / "correlation.csv").is_file()
    assert (folder / "datasets.csv").is_file()


def test_pages_come_from_the_command(tmp_path):
    """The table of one set, and the figure; where its picture is, is in the Markdown."""
    words = ["reproduce", "data", "process", "--jobs", "1", "--dataset", "balance"]
    answer = CliRunner().invoke(root, [*words, "--out", str(tmp_path)])
    assert answer.exit_code == 0, answer.output
    assert "| balance | 4 / – | 576 / – | 49 / – | + |" in answer.stdout
    assert "process.svg" in answer.stdout
    assert (tmp_path / "process.svg").is_file()
    assert (tmp_path / "data.tex").is_file()
