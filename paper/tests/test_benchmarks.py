"""The benchmarks: rows come back, pages are what the rows give, counts are right."""

import json
import threading
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.metrics import log_loss

from extreme_entropy import EEMClassifier, ExtremeEntropyClassifier, gmean_score
from extreme_entropy.drawing.settings import DRAWING
from extreme_entropy.errors import ExtremeEntropyError
from extreme_entropy.estimators.base import EntropyClassifier
from extreme_entropy.metrics import label_text
from extreme_entropy_paper import store
from extreme_entropy_paper.baselines import CLASSIFIERS, Given, make, missing
from extreme_entropy_paper.benchmarks import (
    bare,
    boosting,
    calls,
    cluster,
    defaults,
    field_page,
    front_page,
    large,
    more_rows,
    multiclass,
    onnx,
    relevance_cost,
    several,
    sizes,
    speed,
    speed_page,
    streaming,
    tables,
    thread_calls,
)
from extreme_entropy_paper.benchmarks.bare import fit_limit, predict_limit
from extreme_entropy_paper.benchmarks.markdown import cell, embed
from extreme_entropy_paper.cli.root import root
from extreme_entropy_paper.places import DOCS, ROOT
from extreme_entropy_paper.store import add_run, measured_on, newest, rows_of, runs

# ------------------------------------------------------------------ the pages we keep


@pytest.mark.parametrize(
    ("page", "made"),
    [
        ("speed.md", speed_page.page),
        ("speed-baselines.md", speed.render),
        ("defaults.md", defaults.render),
        ("multiclass.md", multiclass.render),
        ("large.md", large.render),
        ("more-rows.md", more_rows.render),
        ("several.md", several.render),
    ],
)
def test_the_pages_we_keep_are_what_the_rows_give(page, made):
    assert (DOCS / page).read_text() == made()


@pytest.mark.parametrize(
    ("page", "embedded"),
    [
        ("README.md", field_page.with_table),
        ("docs/index.md", field_page.with_table),
        ("docs/evidence/index.md", front_page.with_table),
        ("docs/guide/clusters.md", cluster.page),
        ("docs/guide/large-data.md", streaming.page),
        ("docs/guide/onnx.md", onnx.page),
        ("docs/guide/deploying.md", sizes.page),
        ("docs/guide/rare-class.md", boosting.page),
    ],
)
def test_tables_in_the_librarys_pages_are_what_the_rows_give(page, embedded):
    text = (ROOT / page).read_text()
    assert embedded(text) == text


def test_the_bars_beside_lightgbm_are_what_the_rows_give():
    """Each table has its bar, those on which LightGBM leads too."""
    made = front_page.picture()
    assert front_page.PICTURE.read_text() == made
    assert made.count("<rect") == 24 + 7
    assert "−" in made


def test_a_table_is_made_anew_between_its_comments_and_nowhere_else():
    text = "a\n<!-- t: by hand -->\nold\n<!-- end of t -->\nb <!-- end of t -->"
    made = embed(text, "t", ["new \\1"])
    assert made == "a\n<!-- t: by hand -->\n\nnew \\1\n\n<!-- end of t -->\nb <!-- end of t -->"
    assert embed(made, "t", ["new \\1"]) == made
    with pytest.raises(ValueError, match="comments of the table 'u'"):
        embed(text, "u", [])


def test_three_sizes_on_spark_tell_rows_blocks_and_fits_apart():
    """The plan divides rows and blocks among executors, and sums in turn among none."""

    def fit(engine, rows, blocks):
        seconds = rows * 2e-5 + blocks * 0.25 + 3
        common = {"engine": engine, "columns": 20, "h": 500, "sum_bytes": 10e6}
        return {"rows": rows, "blocks": blocks, "cpu_seconds": seconds, **common}

    sizes = [("threads", 4000, 20), ("dask", 4000, 20)]
    sizes += [("spark", 4000, 20), ("spark", 1000, 20), ("spark", 1000, 80)]
    run = store.Run({}, [fit(*size) for size in sizes])
    assert cluster.spark_constants(run) == pytest.approx((2e-5, 0.25, 3))
    *_, ten, _, thousand = cluster.spark_plan(run, n=9e6, size=1000)  # 9,000 blocks
    assert ten == "| 10 | 0.3 | 3.8 | 1.2 | 5.3 |"
    assert thousand == "| 1,000 | 0.0 | 0.0 | 1.2 | 1.3 |"


