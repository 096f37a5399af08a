"""Fits over batches that are killed and started again end as if nothing had happened."""

import hashlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest
import scipy.sparse as sp
from laws import arrays_in
from sklearn.base import clone

from extreme_entropy import (
    EEKMClassifier,
    EEMClassifier,
    ExtremeEntropyClassifier,
    load,
    persistence,
)
from extreme_entropy.drawing.settings import DRAWING
from extreme_entropy.errors import FileFormatError, InputError
from extreme_entropy.estimators.base import EntropyClassifier
from extreme_entropy.estimators.batches import BatchSettings, batches_of
from extreme_entropy.files import workplace

KILLS = {"EEM": 20, "forest": 8}
KILLED = {
    "EEM": EEMClassifier(15, relevance="uniform", random_state=1),
    "forest": ExtremeEntropyClassifier(n_landmarks=10, n_leaves=3, random_state=1),
}
N, D, SIZE = 6_000, 4, 200
KINDS = {
    "EEM": EEMClassifier(15, relevance="uniform", random_state=1),
    "EEM paper": EEMClassifier.paper("rbf", 15, random_state=1),
    "EEKM": EEKMClassifier(15, random_state=1),
}


def table(n=N):
    rng = np.random.default_rng(11)
    y = (rng.random(n) < 0.3).astype(int)
    return rng.normal(size=(n, D)) + 0.8 * y[:, None], y


def in_batches(X, y, *weight, size=SIZE):
    """Batches, with one in five empty and one in seven larger than a group."""
    start = number = 0
    while start < len(y):
        length = 0 if number % 5 == 2 else 5 * size if number % 7 == 3 else size
        stretch = slice(start, start + length)
        yield (X[stretch], y[stretch], *(w[stretch] for w in weight))
        start, number = start + length, number + 1


def stopped(batches, after):
    """The same batches, until the power fails."""
    for number, batch in enumerate(batches):
        if number == after:
            raise KeyboardInterrupt
        yield batch


def digest(machine):
    """All that was learnt and solved, to the last bit."""
    total = hashlib.sha256(machine.means_.tobytes() + machine.variances_.tobytes())
    if hasattr(machine, "beta_"):
        total.update(machine.beta_.tobytes())
    for moments in machine.summary_.leaves:
        for array in arrays_in(moments):
            total.update(array.tobytes())
    return total.hexdigest()


@pytest.fixture(autouse=True)
def small_groups(monkeypatch):
    """So that a few rows are several groups, of several batches each."""
    monkeypatch.setattr(EntropyClassifier, "_batching", BatchSettings(rows=700))


@pytest.fixture
def learnt(monkeypatch):
    """How many rows each group that was learnt had."""
    counts = []
    learn = EntropyClassifier._learn

    def watched(self, given, classes, **how):
        counts.append(len(given.y))
        return learn(self, given, classes, **how)

    monkeypatch.setattr(EntropyClassifier, "_learn", watched)
    return counts


def new(kind="EEM", **parameters):
    return clone(KINDS[kind]).set_params(**parameters)


def interrupted(path, after=20, machine=None, batches=None, **settings):
    """A fit that has left a checkpoint."""
    given = stopped(batches or in_batches(*table()), after)
    with pytest.raises(KeyboardInterrupt):
        (machine or new()).fit_batches(given, checkpoint=path, every=3, **settings)
    assert path.is_file()


# -------------------------------------------------------------------- going on


@pytest.mark.parametrize("every", [1, 4, 1_000])
@pytest.mark.parametrize("kind", KINDS)
def test_checkpoints_change_nothing(kind, every, tmp_path):
    """The same bits as without; and when the fit is done, no file is left."""
    expected = new(kind).fit_batches(in_batches(*table()))
    machine = new(kind).fit_batches(
        in_batches(*table()), checkpoint=tmp_path / "fit.eem", every=every
    )
    assert digest(machine) == digest(expected)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("after", range(1, 18, 2))
