"""Rows in Spark's partitions: the same machine as from gathered rows, wherever the work is done.

On a real Spark with two executors that are processes of their own; `make spark` installs it.
"""

import gc
import os
import pickle
import shutil
import signal
import socket
import sys
from pathlib import Path

import column_rows
import numpy as np
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

from extreme_entropy import EEMClassifierCV
from extreme_entropy.errors import ForgetError, InputError, TooLargeError

ROOT = Path(__file__).parent.parent
pyspark = pytest.importorskip("pyspark", reason="needs the extra spark: make spark")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("Spark needs Java 17", allow_module_level=True)

import pyarrow as pa  # noqa: E402
from pyspark.cloudpickle import register_pickle_by_value  # noqa: E402

from extreme_entropy.engines import spark as engine  # noqa: E402

for module in (sys.modules[__name__], column_rows):
    register_pickle_by_value(module)  # executors cannot import tests
pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")

PARTITIONS = 6
SCHEMA = (
    "key long, a double, b double, c double, d double, label string, three long, "
    "weight double, city string, day date, `dotted.name` double"
)


def in_partitions(session, spoil=None, partitions=PARTITIONS):
    """All rows, in their order; `spoil` is called on the rows of each partition."""

    def make(batches):
        for batch in batches:
            rows = ROWS.take(batch.column(0))
            yield from (rows if spoil is None else spoil(rows)).combine_chunks().to_batches()

    return session.range(0, N, 1, partitions).mapInArrow(make, SCHEMA)


# -------------------------------------------------------------------- two executors


