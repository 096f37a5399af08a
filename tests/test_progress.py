"""What is shown of a long call: its steps by name, and never more than is done."""

import io
import re
from itertools import count

import dask
import dask.array as da
import numpy as np
import pytest
from sklearn.base import clone

from extreme_entropy import EEKMClassifier, EEMClassifier, ExtremeEntropyClassifier, load
from extreme_entropy.estimators.tables import InMemory
from extreme_entropy.progress import advance, begin_step, expect, steps_shown

ROWS = 20_000
FRAME = re.compile(r"([a-z ]+): +(\d+)%\|[^|]*\| (?:(\d+)/(\d+))?")
CLASSIFIERS = [
    ExtremeEntropyClassifier(n_leaves=4, n_landmarks=20, random_state=0),
    EEMClassifier(20, random_state=0),
    EEMClassifier.paper(n_hidden=20, random_state=0),
    EEKMClassifier(20, random_state=0),
]


class Screen(io.StringIO):
    """A terminal that keeps all it has ever shown."""

    def isatty(self):
        return True

    @property
    def frames(self):
        """(step, per cent, units done, units in all) of each drawing of a bar with a total."""
        return [
            (name.strip(), int(share), int(done or 0), int(total or 0))
            for name, share, done, total in FRAME.findall(self.getvalue())
        ]

    @property
    def steps(self):
        """Names in the order of their first drawing."""
        return list(dict.fromkeys(name for name, *_ in self.frames))


@pytest.fixture
def screen(monkeypatch):
    """Standard error, with a clock by which each update takes a second, and so is drawn."""
    screen, ticks = Screen(), count()
    monkeypatch.setattr("extreme_entropy.progress.unfiltered_stderr", lambda: screen)
    monkeypatch.setattr("tqdm.std.time", lambda: float(next(ticks)))
    return screen