def test_what_is_not_known_is_an_empty_cell():
    assert [cell(None, ".2f"), cell(1.5, ".2f"), cell("x")] == ["", "1.50", "x"]


# ------------------------------------------------------------------ runs


@pytest.fixture
def empty(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "ROWS", tmp_path)
    return tmp_path


def test_boosting_is_compared_by_data_set_and_refusals_are_counted(empty):
    """Two splits that cancel out, and one that AdaBoost refused."""
    first, *others = boosting.WAYS

    def row(dataset, split, way, score):
        return {"dataset": dataset, "split": split, "way": way, "balanced_accuracy": score}

    scores = {boosting.ALONE: (80, 60, 70), first: (85, 55, None)}
    scores |= dict.fromkeys(others, (90, 90, 90))
    places = (("a", 0), ("a", 1), ("b", 0))
    add_run(
        "boosting",
        [row(*at, way, n) for way, of in scores.items() for at, n in zip(places, of, strict=True)],
    )
    made = boosting.table()
    assert made[2] == f"| {first} | +0.0 | 0 | 0 | 1 |"
    assert made[3] == f"| {others[0]} | +20.0 | 2 | 0 | 0 |"


def test_boosting_takes_the_same_rows_for_all_ways(monkeypatch):
    X = np.random.default_rng(0).normal(size=(80, 3))
    monkeypatch.setattr(boosting, "paper_rows", lambda name: (X, (X[:, 0] > 0.5).astype(int)))
    rows = boosting.measure("made up", 0)
    assert [row["way"] for row in rows] == [boosting.ALONE, *boosting.WAYS]
    assert all(row["accuracy"] > 60 for row in rows)


def test_sizes_are_those_of_files_and_of_arrays_written_whole():
    row = sizes.measure(EEMClassifier(60, scale="standard", random_state=0), 200, 3)
    squares = 3 * 5 * 8 * 60 * 60  # a scatter for each class and fold
    assert squares < row["whole_arrays_bytes"] < 1.5 * squares
    assert row["slim_bytes"] < row["saved_bytes"] < 0.8 * row["whole_arrays_bytes"]


def test_a_run_comes_back_with_what_it_was_measured_with(empty):
    add_run("toy", [{"a": 1}, {"a": None}])
    (run,) = runs("toy")
    assert run.rows == [{"a": 1}, {"a": None}]
    assert {"run", "commit", "versions", "computer"} == set(run.facts)
    assert run.facts["versions"]["numpy"] == np.__version__
    told = measured_on([run, run])
    assert told[0] == "## Measured on"
    assert len(told) == 7  # what two runs share is said once


def test_the_newest_run_counts_or_the_newest_of_each_value(empty):
    about = {"run": "2026-01-01", "commit": None, "versions": {}, "computer": ""}
    for number, sets in enumerate(["ab", "a", "c"]):
        add_run("toy", [{"set": s, "n": number} for s in sets], about)
    assert rows_of(newest("toy")) == [{"set": "c", "n": 2}]
    assert rows_of(newest("toy", by="set")) == [
        {"set": "b", "n": 0},
        {"set": "a", "n": 1},
        {"set": "c", "n": 2},
    ]


# ------------------------------------------------------------------ the one list of baselines


@pytest.mark.parametrize("name", [name for name in CLASSIFIERS if not name.endswith("-CV")])
def test_every_model_of_the_list_fits_and_predicts(name, rng):
    if missing(name):
        pytest.skip(missing(name))
    y = np.where(np.arange(90) % 3, -1, 1)
    X = rng.normal(size=(90, 3)) + 1.5 * (y[:, None] > 0)
    with np.errstate(all="ignore"):
        fitted = make(name, Given(len(X), 0, size=20)).fit(X, y)
        assert gmean_score(y, fitted.predict(X)) > 0.6