def test_a_fit_goes_on_wherever_it_was_stopped(after, tmp_path, learnt):
    """Nothing is lost and nothing is learnt twice: the same bits."""
    expected = digest(new().fit_batches(in_batches(*table())))
    path = tmp_path / "fit.eem"
    for stop in (after, after + 4):
        with pytest.raises(KeyboardInterrupt):
            new().fit_batches(stopped(in_batches(*table()), stop), checkpoint=path, every=3)
    done = int(np.sum(load(path).summary_.counts)) if path.exists() else 0
    learnt.clear()
    machine = new().fit_batches(in_batches(*table()), checkpoint=path, every=3)
    assert sum(learnt) == N - done
    assert digest(machine) == expected
    assert list(tmp_path.iterdir()) == []


def test_every_kind_of_rows_can_go_on(tmp_path, rng):
    """Single precision, sparse, weights with zeros, names as labels."""
    X, y = table()
    names = np.array(["ill", "well"], dtype=object)[y]
    weight = rng.integers(0, 3, N).astype(float)
    sparse = sp.csr_array(X * (X > 0))
    for given in ((X.astype(np.float32), y), (sparse, y), (X, y, weight), (X, names), (X, y == 1)):
        expected = digest(new().fit_batches(in_batches(*given)))
        path = tmp_path / "fit.eem"
        interrupted(path, batches=in_batches(*given))
        machine = new().fit_batches(in_batches(*given), checkpoint=path, every=3)
        assert digest(machine) == expected


def test_more_threads_may_go_on(tmp_path):
    """n_jobs changes no bit, so it may change."""
    path = tmp_path / "fit.eem"
    interrupted(path)
    machine = new(n_jobs=2).fit_batches(in_batches(*table()), checkpoint=path)
    assert digest(machine) == digest(new().fit_batches(in_batches(*table())))
    assert machine.n_jobs == 2


def test_twins_go_on_with_their_own_phi(tmp_path):
    """A checkpoint of a twin is of use to twins of the same machine only."""
    X, y = table()
    first, second = new().fit(X[:500], y[:500]), new().fit(X[:600], y[:600])
    path = tmp_path / "fit.eem"
    interrupted(path, machine=first.twin())
    for other in (second.twin(), new()):
        with pytest.raises(InputError, match="another φ"):
            other.fit_batches(in_batches(X, y), checkpoint=path)
    machine = first.twin().fit_batches(in_batches(X, y), checkpoint=path)
    assert digest(machine) == digest(first.twin().fit_batches(in_batches(X, y)))


def test_a_checkpoint_is_a_machine_so_far(tmp_path):
    """It can be loaded and asked, while the fit goes on."""
    X, y = table()
    interrupted(tmp_path / "fit.eem")
    machine = load(tmp_path / "fit.eem")
    assert 0 < np.sum(machine.summary_.counts) < N
    assert machine.score(X, y) > 0.7


# -------------------------------------------------------------------- what is refused


def refused(path, error, said, machine=None, batches=None):
    """The fit is refused, and the file stays as it is."""
    before = path.read_bytes()
    with pytest.raises(error, match=said) as caught:
        (machine or new()).fit_batches(batches or in_batches(*table()), checkpoint=path, every=3)
    assert path.read_bytes() == before
    return str(caught.value)


