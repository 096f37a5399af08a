"""Where the sums are added up must not show: threads, batches, files on disk."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from laws import assert_same_decisions
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from threadpoolctl import threadpool_info

from extreme_entropy import EEMClassifier, ExtremeEntropyClassifier
from extreme_entropy.engines.blas import add_gram, mirrored, times_upper
from extreme_entropy.engines.threads import Threads
from extreme_entropy.errors import IncompleteError, InputError
from extreme_entropy.estimators.inputs import check_rows

DEFAULT = ExtremeEntropyClassifier(n_landmarks=20, random_state=0)
EEM = EEMClassifier(20, random_state=0)
MANY = 25_000  # rows: several slices and several gathered batches


@pytest.fixture(scope="module")
def rows():
    """Many rows of three columns, with a class of one in ten."""
    rng = np.random.default_rng(3)
    y = (rng.random(MANY) < 0.1).astype(int)
    return rng.normal(size=(MANY, 3)) + y[:, None], y


def in_batches(X, y, size, *weight):
    for start in range(0, len(y), size):
        stretch = slice(start, start + size)
        yield (X[stretch], y[stretch], *(w[stretch] for w in weight))


# -------------------------------------------------------------------- the product


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "h"), [(1, 1), (1, 300), (500, 7), (300, 129)])
def test_the_gram_matrix_is_added_in_place(dtype, n, h, rng):
    """S + αHᵀH against the plain product, for shapes around the block size."""
    H = rng.normal(size=(n, h)).astype(dtype)
    S = rng.normal(size=(h, h)).astype(dtype)
    S = np.ascontiguousarray(S + S.T)
    expected = S + 2.5 * (H.T @ H)
    add_gram(H, S, 2.5)
    tolerance = 1e-12 if dtype == np.float64 else 1e-4
    np.testing.assert_allclose(mirrored(S), expected, atol=tolerance * abs(expected).max())


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "h"), [(0, 4), (1, 1), (1, 300), (500, 7), (300, 129)])
def test_a_triangular_product_is_that_of_the_whole(dtype, n, h, rng):
    """H W for upper triangular W: in place, for a part of a larger W, and in mixed precision."""
    W = np.triu(rng.normal(size=(h + 3, h + 3)))
    H = rng.normal(size=(n, h))
    expected = H @ W[:h, :h]
    tolerance = 1e-12 if dtype == np.float64 else 1e-4
    for part in (W[:h, :h].astype(dtype), W.astype(dtype)[:h, :h], W[:h, :h], W.T.copy().T[:h, :h]):
        given = H.astype(dtype)
        found = times_upper(given, part)
        np.testing.assert_allclose(
            found, expected, atol=tolerance * (1 + abs(expected).max(initial=0))
        )
    inside = np.ascontiguousarray(H, dtype)
    assert times_upper(inside, W[:h, :h].astype(dtype)) is inside


# -------------------------------------------------------------------- threads


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_results_keep_the_order_of_their_tasks(n_jobs):
    """Whichever thread is first."""
    tasks = [lambda i=i: i for i in range(20)]
    assert list(Threads(n_jobs)(tasks)) == list(range(20))
    assert "".join(Threads(n_jobs)([lambda i=i: str(i) for i in range(10)])) == "0123456789"


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_in_a_task_reaches_the_caller_and_blas_is_restored(n_jobs):
    """No thread is left holding the number of BLAS threads."""
    before = threadpool_info()

    def fail():
        raise ZeroDivisionError("in the task")

    with pytest.raises(ZeroDivisionError, match="in the task"):
        list(Threads(n_jobs)([lambda: 1, fail, lambda: 3]))
    assert threadpool_info() == before


def test_fit_and_predict_leave_blas_as_they_found_it(rows):
    """Others in the process keep their threads."""
    X, y = rows
    before = threadpool_info()
    clone(DEFAULT).set_params(n_jobs=2).fit(X, y).predict(X)
    assert threadpool_info() == before


@pytest.mark.parametrize(
    ("classifier", "dtype"), [(DEFAULT, float), (DEFAULT, np.float32), (EEM, np.float32)]
)
def test_threads_do_not_change_a_bit(classifier, dtype, rows):
    """Probabilities of one and of three threads are equal to the last bit."""
    X, y = rows[0].astype(dtype), rows[1]
    one, three = (clone(classifier).set_params(n_jobs=n).fit(X, y).predict_proba(X) for n in (1, 3))
    np.testing.assert_array_equal(one, three)


def test_a_grid_search_on_processes_works(rows):
    """Nested use: the search's workers each fit on one thread."""
    X, y = rows[0][:600], rows[1][:600]
    grid = {"n_landmarks": [5, 20]}
    search = GridSearchCV(clone(DEFAULT).set_params(n_jobs=2), grid, n_jobs=2, cv=2)
    assert search.fit(X, y).best_params_["n_landmarks"] in (5, 20)