def test_every_comparison_takes_its_models_from_the_list():
    for names in (
        speed.MODELS,
        defaults.LISTED,
        multiclass.OURS,
        multiclass.BASELINES,
        tables.MODELS,
        large.MODELS,
        more_rows.MODELS,
        *zip(*front_page.KINDS.values(), strict=True),
    ):
        assert {name.removesuffix(", float32") for name in names if name} <= set(CLASSIFIERS)


def test_the_limit_of_a_fit_passes_every_row_once(rng, monkeypatch):
    """Rows of all leaves together, with all their features, in the precision of the rows."""
    X = rng.normal(size=(900, 3))
    y = (X[:, 0] + rng.normal(size=900) > 0).astype(int)
    given = {"n_leaves": 3, "n_landmarks": 10, "random_state": 0}
    phi = ExtremeEntropyClassifier(**given).fit(X, y).feature_map_
    passed = []
    monkeypatch.setattr(bare, "add_gram", lambda H, S: passed.append((*H.shape, H.dtype)))
    bare.map_limit(phi, X.astype(np.float32), 2)()
    assert sum(n for n, _, _ in passed) == 900
    assert {h for _, h, _ in passed} == {features.h for features in phi.leaves}
    assert {dtype for _, _, dtype in passed} == {np.dtype(np.float32)}


def test_made_up_rows_with_local_structure_follow_their_rule():
    """Another direction in each field: over all rows, each column tells next to nothing."""
    X, y = more_rows.local_structure(20000)
    again, _ = more_rows.local_structure(20000)
    np.testing.assert_array_equal(X, again)
    assert 0.1 < y.mean() < 0.3
    assert max(abs(np.corrcoef(column, y)[0, 1]) for column in X.T) < 0.25


def test_a_large_table_is_scored_by_every_model(rng, monkeypatch):
    """Rows name the table, the model and its threads; a page shows the best in bold."""
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=300) > 0.8).astype(int)
    monkeypatch.setattr(large, "load", lambda name: (X, y))
    (row,) = large.measure("forest_cover", ("EEKM-default",))
    assert (row["dataset"], row["rows"], row["classes"]) == ("forest_cover", 300, 2)
    assert row["gmean"] > 70
    assert large._cell(1.234, 1.2341, ".2f") == "**1.23**"
    assert large._cell(None, 1.0, ".2f") == ""


def test_models_without_probabilities_have_no_log_loss(rng):
    """Ours are scored under the classes' shares, whatever priors they decide with."""
    y = np.where(np.arange(120) % 4, -1, 1)
    X = rng.normal(size=(120, 3)) + (y[:, None] > 0)
    found = {}
    for name in ("EEM-default", "Nystroem+LDA", "SVC, balanced"):
        found[name] = defaults.scores(make(name, Given(len(X), 0, size=20)).fit(X, y), X, y)
    assert set(found["SVC, balanced"]) == {"gmean", "auc"}
    assert set(found["EEM-default"]) == {"gmean", "auc", "log_loss", "brier"}
    fitted = make("EEM-default", Given(len(X), 0, size=20)).set_params(priors="empirical").fit(X, y)
    theirs = log_loss(y, fitted.predict_proba(X)[:, 1])
    assert found["EEM-default"]["log_loss"] == pytest.approx(theirs, abs=1e-4)


def test_a_measure_that_rows_lack_is_not_a_number():
    rows = [{"dataset": "a", "model": "EEM-default", "gmean": value} for value in (80.0, 90.0)]
    rows += [{"dataset": "a", "model": "LightGBM, tuned threshold", "gmean": 70.0, "auc": 75.0}]
    np.testing.assert_array_equal(defaults.table(rows, "gmean"), [[85.0, 70.0]])
    np.testing.assert_array_equal(defaults.table(rows, "auc"), [[np.nan, 75.0]])


def test_the_machine_from_ready_parts_is_ours(rng):
    """The same neurons, the same answers as `EEMClassifier.paper`."""
    y = np.where(np.arange(200) % 4, -1, 1)
    X = rng.normal(size=(200, 3)) + (y[:, None] > 0)
    ours = EEMClassifier.paper("rbf", 30, random_state=3).fit(X, y)
    theirs = make("LedoitWolf+pinv", Given(200, 3, size=30)).fit(X, y)
    np.testing.assert_array_equal(theirs.predict(X), ours.predict(X))


