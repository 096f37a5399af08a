"""Rows in the blocks of a Ray Dataset: the same machine as from gathered rows.

On a real Ray with workers that are processes of their own; `make ray` installs it.
"""

import logging
import os
import sys
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import column_rows
import numpy as np
import pyarrow as pa
import pytest
from column_rows import (
    ROWS,
    N,
    X,
    assert_answers_as_gathered,
    assert_as_gathered,
    assert_search_as_gathered,
    gathered,
    new,
)
from laws import assert_same_sums

from extreme_entropy.errors import ForgetError, InputError, TooLargeError

ray = pytest.importorskip("ray", reason="needs the extra ray: make ray")
data = pytest.importorskip("ray.data", reason="needs the extra ray: make ray")

from ray.cloudpickle import register_pickle_by_value  # noqa: E402

from extreme_entropy.engines import ray as engine  # noqa: E402

for module in (sys.modules[__name__], column_rows):
    register_pickle_by_value(module)  # workers cannot import tests

BLOCKS = 6
SIZE = N // BLOCKS
WHOLE = {"batch_size": None, "batch_format": "pyarrow"}


@pytest.fixture(scope="module", autouse=True)
def session():
    """Ray on this computer alone, with two workers."""
    ray.init(
        num_cpus=2,
        object_store_memory=100 * 2**20,
        include_dashboard=False,
        log_to_driver=False,
        logging_level=logging.ERROR,
    )
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    data.DataContext.get_current().enable_progress_bars = False
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def rows():
    """All rows, in their order."""
    return data.from_arrow([ROWS.slice(i * SIZE, SIZE) for i in range(BLOCKS)])


@pytest.fixture(scope="module")
def numbers(rows):
    return rows.select_columns([*X, "label"])


@pytest.fixture(scope="module")
def fitted(numbers):
    """Fitted on the numbers."""
    return new().fit(numbers, y="label")


def found(dataset, column):
    """The answers, as an array."""
    tables = ray.get(dataset.to_arrow_refs())
    return np.array(pa.concat_tables(tables)[column].to_pylist())


# -------------------------------------------------------------------- equal to gathered rows


def test_blocks_equal_gathered_rows(fitted):
    """Also where blocks hold one class only."""
    assert_as_gathered(fitted, "EEM")


@pytest.mark.parametrize("kind", ["EEKM", "forest"])
def test_weights_are_a_column(kind, rows):
    """Landmarks and leaves, with weights of which some are zero."""
    ours = rows.select_columns([*X, "label", "weight"])
    ours = new(kind).fit(ours, "label", sample_weight="weight")
    assert_as_gathered(ours, kind, "weight")


@pytest.mark.parametrize("kind", ["arrow", "pandas"])
def test_text_dates_and_gaps_are_read_as_in_other_frames(rows, kind):
    """Also in blocks of pandas."""
    columns = ["a", "city", "day", "dotted.name"]
    table = rows.select_columns([*columns, "three"])
    if kind == "pandas":
        table = table.map_batches(lambda frame: frame, batch_format="pandas", batch_size=None)
    ours = new().fit(table, "three")
    theirs = new().fit(ROWS.select(columns), ROWS["three"].to_numpy())
    assert_same_sums(ours, theirs, ROWS.select(columns))
    answers = found(ours.predict(table), "prediction")
    np.testing.assert_array_equal(answers, theirs.predict(ROWS.select(columns)))


def test_more_and_fewer_rows(rows, fitted):
    """partial_fit and forget, with blocks that a filter has emptied."""

    def part(inside):
        chosen = rows.filter(lambda row: (700 <= row["key"] <= 1600) == inside)
        return chosen.select_columns([*X, "label"])

    frozen = fitted.twin()
    frozen.partial_fit(part(False), "label").partial_fit(part(True), "label")
    assert_same_sums(frozen, fitted, gathered(*X))
    frozen.forget(part(True), "label")
    left = ~gathered("key")["key"].between(700, 1600).to_numpy()
    theirs = fitted.twin().fit(gathered(*X)[left], gathered("label")["label"][left])
    assert_same_sums(frozen, theirs, gathered(*X))
    with pytest.raises(ForgetError, match="never learnt"):
        frozen.forget(part(True), "label")


def test_a_search_chooses_as_on_gathered_rows(numbers):
    """Folds by content, scores from counts; the folds are a lazy column."""
    ours = new("search").fit(numbers, "label")
    assert_search_as_gathered(ours, found(ours.folds_, "fold"))


def test_only_one_sum_comes_to_the_driver(rows, fitted, monkeypatch):
    """And score is the share of rows that are predicted."""
    came = []

    def get(refs):
        answer = ray.get(refs)
        came.extend(answer if isinstance(refs, list) else [answer])
        return answer

    spy = SimpleNamespace(get=get, put=ray.put, cluster_resources=ray.cluster_resources)
    monkeypatch.setattr(engine, "ray", spy)
    assert engine.blocks(rows).add_up(lambda block: block.X.num_rows) == N
    assert came == [None] * BLOCKS + [N]  # no error of any block, and one sum
    labels, weight = gathered("label")["label"], gathered("weight")["weight"]
    theirs = fitted.score(gathered(*X), labels, weight)
    assert fitted.score(rows, "label", "weight") == pytest.approx(theirs)