@pytest.fixture(scope="module")
def rows():
    """Rows of which 300 are of the second class, so that the last sums are of a few."""
    rng = np.random.default_rng(0)
    y = (np.arange(ROWS) % (ROWS // 300) == 0).astype(int)
    return rng.normal(size=(ROWS, 4)) + y[:, None], y


def assert_true(frames):
    """Shares are those of the units, and only the last drawing of a step is complete."""
    for name in {name for name, *_ in frames}:
        own = [frame for frame in frames if frame[0] == name]
        done = [n for _, _, n, _ in own]
        assert done == sorted(done)
        for _, share, n, total in own:
            assert total == 0 or share == round(100 * n / total)
        complete = [share == 100 for _, share, _, _ in own]
        assert complete[-1]
        first = complete.index(True)
        assert own[first:] == [own[first]] * (len(own) - first)  # tqdm repeats the last drawing


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=lambda c: f"{type(c).__name__}-{c.scale}")
def test_a_verbose_fit_shows_its_steps_and_changes_nothing(classifier, rows, screen):
    """To the last bit; by default nothing is shown."""
    X, y = rows
    silent = clone(classifier).fit(X, y)
    assert screen.getvalue() == ""
    for verbose in (True, 2):
        fitted = clone(classifier).set_params(verbose=verbose).fit(X, y)
        np.testing.assert_array_equal(fitted.predict_proba(X[:99]), silent.predict_proba(X[:99]))
    names = ["reading rows", "sampling rows", "choosing features", "drawing leaves"]
    if not isinstance(classifier, ExtremeEntropyClassifier):
        names.remove("drawing leaves")
    assert screen.steps == [*names, "adding up rows", "solving"]
    screen.seek(screen.truncate(0))
    clone(classifier).set_params(verbose=1).fit(X, y)
    assert_true(screen.frames)
    added = [(n, total) for name, _, n, total in screen.frames if name == "adding up rows"]
    assert {total for _, total in added} == {ROWS}
    assert len({n for n, _ in added}) > 2
    before = screen.getvalue()
    fitted.predict(X)
    fitted.with_costs({1: 2})
    assert screen.getvalue() == before


def test_nothing_is_complete_while_work_goes_on(rows, screen, monkeypatch):
    """When all rows are added up, but not all is done with them, less than 100 % is shown."""
    X, y = rows
    seen, sketch = [], InMemory.sketch

    def watched(self, *given):
        seen.extend(frame for frame in screen.frames if frame[0] == "adding up rows")
        return sketch(self, *given)

    monkeypatch.setattr(InMemory, "sketch", watched)
    EEMClassifier(20, random_state=0, verbose=True).fit(X, y)
    assert max(n for _, _, n, _ in seen) >= 0.75 * ROWS
    assert max(share for _, share, _, _ in seen) < 100


@pytest.mark.parametrize("scheduler", ["threads", "synchronous"])
@pytest.mark.parametrize("known", [True, False])
def test_blocks_are_counted_in_the_same_passes(scheduler, known, rows, screen):
    """By their rows, or one by one where Dask does not know how many these are."""
    X, y = (da.from_array(values, chunks=(2_000, *values.shape[1:])) for values in rows)
    passes = [0]

    def computed(block):
        if len(block) > 1:  # Dask itself asks for the kind of rows with a tiny one
            passes[0] += 1
        return block

    X = X.map_blocks(computed, dtype=X.dtype)
    if not known:
        X, y = X[X[:, 0] > -99], y[X[:, 0] > -99]
    with dask.config.set(scheduler=scheduler):
        silent = EEMClassifier(20, random_state=0).fit(X, y)
        quiet, passes[0] = passes[0], 0
        assert screen.getvalue() == ""
        shown = EEMClassifier(20, random_state=0, verbose=True).fit(X, y)
    assert passes[0] == quiet
    np.testing.assert_array_equal(shown.beta_, silent.beta_)
    assert_true(screen.frames)
    added = [(n, total) for name, _, n, total in screen.frames if name == "adding up rows"]
    assert {total for _, total in added} == {ROWS if known else 10}
    assert len({n for n, _ in added}) == 11


def test_batches_are_one_step(rows, screen):
    """Whose total nobody knows before they end."""
    X, y = rows
    batches = [(X[i : i + 6_000], y[i : i + 6_000]) for i in range(0, ROWS, 6_000)]
    silent = EEMClassifier(20, random_state=0).fit_batches(batches)
    assert screen.getvalue() == ""
    shown = EEMClassifier(20, random_state=0, verbose=True).fit_batches(batches)
    np.testing.assert_array_equal(shown.beta_, silent.beta_)
    assert screen.steps == ["sampling rows", "choosing features", "solving"]
    counts = [int(n) for n in re.findall(r"adding up rows: (\d+) rows", screen.getvalue())]
    assert counts == sorted(counts)
    assert (counts[0], counts[-1]) == (0, ROWS)


def test_partial_fit_is_silent_unless_verbose(rows, screen):
    X, y = rows
    classifier = EEMClassifier(20, random_state=0).partial_fit(X, y)
    assert screen.getvalue() == ""
    classifier.set_params(verbose=True).partial_fit(X[:9_000], y[:9_000])
    assert screen.steps == ["adding up rows"]
    assert screen.frames[-1][1:] == (100, 9_000, 9_000)


def test_verbose_is_a_parameter_that_travels_and_does_no_more(rows, tmp_path):
    """It is cloned and saved; a checkpoint and a sum do not care."""
    X, y = rows
    classifier = EEMClassifier(20, random_state=0, verbose=2)
    assert clone(classifier).get_params()["verbose"] == 2
    assert EEMClassifier().get_params()["verbose"] is False
    with pytest.raises(ValueError, match="verbose"):
        clone(classifier).set_params(verbose="yes").fit(X, y)
    silent = clone(classifier).set_params(verbose=False).fit(X, y)
    silent.set_params(verbose=True).save(tmp_path / "a.eem")
    assert load(tmp_path / "a.eem").verbose is True


def test_a_step_that_fails_is_not_shown_as_complete(rows, screen):
    with pytest.raises(ValueError, match="one class"):
        EEMClassifier(20, verbose=True).fit(rows[0], np.zeros(ROWS))
    assert {share for _, share, _, _ in screen.frames} == {0}
    begin_step("of no call")
    advance()
    expect(3)
    assert "of no call" not in screen.getvalue()


@pytest.mark.parametrize(("seconds", "stays"), [(0.1, False), (0.6, True)])
def test_on_a_terminal_only_long_steps_stay(seconds, stays, screen, monkeypatch):
    """A command shows any step, but leaves no trace of those under a second."""
    ticks = count()
    monkeypatch.setattr("tqdm.std.time", lambda: seconds * next(ticks))
    with steps_shown(True, terminal_only=True):
        begin_step("adding up rows", None, " rows")
        expect(4)
        with steps_shown(True):  # of a call inside, whose steps are those of the caller
            begin_step("adding up rows", 7)
            advance()
    assert screen.frames[0] == ("adding up rows", 25, 1, 4)
    assert screen.getvalue().endswith("\n") == stays


def test_in_a_pipe_a_command_shows_no_step(screen, monkeypatch):
    monkeypatch.setattr(screen, "isatty", lambda: False)
    with steps_shown(True, terminal_only=True):
        begin_step("adding up rows")
    assert screen.getvalue() == ""