# ------------------------------------------------------------------ limits and calls


def test_the_limits_are_the_plain_products(rng):
    X, W, b = rng.normal(size=(20_000, 4)), rng.normal(size=(4, 7)) / 9, rng.normal(size=(7, 1))
    H = np.exp(X @ W)
    np.testing.assert_allclose(np.tril(fit_limit(X, W, 2)), np.tril(H.T @ H))
    np.testing.assert_allclose(predict_limit(X, W, b, 2), H @ b)


def test_functions_of_the_package_are_counted_in_every_thread(rng):
    """Those of others are not; a lambda or comprehension is no function with a name."""

    def work():
        label_text(3)
        sorted([2, 1])
        thread = threading.Thread(target=label_text, args=(3,))
        thread.start()
        thread.join()

    counts = calls.profile(work)
    assert {name for _, name in counts.functions} == {"label_text"}
    assert (counts.calls, counts.deepest) == (2, 1)


def test_the_counts_of_calls_are_those_of_the_librarys_entries(monkeypatch):
    """`eem fit` passes through more than `fit`, and it alone parses a header."""
    few = replace(DRAWING, relevance=replace(DRAWING.relevance, landmarks=40))
    monkeypatch.setattr(EntropyClassifier, "settings", few)
    fit, papers, predict, search, command = calls.measure()
    assert papers["functions"] < fit["functions"]
    assert predict["functions"] < fit["functions"] < search["functions"] < command["functions"]
    assert (fit["header_parses"], predict["row_hashes"], predict["column_scans"]) == (0, 0, 0)
    assert fit["row_hashes"] >= 1
    assert fit["column_scans"] >= 1
    assert command["header_parses"] >= 1


# ------------------------------------------------------------------ the command


def test_a_quick_look_speaks_json():
    words = ["bench", "quick", "--rows", "1000", "--size", "10", "--json"]
    found = json.loads(CliRunner().invoke(root, words).stdout)
    assert all(model["times_the_limit"] > 0 for model in found["models"])


def test_calls_are_compared_with_those_of_the_main_thread(rng, monkeypatch):
    """In threads and in processes, each a multiple of the first row."""
    X, y = rng.normal(size=(200, 3)), np.arange(200) % 2
    monkeypatch.setitem(thread_calls.MODELS, "small", EEMClassifier(10, random_state=0))
    rows = thread_calls.measure("small", "predict_proba of one row", X, y, 1)
    assert [row["place"] for row in rows][::4] == ["main thread", "joblib, loky"]
    assert rows[0]["x_main"] == 1
    assert all(row["milliseconds"] > 0 and row["x_main"] > 0 for row in rows)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_cost_of_relevance_is_learned_over_uniform(rng, dtype):
    X, y = rng.normal(size=(200, 5)).astype(dtype), np.arange(200) % 2
    rows = relevance_cost.measure("made up", X, y, 1)
    rows += relevance_cost.grow("made up", X, y, [100, 200], 1)
    assert [row["model"] for row in rows] == ["EEKM", "EEM", "EEKM", "EEKM", "EEM", "EEM"]
    for row in rows[:2]:
        expected = row["learned_seconds"] / row["uniform_seconds"]
        assert row["ratio"] == pytest.approx(expected, rel=0.1)
    uniform, learned = (make() for make in relevance_cost.PAIRS["EEKM"])
    assert (uniform.kernel, uniform.relevance) == ("rbf", "uniform")
    assert (learned.kernel, learned.relevance) == ("mixed", "learned")


def test_help_names_every_benchmark():
    shown = CliRunner().invoke(root, ["bench", "--help"]).stdout
    for name in ("quick", "limit", "one-pass", "calls", "speed-page", "relevance-cost", "large"):
        assert f"  {name} " in shown


def test_errors_of_ours_are_one_line(monkeypatch):
    def fail():
        raise ExtremeEntropyError("what must hold")

    monkeypatch.setattr(calls, "measure", fail)
    answer = CliRunner().invoke(root, ["bench", "calls"])
    assert (answer.exit_code, answer.stderr) == (1, "Error: what must hold\n")