def test_a_damaged_checkpoint_is_refused(tmp_path):
    """Any byte changed, any part cut off; and what to do is said."""
    path = tmp_path / "fit.eem"
    interrupted(path)
    whole = path.read_bytes()
    for place in (*range(0, 200, 20), *range(200, len(whole), len(whole) // 40), len(whole) - 1):
        spoilt = bytearray(whole)
        spoilt[place] ^= 0x10
        path.write_bytes(spoilt)
        assert "Delete it" in refused(path, FileFormatError, "checkpoint cannot be used")
    for length in (0, 7, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        refused(path, FileFormatError, "Delete it")


def test_a_foreign_file_is_refused(tmp_path):
    """A text, a folder's worth of nothing, a machine that is no checkpoint."""
    path = tmp_path / "fit.eem"
    path.write_text("shopping: bread, milk")
    refused(path, FileFormatError, "Delete it")
    new().fit(*table()).save(path)
    refused(path, FileFormatError, "not a checkpoint")
    values, arrays = persistence.read(path)
    for strange in (None, 3, {}, {"batches": -1, "digest": ""}, {"batches": "3", "digest": ""}):
        persistence.write(path, {**values, "checkpoint": strange}, arrays)
        refused(path, FileFormatError, "not a checkpoint")


def test_another_machine_is_refused(tmp_path):
    """Other parameters or another kind; what differs is told."""
    path = tmp_path / "fit.eem"
    interrupted(path)
    refused(path, InputError, "n_hidden=15, not 16", new(n_hidden=16))
    refused(path, InputError, "random_state=1, not 2", new(random_state=2))
    refused(path, InputError, "priors='empirical', not ", new(priors=np.array([0.5, 0.5])))
    refused(path, InputError, "is of EEMClassifier, not of EEKM", new("EEKM"))


def test_other_batches_are_refused(tmp_path):
    """One number changed, two batches exchanged, a label, a weight, fewer batches."""
    path = tmp_path / "fit.eem"
    interrupted(path)
    X, y = table()
    batches = list(in_batches(X, y))
    changed = X.copy()
    changed[3, 2] = np.nextafter(changed[3, 2], 9)
    relabelled = y.copy()
    relabelled[5] = 1 - y[5]
    for other in (
        in_batches(changed, y),
        in_batches(X, relabelled),
        in_batches(X, y, np.full(N, 2.0)),
        in_batches(X.astype(np.float32), y),
        [batches[1], batches[0], *batches[2:]],
        batches[1:],
    ):
        refused(path, InputError, "must be those that the checkpoint", batches=other)
    refused(path, InputError, "only 4 came", batches=batches[:4])
    assert digest(new().fit_batches(batches, checkpoint=path)) == digest(new().fit_batches(batches))


def test_settings_are_checked_before_rows_are_read(tmp_path):
    """A folder that is not there, and a number of batches that is none."""
    for every in (0, -1, 2.5, True):
        with pytest.raises(InputError, match="`every` must be"):
            new().fit_batches(None, checkpoint=tmp_path / "fit.eem", every=every)
    with pytest.raises(FileNotFoundError, match="needs a folder"):
        new().fit_batches(None, checkpoint=tmp_path / "none" / "fit.eem")


def test_what_cannot_be_written_down_is_told(tmp_path):
    """A function of one's own is code, and no checkpoint holds code."""
    machine = new(activation=lambda Z, w, b: Z @ w.T + b)
    with pytest.raises(InputError, match="never code"):
        machine.fit_batches(in_batches(*table()), checkpoint=tmp_path / "fit.eem", every=1)


# -------------------------------------------------------------------- the file


def test_a_checkpoint_is_on_disk_before_it_takes_its_place(tmp_path, monkeypatch):
    """The new file is synchronised, renamed, and then its folder is synchronised."""
    done = []
    sync, rename = os.fsync, os.replace

    def note(path, what):
        done.append(f"{what} {Path(path).relative_to(tmp_path)}")

    def watched_sync(handle):
        note(os.readlink(f"/proc/self/fd/{handle}"), "sync")
        sync(handle)

    def watched_rename(old, new):
        note(new, "to")
        rename(old, new)

    monkeypatch.setattr(os, "fsync", watched_sync)
    monkeypatch.setattr(os, "replace", watched_rename)
    interrupted(tmp_path / "fit.eem")
    written, named, _, placed, folder = done[:5]
    assert re.match(r"sync \.fit\.eem\.[0-9a-f]{16}\.checkpoint/", written)
    assert re.match(r"to \.fit\.eem\.[0-9a-f]{16}\.checkpoint/", named)
    assert [placed, folder] == ["to fit.eem", "sync ."]


def test_a_checkpoint_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    """The disk is full, say."""
    path = tmp_path / "fit.eem"
    interrupted(path, after=8)
    before = path.read_bytes()

    def full(*_):
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="no space left"):
            new().fit_batches(in_batches(*table()), checkpoint=path, every=3)
    assert path.read_bytes() == before
    machine = new().fit_batches(in_batches(*table()), checkpoint=path, every=3)
    assert digest(machine) == digest(new().fit_batches(in_batches(*table())))
    assert list(tmp_path.iterdir()) == []


def test_a_fit_that_fails_keeps_its_checkpoint(tmp_path):
    """The batch is named, and once it is mended the fit goes on."""
    X, y = table()
    spoilt = X.copy()
    spoilt[5_000] = np.inf
    path = tmp_path / "fit.eem"
    with pytest.raises(ValueError, match="infinity") as error:
        new().fit_batches(in_batches(spoilt, y), checkpoint=path, every=3)
    assert "This was batch" in error.value.__notes__[0]
    machine = new().fit_batches(in_batches(X, y), checkpoint=path, every=3)
    assert digest(machine) == digest(new().fit_batches(in_batches(X, y)))


def test_a_folder_of_the_user_is_never_removed(tmp_path):
    """Whatever its name: it stays with all that is in it."""
    path = tmp_path / "fit.eem"
    interrupted(path, after=8)
    names = [".fit.eem.new", ".fit.eem.part", f".fit.eem.{'0' * 16}.checkpoint"]
    for name in names:
        (tmp_path / name / "inner").mkdir(parents=True)
        (tmp_path / name / "inner" / "thesis.txt").write_text("years of work")
    new().fit_batches(in_batches(*table()), checkpoint=path, every=3)
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(names)
    assert all((tmp_path / name / "inner" / "thesis.txt").exists() for name in names)


@pytest.mark.skipif(os.name == "nt", reason="folders cannot be locked on Windows")
def test_what_a_killed_fit_left_is_removed_and_what_a_running_one_writes_is_not(tmp_path):
    """A fit locks the folder that it writes to, for as long as it lives."""
    path = tmp_path / "fit.eem"
    with workplace(path) as in_use:
        (in_use / "half").write_text("half a checkpoint")
        left = tmp_path / f".fit.eem.{'f' * 16}.checkpoint"
        left.mkdir()
        (left / "half").write_text("half a checkpoint")
        interrupted(path, after=8)
        assert not left.exists()
        assert (in_use / "half").read_text() == "half a checkpoint"
    assert [file.name for file in tmp_path.iterdir()] == ["fit.eem"]


def test_fits_at_the_same_time_may_share_a_checkpoint(tmp_path):
    """Each ends with the bits of a fit alone, also if another removes the checkpoint meanwhile."""
    expected = digest(new().fit_batches(in_batches(*table())))
    together = threading.Barrier(3)

    def fit(_):
        together.wait()
        path = tmp_path / "fit.eem"
        return digest(new().fit_batches(in_batches(*table()), checkpoint=path, every=1))

    with ThreadPoolExecutor(3) as pool:
        assert set(pool.map(fit, range(3))) == {expected}
    assert list(tmp_path.iterdir()) == []


def test_a_checkpoint_that_is_removed_while_it_is_opened_is_no_checkpoint(tmp_path, monkeypatch):
    """Another fit may end between the look and the reading."""
    path = tmp_path / "fit.eem"
    interrupted(path, after=8)
    read = persistence.read
    monkeypatch.setattr(persistence, "read", lambda place: (path.unlink(), read(place)))
    machine = new().fit_batches(in_batches(*table()), checkpoint=path, every=3)
    assert digest(machine) == digest(new().fit_batches(in_batches(*table())))


# -------------------------------------------------------------------- killed


@pytest.mark.parametrize("kind", KILLS)
def test_many_kills_lose_nothing(kind, tmp_path):
    """SIGKILL at random moments; each fit that ends, and the last, has the bits of one unbroken."""
    told = subprocess.run(
        [sys.executable, __file__, str(tmp_path), kind],
        check=True,
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )
    story = json.loads(told.stdout)
    assert story["kills"] == KILLS[kind]
    assert set(story["digests"]) == {story["expected"]}
    # Many of them went on from where a killed one had come to.
    assert story["went_on"] >= KILLS[kind] / 4
    assert list(tmp_path.iterdir()) == []


def fit_and_tell(kind, batches, path, answer):
    machine = clone(KILLED[kind])
    machine.fit_batches(batches, checkpoint=path, every=2)
    answer.with_suffix(".part").write_text(digest(machine))
    answer.with_suffix(".part").rename(answer)


def kill_often(folder, kind):
    """Fork, fit, kill; until there were enough kills. Then let one end."""
    EntropyClassifier._batching = BatchSettings(rows=700, leaf_rows=100)
    few = replace(DRAWING.relevance, landmarks=40)
    EntropyClassifier.settings = replace(DRAWING, relevance=few)
    path, answer = folder / "fit.eem", folder / "answer"
    batches = list(in_batches(*table(12_000)))
    start = time.perf_counter()
    fit_and_tell(kind, batches, path, answer)
    seconds = time.perf_counter() - start
    expected, digests, kills, went_on = answer.read_text(), [], 0, 0
    answer.unlink()
    chance = random.Random(0)
    last = False
    while not last:
        last = kills == KILLS[kind]
        went_on += path.exists()
        child = os.fork()
        if not child:
            fit_and_tell(kind, batches, path, answer)
            os._exit(0)
        if not last:
            # Leaves are drawn before the first checkpoint, which takes most of the time.
            first, last_moment = (0.4, 1.1) if kind == "forest" else (0, 0.3)
            time.sleep(chance.uniform(first * seconds, last_moment * seconds))
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        kills += os.WIFSIGNALED(status)
        if answer.exists():
            digests.append(answer.read_text())
            answer.unlink()
    answer.with_suffix(".part").unlink(missing_ok=True)
    story = {"kills": kills, "went_on": went_on, "expected": expected, "digests": digests}
    print(json.dumps(story | {"seconds": seconds}))


# -------------------------------------------------------------------- pyarrow


@pytest.fixture
def columns():
    X, y = table()
    arrays = {f"x{j}": X[:, j] for j in range(D)}
    return pa.table({**arrays, "label": np.array(["no", "yes"])[y]})


def sources(columns, folder):
    """The same rows as a table, a reader and a data set of several files."""
    for i in range(3):
        part = columns.slice(i * 2_000, 2_000)
        pa.parquet.write_table(part, folder / f"{i}.parquet", row_group_size=500)
    yield columns
    yield columns.to_reader(max_chunksize=900)
    yield pa.dataset.dataset(folder)
    yield pl.from_arrow(columns)
    yield pl.scan_parquet(folder / "*.parquet")
    yield columns.to_pandas()
    yield duckdb.read_parquet(str(folder / "*.parquet"))


def test_sources_of_columns_equal_arrays(columns, tmp_path):
    """Tables, readers, data sets, frames and queries; names of columns are kept."""
    labels = np.array(["no", "yes"], dtype=object)[table()[1]]
    for source in sources(columns, tmp_path):
        machine = new().fit_batches(source, target="label")
        assert machine.feature_names_in_.tolist() == ["x0", "x1", "x2", "x3"]
        frame = columns.drop_columns("label").to_pandas()
        expected = machine.twin().fit(frame, labels).decision_function(frame)
        np.testing.assert_allclose(
            machine.decision_function(frame), expected, atol=1e-6 * abs(expected).max()
        )
        twin = machine.twin().fit_batches(columns, target="label")
        assert np.sum(twin.summary_.counts) == N
        with pytest.raises(ValueError, match="feature names should match"):
            machine.twin().fit_batches(columns.rename_columns([*"abcd", "label"]), target="label")


def test_pyarrow_data_sets_go_on_from_a_checkpoint(columns, tmp_path, monkeypatch):
    """The same file order and row groups are the same batches."""
    settings = BatchSettings(rows=700, arrow_rows=2_000)
    monkeypatch.setattr(EntropyClassifier, "_batching", settings)
    for i in range(3):
        pa.parquet.write_table(columns.slice(i * 2_000, 2_000), tmp_path / f"{i}.parquet")
    source, path = pa.dataset.dataset(tmp_path), tmp_path / "fit.eem"
    expected = digest(new().fit_batches(source, target="label"))
    learn = EntropyClassifier._learn

    def until_4000(self, *given, **how):
        if hasattr(self, "summary_") and np.sum(self.summary_.counts) >= 4_000:
            raise KeyboardInterrupt
        return learn(self, *given, **how)

    with monkeypatch.context() as patch:
        patch.setattr(EntropyClassifier, "_learn", until_4000)
        with pytest.raises(KeyboardInterrupt):
            new().fit_batches(source, target="label", checkpoint=path, every=1)
    assert path.is_file()
    machine = new().fit_batches(
        pa.dataset.dataset([*sorted(map(str, tmp_path.glob("*.parquet")))]),
        target="label",
        checkpoint=path,
    )
    assert digest(machine) == expected
    assert machine.feature_names_in_.tolist() == ["x0", "x1", "x2", "x3"]


@pytest.mark.parametrize("rows", [1, 700, 2_000, 2_001, 10_000])
def test_rows_read_in_small_steps_come_together_in_their_order(columns, tmp_path, rows):
    """Whatever the sizes, every row comes once; all batches but the last are large enough."""
    for i in range(3):
        pa.parquet.write_table(columns.slice(i * 2_000, 2_000), tmp_path / f"{i}.parquet")
    settings = BatchSettings(arrow_rows=rows)
    given = batches_of(pa.dataset.dataset(tmp_path), "label", settings)
    X, y = zip(*given, strict=True)
    np.testing.assert_array_equal(np.concatenate(y), columns["label"].to_numpy())
    x1 = np.concatenate([part.column("x1").to_numpy() for part in X])
    np.testing.assert_array_equal(x1, columns["x1"].to_numpy())
    assert all(len(part) >= min(rows, 2_000) for part in y[:-1])


def test_numbers_of_every_type_are_read(columns):
    """float32 alone stays single; whole numbers and flags are numbers; labels may be coded."""
    X, y = table()
    single = pa.table({f"x{j}": X[:, j].astype(np.float32) for j in range(D)} | {"y": y})
    ours = new().fit_batches(single, target="y")
    theirs = new().fit_batches([(X.astype(np.float32), y)])
    np.testing.assert_array_equal(ours.beta_, theirs.beta_)
    mixed = pa.table({"a": (10 * X[:, 0]).astype(int), "b": X[:, 1] > 0, "c": X[:, 2]})
    coded = pa.array(np.array(["no", "yes"])[y]).dictionary_encode()
    ours = new().fit_batches(mixed.append_column("y", coded), target="y")
    dense = np.column_stack([(10 * X[:, 0]).astype(int), X[:, 1] > 0, X[:, 2]])
    theirs = new().fit_batches([(dense, np.array(["no", "yes"])[y])])
    np.testing.assert_array_equal(ours.beta_, theirs.beta_)
    assert ours.classes_.tolist() == ["no", "yes"]


def test_columns_that_cannot_be_used_are_told(columns):
    """Which column, and what to do."""
    with pytest.raises(InputError, match=r"`target` must name .* 'label'"):
        new().fit_batches(columns)
    with pytest.raises(InputError, match="it is 'labels'"):
        new().fit_batches(columns, target="labels")
    with pytest.raises(InputError, match=r"a source that Arrow can read.*list"):
        new().fit_batches([table()], target="y")
    X, y = table()
    lists = pa.table({"a": pa.array([[1.0]] * len(y)), "b": X[:, 1], "y": y})
    with pytest.raises(InputError, match="'a' holds list"):
        new().fit_batches(lists, target="y")
    far = pa.table({"a": pa.array([np.inf, *X[1:, 0]]), "b": X[:, 1], "y": y})
    with pytest.raises(ValueError, match="infinity") as error:
        new().fit_batches(far, target="y")
    assert error.value.__notes__ == ["This was batch 0 (the first is 0)."]


if __name__ == "__main__":
    kill_often(Path(sys.argv[1]), sys.argv[2])