# -------------------------------------------------------------------- batches


@pytest.mark.parametrize("size", [700, 16_384])
@pytest.mark.parametrize("as_sparse", [False, True], ids=["dense", "sparse"])
def test_batches_equal_one_fit(size, as_sparse, rows):
    """For the φ that the first rows draw, whatever the size of the batches."""
    X, y = rows
    given = sp.csr_array(X) if as_sparse else X
    classifier = clone(DEFAULT).fit_batches(in_batches(given, y, size))
    assert_same_decisions(classifier, classifier.twin().fit(X, y), X)


def test_weights_and_empty_batches_are_taken(rows, rng):
    """A batch is (X, y) or (X, y, weight), and may hold nothing."""
    X, y = rows
    weight = rng.integers(0, 3, len(y)).astype(float)
    batches = list(in_batches(X, y, 5_000, weight))
    batches.insert(0, (X[:0], y[:0]))
    batches.insert(3, (X[:0], y[:0], weight[:0]))
    classifier = clone(DEFAULT).fit_batches(batches)
    assert_same_decisions(classifier, classifier.twin().fit(X, y, weight), X)


def test_batches_sorted_by_class_need_the_classes_named(rows):
    """The first rows may lack a class, if `classes` says that it will come."""
    X, y = rows
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    classifier = clone(EEM)  # whose features need no labels
    with pytest.raises(InputError, match="only one class"):
        classifier.fit_batches(in_batches(X, y, 1_000))
    assert not hasattr(classifier, "classes_")
    classifier.fit_batches(in_batches(X, y, 1_000), classes=[0, 1])
    assert classifier.score(X, y) > 0.7
    with pytest.raises(IncompleteError, match="has none yet"):
        classifier.fit_batches(in_batches(X[:500], y[:500], 100), classes=[0, 1])


def test_a_bad_batch_is_named_and_changes_nothing(rows):
    """The error says which batch it was; the fitted classifier stays what it was."""
    X, y = rows[0][:3_000], rows[1][:3_000]
    classifier = clone(DEFAULT).fit(X, y)
    before = classifier.predict_proba(X)
    spoilt = X.copy()
    spoilt[2_500] = np.inf
    with pytest.raises(ValueError, match="infinity") as error:
        classifier.fit_batches(in_batches(spoilt, y, 1_000))
    assert error.value.__notes__ == ["This was batch 2 (the first is 0)."]
    np.testing.assert_array_equal(classifier.predict_proba(X), before)
    with pytest.raises(InputError, match="held none"):
        classifier.fit_batches([])


def test_progress_is_shown_when_asked_for(rows, capsys):
    """On stderr, and only then."""
    X, y = rows[0][:2_000], rows[1][:2_000]
    clone(EEM).fit_batches(in_batches(X, y, 500))
    assert capsys.readouterr().err == ""
    clone(EEM).fit_batches(in_batches(X, y, 500), progress=True)
    assert "4batch" in capsys.readouterr().err


def test_without_tqdm_progress_names_the_extra(rows, monkeypatch):
    """The base install has no progress bar; it says where to get one."""
    monkeypatch.setitem(__import__("sys").modules, "tqdm", None)
    with pytest.raises(ImportError, match=r"extreme-entropy\[progress\]"):
        clone(DEFAULT).fit_batches([], progress=True)


# -------------------------------------------------------------------- files on disk


def test_a_file_mapped_into_memory_is_read_in_place(rows, tmp_path):
    """`np.memmap` gives the same bits and is never copied whole."""
    X, y = rows
    disk = np.memmap(tmp_path / "rows", dtype=X.dtype, mode="w+", shape=X.shape)
    disk[:] = X
    disk.flush()
    disk = np.memmap(tmp_path / "rows", dtype=X.dtype, mode="r", shape=X.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        classifier = clone(DEFAULT)
        checked = check_rows(classifier, disk, y, None, reset=True)[1]
        assert np.shares_memory(checked, disk)
        mapped = classifier.fit(disk, y)
    expected = clone(DEFAULT).fit(X, y)
    np.testing.assert_array_equal(mapped.predict_proba(disk), expected.predict_proba(X))