def test_blocks_are_added_in_their_order(rows, tmp_path):
    """Whichever is ready first, and the Dataset is left as it was."""

    def last_first(table, folder):
        until = time.monotonic() + 20
        (Path(folder) / str(table["key"][0])).touch()
        while table["key"][0].as_py() == 500 and time.monotonic() < until:
            if len(os.listdir(folder)) == BLOCKS:
                break
            time.sleep(0.1)
        return table

    slow = rows.map_batches(last_first, fn_args=[str(tmp_path)], **WHOLE)
    first = engine.blocks(slow, "key").add_up(lambda block: [block.y[0]])
    assert first == [500 + i * SIZE for i in range(BLOCKS)]
    assert not slow.context.execution_options.preserve_order


# -------------------------------------------------------------------- answers


def test_answers_are_lazy_columns_beside_the_rows(rows, fitted, tmp_path):
    """All other columns stay, and nothing is computed before it is asked for."""

    def touch(table, folder):
        (Path(folder) / str(table["key"][0])).touch()
        return table

    watched = rows.map_batches(touch, fn_args=[str(tmp_path)], **WHOLE)
    watched.schema()  # looks at some rows where Ray does not know it
    for file in tmp_path.iterdir():
        file.unlink()
    asked = fitted.predict(watched)
    assert list(tmp_path.iterdir()) == []
    assert len(found(asked, "prediction")) == N
    assert len(list(tmp_path.iterdir())) == BLOCKS

    asked = rows.select_columns(["key", "label", *reversed(X)])
    for method in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
        asked = getattr(fitted, method)(asked)
    asked = fitted.transform(fitted.explain(fitted.project(asked))).materialize()
    assert asked.columns()[:6] == ["key", "label", *reversed(X)]
    assert found(asked, "key").tolist() == ROWS["key"].to_pylist()
    assert_answers_as_gathered(fitted, partial(found, asked))


# -------------------------------------------------------------------- errors


def spoilt(table):
    """An infinite number in the fourth and the fifth block."""
    a = table["a"].to_numpy().copy()
    a[np.isin(table["key"].to_numpy(), [500 + 3 * SIZE, 500 + 4 * SIZE])] = np.inf
    return table.set_column(table.column_names.index("a"), "a", pa.array(a))


def test_what_is_not_a_number_is_found_in_its_block(rows, fitted):
    """As an error of ours, and a failed fit changes nothing."""
    before = fitted.predict_proba(gathered(*X))
    bad = rows.map_batches(spoilt, **WHOLE)
    with pytest.raises(InputError, match=r"^Block 3 .*infinity"):
        fitted.partial_fit(bad.select_columns([*X, "label"]), "label")
    assert not bad.context.execution_options.preserve_order
    np.testing.assert_array_equal(fitted.predict_proba(gathered(*X)), before)
    with pytest.raises(Exception, match=r"infinity"):
        fitted.predict(bad).materialize()


def test_tables_that_are_none_are_refused(rows, numbers, fitted):
    """No rows, no such column, labels from elsewhere."""
    with pytest.raises(InputError, match="must be rows"):
        new().fit(numbers.filter(lambda row: row["a"] > 1e9), "label")
    with pytest.raises(InputError, match="must be rows"):
        new().fit(data.from_items([]), "label")
    with pytest.raises(InputError, match=r"Ray Dataset, `y` must name one of.*'target'"):
        new().fit(numbers, "target")
    with pytest.raises(InputError, match=r"`sample_weight` must name.*it is ndarray"):
        new().fit(numbers, "label", np.ones(N))
    with pytest.raises(InputError, match="column 'day' holds date"):
        new().fit(rows, "day")
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(rows.drop_columns(["a"]))
    with pytest.raises(InputError, match=r"The Dataset must not have a column 'prediction'"):
        fitted.predict(rows.rename_columns({"city": "prediction"}))


def test_without_ray_the_extra_is_named(rows, monkeypatch):
    monkeypatch.delitem(sys.modules, "extreme_entropy.engines.ray")
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r"extreme-entropy\[ray\]"):
        new().fit(rows, "label")


# -------------------------------------------------------------------- workers that die


def activation(Z, weights, biases, *, folder, driver, deaths):
    """A file for each call on a worker; the fifth such call, and so many more, kill it."""
    if os.getpid() != driver:
        number = len(os.listdir(folder))
        (Path(folder) / f"{number}-{os.getpid()}").touch()
        if 4 <= number < 4 + deaths:
            os._exit(1)
    return np.tanh(Z @ weights.T + biases)


def calls_of_fit(numbers, folder, deaths):
    """A classifier, and how often its activation was called on workers."""
    folder.mkdir()
    function = partial(activation, folder=str(folder), driver=os.getpid(), deaths=deaths)
    fitted = new(activation=function, relevance="uniform").fit(numbers, "label")
    return fitted, len(os.listdir(folder))


def test_a_worker_that_dies_costs_its_unfinished_work(numbers, tmp_path):
    """Ray runs it again, and the machine is the same to the last bit."""
    theirs, calls = calls_of_fit(numbers, tmp_path / "well", deaths=0)
    ours, more = calls_of_fit(numbers, tmp_path / "dying", deaths=1)
    assert calls < more <= calls + calls // BLOCKS
    assert ours.beta_.tobytes() == theirs.beta_.tobytes()


def test_too_little_memory_is_told(numbers, tmp_path):
    """Where workers die of the same work again and again."""
    with pytest.raises(TooLargeError, match="smaller blocks"):
        calls_of_fit(numbers.repartition(1), tmp_path / "dying", deaths=1000)