@pytest.fixture(scope="module")
def session():
    """A driver and two executors, with a server for Connect; torn down with what they wrote."""
    from pyspark.sql import SparkSession

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    quick = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # Java that starts soon, for little work
    settings = {
        "spark.connect.grpc.binding.port": port,
        "spark.driver.extraJavaOptions": quick,
        "spark.driver.memory": "512m",
        "spark.executor.extraJavaOptions": quick,
        "spark.executor.memory": "512m",
        "spark.executorEnv.PYTHONPATH": str(ROOT / "src"),
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.shuffle.partitions": 2,
        "spark.task.maxFailures": 3,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        builder = SparkSession.builder.master("local-cluster[2,1,512]")
        for name, value in settings.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        folder = Path(pyspark.__file__).parent / "work" / session.sparkContext.applicationId
        yield session
        session.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def remote(session):
    """The same cluster through Connect."""
    from pyspark.sql.connect.session import SparkSession

    port = session.conf.get("spark.connect.grpc.binding.port")
    remote = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()
    yield remote
    remote.stop()


@pytest.fixture(scope="module")
def rows(session):
    return in_partitions(session)


@pytest.fixture(scope="module")
def fitted(rows):
    """Fitted on the numbers."""
    return new().fit(rows.select(*X, "label"), y="label")


# -------------------------------------------------------------------- equal to gathered rows


def test_partitions_equal_gathered_rows(fitted):
    """Also where partitions hold one class only."""
    assert_as_gathered(fitted, "EEM")


@pytest.mark.parametrize("kind", ["EEKM", "forest"])
def test_weights_are_a_column(kind, rows):
    """Landmarks and leaves, with weights of which some are zero."""
    ours = new(kind).fit(rows.select(*X, "label", "weight"), "label", sample_weight="weight")
    assert_as_gathered(ours, kind, "weight")


def test_connect_equals_gathered_rows(remote, fitted):
    """The same sums and answers, through Connect."""
    rows = in_partitions(remote)
    assert type(rows).__module__.startswith("pyspark.sql.connect")
    ours = new().fit(rows.select(*X, "label"), "label")
    assert_same_sums(ours, fitted, gathered(*X))
    found = ours.predict_proba(rows)
    assert type(found) is type(rows)
    theirs = fitted.predict_proba(gathered(*X))
    answers = found.toArrow()["probability"].to_pylist()
    np.testing.assert_allclose(np.array(answers), theirs, atol=1e-9)


def test_text_dates_and_gaps_are_read_as_in_other_frames(rows):
    """Also a column whose name has a dot."""
    columns = ["a", "city", "day", "dotted.name"]
    ours = new().fit(rows.select("a", "city", "day", "`dotted.name`", "three"), "three")
    theirs = new().fit(ROWS.select(columns), ROWS["three"].to_numpy())
    assert_same_sums(ours, theirs, ROWS.select(columns))
    found = ours.predict(rows).toArrow()["prediction"]
    np.testing.assert_array_equal(found.to_numpy(), theirs.predict(ROWS.select(columns)))


def test_more_and_fewer_rows(rows, fitted):
    """partial_fit and forget, with partitions that a filter has emptied."""
    numbers = rows.select(*X, "key", "label")
    first = numbers.where("key < 700 or key > 1600").drop("key")
    rest = numbers.where("key between 700 and 1600").drop("key")
    frozen = fitted.twin()
    frozen.partial_fit(first, "label").partial_fit(rest, "label")
    assert_same_sums(frozen, fitted, gathered(*X))
    frozen.forget(rest, "label")
    key = gathered("key")["key"]
    left = ((key < 700) | (key > 1600)).to_numpy()
    theirs = fitted.twin().fit(gathered(*X)[left], gathered("label")["label"][left])
    assert_same_sums(frozen, theirs, gathered(*X))
    with pytest.raises(ForgetError, match="never learnt"):
        frozen.forget(rest, "label")


@pytest.mark.parametrize("search", ["search", "kernel search"])
def test_a_search_chooses_as_on_gathered_rows(search, rows):
    """Folds by content, scores from counts; the folds are a lazy column."""
    ours = new(search).fit(rows.select(*X, "label"), "label")
    assert_search_as_gathered(ours, ours.folds_.toArrow()["fold"].to_numpy(), search)


def test_what_needs_rows_side_by_side_is_refused(rows):
    """Before any row is read: ranks of rows, folds of the caller's, the paper's search."""
    numbers = rows.select(*X, "label")
    for given in ({"scoring": "roc_auc"}, {"cv": [([0], [1])]}):
        with pytest.raises(InputError, match=r"[Bb]locks"):
            EEMClassifierCV((5,), random_state=0, **given).fit(numbers, "label")


def test_only_one_sum_comes_to_the_driver(rows, fitted, monkeypatch):
    """And score is the share of rows that are predicted, in a pass that moves two numbers."""
    came, computed = [], engine._computed

    def watched(sums):
        came.append(computed(sums))
        return came[-1]

    monkeypatch.setattr(engine, "_computed", watched)
    ours = fitted.score(rows, "label", "weight")
    labels, weight = gathered("label")["label"], gathered("weight")["weight"]
    assert ours == pytest.approx(fitted.score(gathered(*X), labels, weight))
    assert [table.num_rows for table in came] == [1]
    assert came[0].nbytes < 1_000


def test_symmetric_matrices_are_sent_by_half_and_arrive_whole():
    """To the last bit; what is not symmetric to the last bit is sent as it is."""
    A = np.random.default_rng(0).normal(size=(300, 40))
    S = A.T @ A
    assert len(engine.packed(S)) < 0.6 * S.nbytes
    nearly, signed = S.copy(), np.zeros((2, 2))
    nearly[3, 5] = np.nextafter(nearly[3, 5], np.inf)
    signed[0, 1] = -0.0
    gap = np.where(S > 50, np.nan, S)
    others = A, S[:0, :0], S[0], S.astype(np.float32), np.asfortranarray(A)
    for sent in (S, gap, nearly, signed, *others):
        [[found]] = pickle.loads(engine.packed([[sent]]))  # noqa: S301 (our own bytes)
        assert (found.dtype, found.shape) == (sent.dtype, sent.shape)
        assert found.tobytes() == sent.tobytes()


def test_imports_are_left_out_of_collections(rows):
    """After each task Spark collects garbage; with all modules to look through, that takes long."""

    def frozen(block):
        return np.array([gc.get_freeze_count() > 10_000, True], int)

    asked = engine.blocks(rows.select(*X, "label"), "label")
    found, tasks = asked.add_up(frozen)
    assert found == tasks == PARTITIONS


# -------------------------------------------------------------------- answers


def test_answers_are_lazy_columns_beside_the_rows(session, rows, fitted):
    """All other columns stay, and nothing is computed before it is asked for."""

    def fail(rows):
        raise AssertionError("computed")

    fitted.predict(in_partitions(session, fail))
    asked = rows.select("key", "label", *reversed(X))
    for method in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
        asked = getattr(fitted, method)(asked)
    found = fitted.transform(fitted.explain(fitted.project(asked))).toArrow()
    assert found.column_names[:6] == ["key", "label", *reversed(X)]
    assert found["key"].equals(ROWS["key"])
    assert_answers_as_gathered(fitted, lambda name: found[name].to_pylist())


def test_prediction_sets_are_arrays_of_booleans(rows):
    theirs = new("forest", priors="empirical").fit(gathered(*X), gathered("three")["three"])
    found = theirs.predict_set(rows, 0.8).toArrow()["prediction_set"]
    assert found.type == pa.list_(pa.field("element", pa.bool_(), nullable=True))
    np.testing.assert_array_equal(found.to_pylist(), theirs.predict_set(gathered(*X), 0.8))


def test_with_three_classes_contributions_are_arrays_of_arrays(rows):
    """And labels that are whole numbers stay so."""
    theirs = new(relevance="uniform").fit(gathered(*X), gathered("three")["three"])
    found = theirs.explain(theirs.predict(rows)).where("key < 550").toArrow()
    assert found["prediction"].type == pa.int64()
    ours = np.array(found["contributions"].to_pylist())
    np.testing.assert_allclose(ours, theirs.explain(gathered(*X)[:50]), atol=1e-9)


# -------------------------------------------------------------------- errors


def spoilt(rows):
    """An infinite number in the fourth partition."""
    a = rows["a"].to_numpy().copy()
    a[rows["key"].to_numpy() == 500 + 3 * N // PARTITIONS] = np.inf
    return rows.set_column(1, "a", pa.array(a))


def test_what_is_not_a_number_is_found_in_its_partition(session, fitted):
    """As an error of ours, and a failed fit changes nothing."""
    before = fitted.predict_proba(gathered(*X))
    rows = in_partitions(session, spoilt).select(*X, "label")
    with pytest.raises(InputError, match=r"^Block 3 .*infinity"):
        fitted.partial_fit(rows, "label")
    np.testing.assert_array_equal(fitted.predict_proba(gathered(*X)), before)
    with pytest.raises(Exception, match=r"InputError: Block 3 .*infinity"):
        fitted.predict(rows).toArrow()


def test_tables_that_are_none_are_refused(session, rows, fitted):
    """No rows, no such column, labels from elsewhere, two columns of one name."""
    numbers = rows.select(*X, "label")
    with pytest.raises(InputError, match="must be rows"):
        new().fit(session.createDataFrame([], numbers.schema), "label")
    with pytest.raises(InputError, match=r"`y` must name one of its columns.*'target'"):
        new().fit(numbers, "target")
    with pytest.raises(InputError, match=r"`sample_weight` must name.*it is ndarray"):
        new().fit(numbers, "label", np.ones(N))
    with pytest.raises(InputError, match="different names; \\['a'\\]"):
        new().fit(numbers.select("*", "a"), "label")
    with pytest.raises(InputError, match="column 'day' holds date"):
        new().fit(rows, "day")
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(rows.drop("a"))
    with pytest.raises(InputError, match="not have a column 'prediction'"):
        fitted.predict(rows.withColumnRenamed("city", "prediction"))


def test_without_pyspark_the_extra_is_named(rows, monkeypatch):
    monkeypatch.delitem(sys.modules, "extreme_entropy.engines.spark")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"extreme-entropy\[spark\]"):
        new().fit(rows, "label")


# -------------------------------------------------------------------- processes that die


def parent(process):
    """The process that started another one."""
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def kill_executor_once(folder, visit):
    """On so many visits to the last rows, the executor is killed that this process works for."""

    def spoil(rows):
        if rows["key"][-1].as_py() == 500 + N - 1:
            number = 1 + len(list(Path(folder).iterdir()))
            (Path(folder) / str(number)).touch()
            executor = parent(os.getppid())
            command = Path(f"/proc/{executor}/cmdline").read_text()
            if number == visit:
                assert "CoarseGrainedExecutorBackend" in command
                os.kill(executor, signal.SIGKILL)
        return rows

    return spoil


@pytest.mark.skipif(not Path("/proc").exists(), reason="finds the executor in /proc")
def test_an_executor_killed_in_mid_fit_costs_its_unfinished_work(session, fitted, tmp_path):
    """Spark runs it again: the same machine."""
    dying = in_partitions(session, kill_executor_once(str(tmp_path), visit=3))
    ours = new().fit(dying.select(*X, "label"), "label")
    passes = 4  # statistics, sampled rows, those of each class, sums
    assert len(list(tmp_path.iterdir())) > passes
    assert_same_sums(ours, fitted, gathered(*X))
    assert ours.beta_.tobytes() == fitted.beta_.tobytes()


def test_too_little_memory_is_told(rows):
    """Where processes die of the same work again and again."""

    def deadly(Z, weights, biases):
        if Path("/proc/self/cmdline").read_text().count("pyspark"):
            os.kill(os.getpid(), signal.SIGKILL)
        return Z @ weights.T + biases

    with pytest.raises(TooLargeError, match="smaller partitions"):
        new(activation=deadly, relevance="uniform").fit(rows.select(*X, "label"), "label")
