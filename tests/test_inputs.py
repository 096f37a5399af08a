"""Rows in every form people bring, the layers as the paper writes them, and the tools around."""

import copy
import pickle
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from scipy.stats import kstest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.covariance import ledoit_wolf
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils._param_validation import InvalidParameterError

from extreme_entropy import EEKMClassifier, EEMClassifier, ExtremeEntropyClassifier
from extreme_entropy.errors import InputError

ACTIVATIONS = ["mixed", "sig", "nsig", "rbf", "tanimoto", "sorensen", "relu"]
KERNELS = ["rbf", "laplacian", "polynomial", "linear", "cosine", "tanimoto"]


def waves(Z, weights, biases):
    return np.cos(3 * Z @ weights.T + biases)


def rational(a, b):
    return 1 / (1 + np.sum((a - b) ** 2))


LAYERS = {
    **{a: EEMClassifier(20, activation=a, random_state=0) for a in ACTIVATIONS},
    "own activation": EEMClassifier(20, activation=waves, random_state=0),
    **{f"k {k}": EEKMClassifier(20, kernel=k, random_state=0) for k in KERNELS},
    "own kernel": EEKMClassifier(20, kernel=rational, random_state=0),
}
every_layer = pytest.mark.parametrize("classifier", LAYERS.values(), ids=LAYERS)
DEFAULT = ExtremeEntropyClassifier(n_landmarks=30, random_state=0)
BOTH = [EEMClassifier(30, random_state=0), EEKMClassifier(30, random_state=0)]
both = pytest.mark.parametrize("classifier", BOTH, ids=["EEM", "EEKM"])
# Of each kind one, and one that holds a function of the user's.
KINDS = {"default": DEFAULT, "EEM": BOTH[0], "own kernel": LAYERS["own kernel"]}
every_kind = pytest.mark.parametrize("classifier", KINDS.values(), ids=KINDS)


def table(n=160, d=5, n_classes=2, seed=9):
    """Rows with zeros, as sparse data have them."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.exponential(size=(n, d)) * (rng.random((n, d)) < 0.6) + 0.9 * y[:, None]
    X[:, 1] *= rng.random(n) < 0.5
    return X, y


def assert_same_answers(ours, theirs, X_ours, X_theirs, digits=1e-9):
    b = theirs.decision_function(X_theirs)
    np.testing.assert_allclose(ours.decision_function(X_ours), b, atol=digits * abs(b).max())


# -------------------------------------------------------------------- frames and labels

NAMES = ["age", "income", "height", "weight", "visits"]


def pandas_frame(X, names=NAMES):
    return pd.DataFrame(X, columns=names)


def polars_frame(X, names=NAMES):
    return pl.DataFrame({name: X[:, j] for j, name in enumerate(names)})


every_frame = pytest.mark.parametrize("frame", [pandas_frame, polars_frame])


@every_frame
def test_frames_give_what_arrays_give_and_keep_their_names(frame):
    """Names are remembered in order, through fit, batches and twins."""
    X, y = table()
    ours, theirs = clone(DEFAULT).fit(frame(X), y), clone(DEFAULT).fit(X, y)
    assert_same_answers(ours, theirs, frame(X), X)
    assert ours.feature_names_in_.tolist() == NAMES
    assert ours.twin().feature_names_in_.tolist() == NAMES
    assert not hasattr(theirs, "feature_names_in_")
    assert clone(DEFAULT).partial_fit(frame(X), y).feature_names_in_.tolist() == NAMES


@every_frame
@pytest.mark.parametrize("names", [NAMES[::-1], [*NAMES[:4], "shoes"]], ids=["order", "name"])
def test_columns_of_another_order_or_name_are_refused(frame, names):
    """A frame whose columns moved must not be answered silently."""
    X, y = table()
    classifier = clone(DEFAULT).fit(frame(X), y)
    wrong = frame(X, names)
    for ask in (classifier.predict, classifier.project, classifier.predict_proba):
        with pytest.raises(ValueError, match="feature names"):
            ask(wrong)
    for learn in (classifier.partial_fit, classifier.forget, classifier.twin().fit):
        with pytest.raises(ValueError, match="feature names"):
            learn(wrong, y)


def test_an_array_for_a_classifier_of_named_columns_is_warned_about():
    """The order of the columns cannot be checked then."""
    X, y = table()
    classifier = clone(DEFAULT).fit(pandas_frame(X), y)
    with pytest.warns(UserWarning, match="valid feature names"):
        classifier.predict(X)


@every_frame
def test_columns_of_words_are_categories_unless_there_are_none(frame):
    """Text is a category; with categorical_features=None it is refused by name."""
    X, y = table()
    words = frame(X)
    if isinstance(words, pd.DataFrame):
        words["age"] = np.where(X[:, 0] > 1, "old", "young")
    else:
        words = words.with_columns(pl.lit("old").alias("age"))
    clone(DEFAULT).fit(words, y).predict(words)
    with pytest.raises(ValueError, match="'age'"):
        clone(DEFAULT).set_params(categorical_features=None).fit(words, y)


def test_columns_of_several_types_work():
    """A frame with integers, floats and truths is a table of numbers."""
    X, y = table()
    frame = pandas_frame(X)
    frame["visits"] = (X[:, 4] * 10).astype(int)
    frame["age"] = X[:, 0] > 1
    classifier = clone(DEFAULT).fit(frame, y)
    plain = frame.to_numpy(dtype=float)
    theirs = clone(DEFAULT).fit(plain, y)
    assert_same_answers(classifier, theirs, frame, plain)


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["no", "yes"]),
        np.array(["no", "yes"], dtype=object),
        np.array([False, True]),
        np.array([-1, 1]),
        np.array([3, 70], dtype=np.uint8),
        np.array([0.0, 2.0]),
        pd.Series(["bad", "good"]).to_numpy(),
    ],
    ids=["str", "object", "bool", "int", "uint8", "float", "pandas"],
)
def test_labels_of_any_kind_come_back_as_they_were(labels):
    """predict answers in the labels and the type of y; the sorted second is positive."""
    X, y = table()
    fitted = clone(DEFAULT).fit(X, labels[y])
    answer = fitted.predict(X)
    assert fitted.classes_.tolist() == labels.tolist()
    assert answer.dtype == fitted.classes_.dtype
    assert (answer == labels[y]).mean() > 0.7
    theirs = clone(DEFAULT).fit(X, y)
    np.testing.assert_array_equal(fitted.decision_function(X), theirs.decision_function(X))


@pytest.mark.parametrize("series", [pd.Series, pl.Series, list])
def test_labels_may_come_as_a_series_or_list(series):
    """y as pandas, polars or Python have it."""
    X, y = table()
    ours = clone(DEFAULT).fit(X, series(["no" if v else "yes" for v in y]))
    assert ours.classes_.tolist() == ["no", "yes"]
    assert (ours.predict(X) == np.where(y, "no", "yes")).mean() > 0.7


# -------------------------------------------------------------------- sparse rows

SPARSE = [sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.csc_array, sp.coo_matrix, sp.coo_array]


def assert_sparse_is_dense(classifier, form):
    """The same φ, folds, scaling and answers, however zeros are stored."""
    X, y = table()
    np.testing.assert_array_equal(form(X).toarray(), X)
    ours, theirs = clone(classifier).fit(form(X), y), clone(classifier).fit(X, y)
    assert np.array_equal(ours.summary_.counts, theirs.summary_.counts)
    assert_same_answers(ours, theirs, form(X), X)
    np.testing.assert_array_equal(ours.predict(form(X)), theirs.predict(X))


@pytest.mark.parametrize(
    "classifier",
    [
        *BOTH,
        EEMClassifier(30, activation="tanimoto", scale=None, random_state=0),
        EEMClassifier(30, scale="standard", random_state=0),
        EEKMClassifier(30, kernel="tanimoto", scale="minmax", random_state=0),
    ],
    ids=["EEM", "EEKM", "tanimoto", "standard", "k tanimoto"],
)
def test_sparse_rows_give_what_dense_rows_give_in_every_layer(classifier):
    assert_sparse_is_dense(classifier, sp.csr_array)


def doubled(X):
    """Every entry stored as two halves: legal, but not canonical."""
    once = sp.coo_array(X)
    twice = sp.csr_array(X)
    ends = np.concatenate([[0], np.cumsum(np.bincount(np.tile(once.row, 2), minlength=len(X)))])
    twice.data, twice.indices = np.repeat(twice.data / 2, 2), np.repeat(twice.indices, 2)
    twice.indptr = ends.astype(twice.indptr.dtype)
    twice.has_canonical_format = False
    return twice


def with_stored_zeros(X):
    return sp.csr_array(
        (X.ravel(), np.tile(np.arange(X.shape[1]), len(X)), np.arange(0, X.size + 1, X.shape[1])),
        shape=X.shape,
    )


def unsorted(X):
    backwards = sp.csr_array(X[:, ::-1])
    backwards.indices = (X.shape[1] - 1 - backwards.indices).astype(backwards.indices.dtype)
    backwards.has_sorted_indices = False
    return backwards


@pytest.mark.parametrize(
    "form", [*SPARSE, doubled, with_stored_zeros, unsorted], ids=lambda form: form.__name__
)
def test_sparse_rows_give_what_dense_rows_give_in_every_form(form):
    """Also with stored zeros, unsorted columns and entries in parts."""
    assert_sparse_is_dense(DEFAULT, form)


@pytest.mark.parametrize("scale", [None, "minmax"])
def test_a_large_sparse_table_is_never_made_dense(scale):
    """160 MB if dense: fitting and asking stay within some chunks of it."""
    n, d, per_row = 10_000, 2_000, 4
    rng = np.random.default_rng(0)
    columns = rng.integers(0, d, n * per_row)
    X = sp.csr_array(
        (np.ones(n * per_row), columns, np.arange(0, n * per_row + 1, per_row)), (n, d)
    )
    X.sum_duplicates()
    y = (X[:, [0]].toarray()[:, 0] > 0) | (rng.random(n) < 0.3)
    classifier = EEMClassifier(5, activation="rbf", scale=scale, ridge=0.0, random_state=0)
    tracemalloc.start()
    try:
        classifier.fit(X, y).predict(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 50e6


# -------------------------------------------------------------------- precision and memory


@every_layer
def test_single_precision_stays_single_in_every_layer(classifier):
    """Scaling, layer and whitening of float32 rows answer in float32."""
    X, y = table()
    X = X.astype(np.float32)
    phi = clone(classifier).fit(X, y).feature_map_
    Z, features = phi.scaled(X), phi.only().in_precision(X.dtype)
    assert Z.dtype == np.float32
    assert features.parts[0].layer(Z).dtype == np.float32
    assert features(Z).dtype == np.float32


def test_single_precision_rows_reach_the_layer_in_single_precision():
    """The hot path hands a layer what it was given, when fitting and when asked."""
    seen = set()

    def spy(Z, weights, biases):
        seen.update({Z.dtype, weights.dtype, biases.dtype})
        return waves(Z, weights, biases)

    X, y = table()
    classifier = EEMClassifier(20, activation=spy, random_state=0)
    classifier.fit(X.astype(np.float32), y).predict_proba(X.astype(np.float32))
    assert seen == {np.dtype(np.float32)}


@every_layer
def test_single_precision_answers_as_double_does(classifier):
    """float32 rows cost digits, not decisions; summaries and answers are double."""
    X, y = table()
    single = X.astype(np.float32)
    ours, theirs = clone(classifier).fit(single, y), clone(classifier).fit(single.astype(float), y)
    assert ours.decision_function(single).dtype == np.float64
    assert all(
        cell.scatter.dtype == np.float64 for row in ours.summary_.leaves[0].cells for cell in row
    )
    a, b = ours.predict_proba(single), theirs.predict_proba(single.astype(float))
    np.testing.assert_allclose(a, b, atol=0.02)
    assert (ours.predict(single) == theirs.predict(single.astype(float))).mean() > 0.98


def test_a_classifier_answers_in_either_precision():
    """A classifier fitted on double answers single rows, and the other way round."""
    X, y = table()
    single = X.astype(np.float32)
    fitted = clone(DEFAULT).fit(X, y)
    np.testing.assert_allclose(fitted.predict_proba(single), fitted.predict_proba(X), atol=0.02)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_answers_in_chunks_equal_answers_row_by_row(dtype):
    """More rows than a chunk holds are answered as each would be alone."""
    X, y = table(n=17_500)
    X = X.astype(dtype)
    fitted = clone(DEFAULT).fit(X[:300], y[:300])
    all_at_once = fitted.decision_function(X)
    some = np.r_[0:40, 16_370:16_400, 17_480:17_500]
    alone = np.concatenate([fitted.decision_function(X[i : i + 1]) for i in some])
    tolerance = (1e-9 if dtype == np.float64 else 1e-2) * abs(all_at_once).max()
    np.testing.assert_allclose(all_at_once[some], alone, rtol=0, atol=tolerance)


def test_how_rows_lie_in_memory_does_not_matter(tmp_path):
    """Read-only, Fortran-ordered, strided and memory-mapped rows are only read."""
    X, y = table()
    expected = clone(DEFAULT).fit(X, y).decision_function(X)
    np.save(tmp_path / "rows.npy", X)
    fixed, labels = X.copy(), y.copy()
    fixed.flags.writeable = labels.flags.writeable = False
    strided = np.repeat(X, 2, axis=0)[::2]
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    for rows in (fixed, np.asfortranarray(X), strided, mapped, X.tolist(), X.astype(">f8")):
        ours = clone(DEFAULT).fit(rows, labels)
        np.testing.assert_allclose(ours.decision_function(rows), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(fixed, X)


@pytest.mark.parametrize("scale", ["quantile", "minmax", "standard", None])
@pytest.mark.parametrize("dtype", [float, np.float32])
def test_fitting_and_asking_leave_the_rows_as_they_were(scale, dtype):
    """X is never written on, not even with no scaling in between."""
    X, y = table()
    X = X.astype(dtype)
    before = X.copy()
    weight = np.ones(len(y))
    for classifier in (
        EEMClassifier(20, scale=scale, random_state=0),
        EEKMClassifier(20, kernel="linear", scale=scale, random_state=0),
    ):
        classifier.fit(X, y, sample_weight=weight).predict(X)
        np.testing.assert_array_equal(X, before)
        assert (weight == 1).all()


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, bool, np.int16])
def test_integers_are_numbers(dtype):
    """Whole numbers of any width give what they give as floats."""
    X, y = table()
    whole = (X > 1).astype(dtype) if dtype is bool else (X * 4).astype(dtype)
    ours, theirs = clone(DEFAULT).fit(whole, y), clone(DEFAULT).fit(whole.astype(float), y)
    a, b = ours.decision_function(whole), theirs.decision_function(whole.astype(float))
    np.testing.assert_array_equal(a, b)


# -------------------------------------------------------------------- copies and tools


@every_kind
@pytest.mark.parametrize(
    "duplicate",
    [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))],  # noqa: S301 (our bytes)
)
def test_copies_answer_as_the_original(classifier, duplicate):
    """copy, deepcopy and pickle keep every bit, and the copy learns on its own."""
    X, y = table()
    fitted = clone(classifier).fit(X, y)
    expected = fitted.decision_function(X)
    other = duplicate(fitted)
    np.testing.assert_array_equal(other.decision_function(X), expected)
    other.partial_fit(X[:40], 1 - y[:40])
    assert not np.array_equal(other.decision_function(X), expected)
    np.testing.assert_array_equal(fitted.decision_function(X), expected)


@every_kind
def test_a_clone_is_unfitted_and_fits_to_the_same_classifier(classifier):
    """clone keeps the parameters and nothing else."""
    X, y = table()
    fitted = clone(classifier).fit(X, y)
    again = clone(fitted)
    assert not hasattr(again, "classes_")
    a, b = again.fit(X, y).decision_function(X), fitted.decision_function(X)
    np.testing.assert_array_equal(a, b)


def test_a_clone_draws_its_own_phi():
    """Only a twin keeps φ; the clone of another classifier is a new one."""
    X, y = table()
    fitted = clone(DEFAULT).fit(X, y)
    ours, theirs = clone(fitted).fit(X * 3, y), clone(DEFAULT).fit(X * 3, y)
    a, b = ours.decision_function(X * 3), theirs.decision_function(X * 3)
    np.testing.assert_array_equal(a, b)


def test_the_tools_of_scikit_learn_work():
    """Grid search, pipelines, calibration and cross-validation take the machines as they are."""
    X, y = table()
    grid = GridSearchCV(DEFAULT, {"n_landmarks": [5, 15]}, cv=3)
    assert grid.fit(X, y).best_score_ > 0.7
    pipeline = make_pipeline(StandardScaler(), clone(DEFAULT))
    assert pipeline.fit(sp.csr_array(X).toarray(), y).score(X, y) > 0.7
    calibrated = CalibratedClassifierCV(DEFAULT, cv=3).fit(X, y)
    np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1)
    assert cross_val_score(DEFAULT, X, y, cv=3, scoring="roc_auc").mean() > 0.8


# -------------------------------------------------------------------- more than two classes


@both
@pytest.mark.parametrize("n_classes", [4])
def test_more_classes_have_a_column_each(classifier, n_classes):
    """Probabilities sum to one, and the largest decision wins."""
    X, y = table(n_classes=n_classes)
    fitted = clone(classifier).fit(X, y)
    p = fitted.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    assert ((p >= 0) & (p <= 1)).all()
    np.testing.assert_allclose(np.exp(fitted.predict_log_proba(X)), p)
    decision = fitted.decision_function(X)
    assert decision.shape == (len(y), n_classes)
    np.testing.assert_array_equal(fitted.predict(X), decision.argmax(axis=1))
    n_pairs = n_classes * (n_classes - 1) // 2
    assert fitted.project(X).shape == (len(y), n_pairs)
    assert len(fitted.beta_) == len(fitted.thresholds_) == n_pairs
    assert fitted.means_.shape == fitted.variances_.shape == (n_pairs, 2)


def test_two_of_three_classes_are_told_apart_as_by_a_machine_of_the_two():
    """Each pair's β and Gaussians are those of the two classes alone, for the same φ."""
    X, y = table(n_classes=3)
    # Unscaled uniform neurons are the same whatever the rows.
    three = EEMClassifier.paper(n_hidden=20, random_state=0).set_params(scale=None).fit(X, y)
    pair = clone(three).fit(X[y != 1], y[y != 1])
    line = three.machine_.pairs.index((0, 2))
    np.testing.assert_allclose(three.project(X)[:, line], pair.project(X), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(three.variances_[line], pair.variances_, rtol=1e-8)


def test_digits_are_read():
    """Ten classes of handwriting, more than 95 in 100 right on held-out rows."""
    X, y = load_digits(return_X_y=True)
    X, X_new, y, y_new = train_test_split(X, y, stratify=y, random_state=0)
    classifier = ExtremeEntropyClassifier(n_landmarks=200, random_state=0).fit(X, y)
    assert classifier.score(X_new, y_new) > 0.95


# -------------------------------------------------------------------- settings


def test_the_papers_eem_settings_are_the_papers():
    """[0, 1] scaling, Ledoit–Wolf, no ridge, training Gaussians, equal priors."""
    settings = EEMClassifier.paper("nsig", 250, random_state=1).get_params()
    assert settings == {
        "n_hidden": 250,
        "activation": "nsig",
        "categorical_features": "from_dtype",
        "scale": "minmax",
        "relevance": "uniform",
        "shrinkage": "ledoit-wolf",
        "ridge": 0.0,
        "decision": "paper",
        "priors": "balanced",
        "costs": None,
        "n_jobs": None,
        "random_state": 1,
        "verbose": False,
    }
    assert EEMClassifier.paper().activation == "rbf"


def test_the_papers_eekm_settings_are_the_papers():
    """The rbf kernel on [0, 1] columns, Ledoit–Wolf, no ridge, training Gaussians."""
    settings = EEKMClassifier.paper(50, gamma=0.1, random_state=1).get_params()
    assert settings == {
        "n_landmarks": 50,
        "kernel": "rbf",
        "gamma": 0.1,
        "categorical_features": "from_dtype",
        "scale": "minmax",
        "relevance": "uniform",
        "shrinkage": "ledoit-wolf",
        "ridge": 0.0,
        "decision": "paper",
        "priors": "balanced",
        "costs": None,
        "n_jobs": None,
        "random_state": 1,
        "verbose": False,
    }


@pytest.mark.parametrize(
    ("classifier", "options"),
    [
        (EEMClassifier(activation="tanh"), ["activation", "sig", "nsig", "rbf", "'tanh'"]),
        (EEMClassifier(scale="robust"), ["scale", "minmax", "standard", "quantile", "None"]),
        (EEMClassifier(shrinkage="lw"), ["shrinkage", "ledoit-wolf", "oas", "None"]),
        (EEMClassifier(shrinkage=1.5), ["shrinkage", "[0.0, 1.0]", "1.5"]),
        (EEMClassifier(ridge=-1), ["ridge", "-1"]),
        (EEMClassifier(decision="best"), ["decision", "paper", "cross-fitted"]),
        (EEMClassifier(priors="uniform"), ["priors", "balanced", "empirical"]),
        (EEMClassifier(costs="high"), ["costs", "dict"]),
        (EEMClassifier(n_hidden=0), ["n_hidden", "[1, inf)"]),
        (EEMClassifier(n_hidden=2.5), ["n_hidden", "int"]),
        (EEKMClassifier(kernel="sigmoid"), ["kernel", "rbf", "laplacian", "tanimoto"]),
        (EEKMClassifier(gamma=0), ["gamma", "median"]),
        (EEKMClassifier(n_landmarks=0), ["n_landmarks", "[1, inf)"]),
        (EEMClassifier(random_state="dice"), ["random_state"]),
    ],
    ids=lambda case: "" if isinstance(case, list) else str(case)[:40],
)
def test_unknown_settings_are_refused_with_the_known_ones(classifier, options):
    """The error names the parameter, what it may be and what came."""
    X, y = table(n=20)
    for verb in ("fit", "partial_fit"):
        with pytest.raises(InvalidParameterError) as error:
            getattr(clone(classifier), verb)(X, y)
        assert all(option in str(error.value) for option in options)


# -------------------------------------------------------------------- layers as the paper's


def drawn(activation, d=7, n_hidden=400):
    X = np.random.default_rng(0).random((50, d))
    classifier = EEMClassifier.paper(activation, n_hidden, random_state=0)
    return classifier.fit(X, np.arange(50) % 2).feature_map_.only().parts[0].layer


@pytest.mark.parametrize("activation", ["sig", "nsig", "rbf"])
@pytest.mark.filterwarnings("ignore::extreme_entropy.errors.ExtremeEntropyWarning")
def test_the_papers_neurons_are_uniform_on_the_unit_interval(activation):
    """Weights and biases fill [0, 1] evenly; nsig divides its product by d."""
    layer = drawn(activation)
    weights = centres_of(layer).T if activation == "rbf" else layer.weights
    biases = -layer.columns[-2] if activation == "rbf" else layer.biases
    weights = weights * 7 if activation == "nsig" else weights
    assert weights.shape == (7, 400)
    for numbers in (weights.ravel(), biases):
        assert numbers.min() >= 0
        assert numbers.max() <= 1
        assert kstest(numbers, "uniform").pvalue > 0.01


def test_nsig_is_sig_with_the_product_divided_by_the_number_of_columns():
    """The same seed draws the same neurons."""
    sig, nsig = drawn("sig"), drawn("nsig")
    np.testing.assert_allclose(sig.weights, 7 * nsig.weights)
    np.testing.assert_array_equal(sig.biases, nsig.biases)


def centres_of(layer):
    """w of radial neurons, whose columns are [2bw; −b; ln c − b‖w‖²]."""
    return (layer.columns[:-2] / (-2 * layer.columns[-2])).T


def neuron(activation, layer, i, z):
    """One neuron's answer to one row, as the paper writes it."""
    if activation in ("sig", "nsig", "relu"):
        w, b = layer.weights[:, i], layer.biases[i]
        if activation == "relu":
            return max(0.0, float(w @ z) - b)
        return 1 / (1 + np.exp(-(w @ z) + b))
    if activation == "rbf":
        return np.exp(layer.columns[-2, i] * ((centres_of(layer)[i] - z) ** 2).sum())
    w = layer.centres[:, i]
    if not (w.any() or z.any()):
        return 1.0  # two empty rows are alike
    if activation == "tanimoto":
        return w @ z / (w @ w + z @ z - w @ z)
    return 2 * (w @ z) / (w @ w + z @ z)


@pytest.mark.parametrize("activation", ["sig", "nsig", "rbf", "tanimoto", "sorensen", "relu"])
def test_layers_are_the_papers_formulas(activation):
    """φ of min-max scaled rows equals each neuron's formula, row by row."""
    X, y = table()
    classifier = EEMClassifier(9, activation=activation, scale="minmax", random_state=0).fit(X, y)
    Z = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    layer = classifier.feature_map_.only().parts[0].layer
    naive = [[neuron(activation, layer, i, z) for i in range(9)] for z in Z]
    np.testing.assert_allclose(classifier.feature_map_(X), naive, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("activation", ["tanimoto", "sorensen", "relu"])
def test_neurons_drawn_from_the_data_are_its_rows(activation):
    """Each weight vector is a scaled row; relu's biases lie in [0, ‖w‖²]."""
    X, y = table()
    layer = (
        EEMClassifier(9, activation=activation, scale=None, random_state=0)
        .fit(X, y)
        .feature_map_.only()
        .parts[0]
        .layer
    )
    weights = (layer.weights if activation == "relu" else layer.centres).T
    assert all((row == X).all(axis=1).any() for row in weights)
    if activation == "relu":
        assert (layer.biases >= 0).all()
        assert (layer.biases <= (weights**2).sum(axis=1)).all()


def test_an_activation_of_ones_own_gets_scaled_rows_weights_and_biases():
    """φ is the callable's answer to Z, (h, d) weights and (h,) biases uniform on [0, 1]."""
    X, y = table()
    classifier = EEMClassifier(9, activation=waves, scale="minmax", random_state=0).fit(X, y)
    layer = classifier.feature_map_.only().parts[0].layer
    Z = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    assert layer.weights.shape == (9, 5)
    assert ((layer.weights >= 0) & (layer.weights <= 1)).all()
    np.testing.assert_allclose(classifier.feature_map_(X), waves(Z, layer.weights, layer.biases))


# -------------------------------------------------------------------- kernels and landmarks


def tanimoto(A, B):
    return np.array([[a @ b / (a @ a + b @ b - a @ b) for b in B] for a in A])


def gram(kernel, A, B, gamma):
    """k(A, B) by scikit-learn."""
    if kernel == "tanimoto":
        return tanimoto(A, B)
    if kernel == "polynomial":
        return pairwise_kernels(A, B, "polynomial", gamma=gamma, coef0=1, degree=3)
    own = {"gamma": gamma} if kernel in ("rbf", "laplacian") else {}
    return pairwise_kernels(A, B, kernel, **own)


def landmarks_of(classifier):
    """As rows of X, where these are not scaled."""
    layer = classifier.feature_map_.only().parts[0].layer
    origin = getattr(classifier.feature_map_.scaling, "origin", 0.0)
    if hasattr(layer, "columns"):
        return centres_of(layer) + origin
    return (layer.centres.T if hasattr(layer, "centres") else layer.landmarks) + origin


def fit_kernel(kernel, n_landmarks=12, **parameters):
    X, y = table(n=60)
    X += np.random.default_rng(1).random(X.shape)
    classifier = EEKMClassifier(
        n_landmarks, kernel=kernel, gamma=0.7, scale=None, random_state=0, **parameters
    )
    return classifier.fit(X, y), X, y


@pytest.mark.parametrize("kernel", [*KERNELS, rational])
def test_kernels_are_scikit_learns(kernel):
    """The hidden layer is k(x, landmark) for rows of the data as landmarks."""
    classifier, X, _ = fit_kernel(kernel)
    landmarks = landmarks_of(classifier)
    assert all(np.isclose(row, X, rtol=1e-14).all(axis=1).any() for row in landmarks)
    expected = gram(kernel, X, landmarks, 0.7)
    np.testing.assert_allclose(
        classifier.feature_map_.only().parts[0].layer(classifier.feature_map_.scaling(X)),
        expected,
        rtol=1e-9,
        atol=1e-12,
    )


@pytest.mark.parametrize("kernel", [*KERNELS, rational])
def test_features_multiply_to_the_nystrom_kernel(kernel):
    """φ(x)ᵀφ(y) = k(x, H) K_hh⁻¹ k(H, y)."""
    classifier, X, _ = fit_kernel(kernel)
    H = landmarks_of(classifier)
    k = gram(kernel, X, H, 0.7)
    expected = k @ np.linalg.pinv(gram(kernel, H, H, 0.7), rcond=1e-10, hermitian=True) @ k.T
    ours = classifier.feature_map_(X) @ classifier.feature_map_(X).T
    np.testing.assert_allclose(ours, expected, atol=1e-6 * abs(expected).max())


@pytest.mark.parametrize("kernel", KERNELS)
def test_with_every_row_a_landmark_features_multiply_to_the_kernel(kernel):
    """Nyström is exact when nothing is left out."""
    classifier, X, _ = fit_kernel(kernel, n_landmarks=60)
    expected = gram(kernel, X, X, 0.7)
    ours = classifier.feature_map_(X) @ classifier.feature_map_(X).T
    np.testing.assert_allclose(ours, expected, atol=1e-6 * abs(expected).max())


def test_repeated_rows_are_one_landmark():
    """Duplicates never make K_hh singular: the landmarks are those of the distinct rows."""
    classifier, X, y = fit_kernel("rbf", n_landmarks=60)
    again = clone(classifier).set_params(n_landmarks=300)
    again.fit(np.repeat(X, 4, axis=0), np.repeat(y, 4))
    np.testing.assert_array_equal(landmarks_of(again), landmarks_of(classifier))
    assert len(np.unique(landmarks_of(again), axis=0)) == 60


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "tanimoto"])
def test_eekm_is_the_papers_long_way(kernel):
    """With K_hh^{-1/2} unfolded, symmetric, and scikit-learn's Ledoit–Wolf, β is the same."""
    classifier, X, y = fit_kernel(kernel, decision="paper", ridge=0.0)
    H = landmarks_of(classifier)
    values, vectors = np.linalg.eigh(gram(kernel, H, H, 0.7))
    features = gram(kernel, X, H, 0.7) @ (vectors / np.sqrt(values)) @ vectors.T
    means = [features[y == c].mean(axis=0) for c in (0, 1)]
    covariance = sum(ledoit_wolf(features[y == c])[0] for c in (0, 1))
    direction = np.linalg.solve(covariance, means[1] - means[0])
    beta = 2 * direction / ((means[1] - means[0]) @ direction)
    np.testing.assert_allclose(classifier.project(X), features @ beta, rtol=1e-6, atol=1e-6)


@every_layer
def test_projections_are_beta_times_features(classifier):
    """`project`, which folds the whitening into β, equals βᵀφ(x)."""
    X, y = table()
    fitted = clone(classifier).fit(X, y)
    expected = fitted.feature_map_(X) @ fitted.beta_
    np.testing.assert_allclose(fitted.project(X), expected, atol=1e-8 * abs(expected).max())


def test_projections_put_the_class_means_two_apart():
    """βᵀ(m₊ − m₋) = 2 on the training rows."""
    X, y = table()
    for classifier in BOTH:
        line = clone(classifier).fit(X, y).project(X)
        np.testing.assert_allclose(line[y == 1].mean() - line[y == 0].mean(), 2)


@pytest.mark.parametrize("as_blocks", [False, True], ids=["memory", "Dask"])
def test_labels_that_are_none_are_counted_and_refused(as_blocks, rng):
    """Rather than taken for numbers of a regression."""
    X, y = rng.normal(size=(30, 2)), np.array(["a", "b", None] * 10, dtype=object)
    if as_blocks:
        da = pytest.importorskip("dask.array")
        X, y = da.from_array(X, chunks=(30, 2)), da.from_array(y, chunks=30)
    with pytest.raises(InputError, match="10 of 30 are None"):
        clone(DEFAULT).fit(X, y)


# -------------------------------------------------------------------- columns of objects


def test_times_kept_as_objects_are_those_of_their_place(rng):
    """As one row is, that is taken out of a frame with `iloc` and turned."""
    hours = pd.date_range("2024-01-01", periods=200, freq="7h", tz="US/Pacific")
    frame = pd.DataFrame({"when": hours, "wait": pd.to_timedelta(np.arange(200) % 13, "min")})
    frame["x"] = rng.normal(size=200)
    y = frame.when.dt.hour.between(9, 16).astype(int)
    classifier = clone(DEFAULT).fit(frame, y)
    expected = classifier.predict_proba(frame)
    as_objects = frame.astype({"when": object, "wait": object})
    np.testing.assert_array_equal(classifier.predict_proba(as_objects), expected)
    one = frame.iloc[5].to_frame().T
    np.testing.assert_allclose(classifier.predict_proba(one), expected[5:6])
    as_objects.loc[3, ["when", "wait"]] = None
    assert np.isfinite(classifier.predict_proba(as_objects)).all()
    zones = [f"Etc/GMT+{i % 3}" for i in range(200)]
    offsets = frame.assign(when=[t.tz_convert(z) for t, z in zip(hours, zones, strict=True)])
    local = frame.assign(when=[t.tz_localize(None) for t in offsets.when])
    np.testing.assert_array_equal(
        classifier.predict_proba(offsets), classifier.predict_proba(local)
    )


@pytest.mark.parametrize("kind", ["pandas", "nullable", "polars", "arrow"])
def test_categories_of_large_whole_numbers_stay_apart(kind, rng):
    """Account numbers beyond 2⁵³ are one number as floats."""
    codes = rng.integers(0, 8, 300)
    frame = pd.DataFrame({"x": rng.normal(size=300), "id": 2**60 + codes})
    given = {
        "pandas": lambda: frame,
        "nullable": lambda: frame.astype({"id": "Int64"}),
        "polars": lambda: pl.from_pandas(frame),
        "arrow": lambda: pa.Table.from_pandas(frame),
    }[kind]()
    y = codes % 2
    classifier = clone(DEFAULT).set_params(categorical_features=["id"]).fit(given, y)
    assert classifier.score(given, y) == 1
    assert classifier.score(frame.astype({"id": "category"}), y) == 1


def test_a_class_that_derives_from_a_data_frame_is_one(rng):
    class Own(pd.DataFrame):
        @property
        def _constructor(self):
            return Own

    frame = pd.DataFrame({"x": rng.normal(size=60), "word": list("abc") * 20})
    y = (frame.word == "a").astype(int)
    classifier = clone(DEFAULT).fit(Own(frame), y)
    np.testing.assert_array_equal(classifier.predict(Own(frame)), classifier.predict(frame))


@pytest.mark.parametrize("cells", [pd.date_range("2020", periods=3), ["1", "2", "3"]])
def test_columns_of_numbers_stay_columns_of_numbers(cells, rng):
    """Also where all columns were numbers, when scikit-learn would convert the others."""
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    classifier = clone(DEFAULT).fit(frame, frame.a > 0)
    with pytest.raises(InputError, match="Column 'a' must hold numbers"):
        classifier.predict(pd.DataFrame({"a": cells, "b": [1.0, 2.0, 3.0]}))
    objects = frame.astype(object)
    np.testing.assert_array_equal(classifier.predict(objects), classifier.predict(frame))


def test_columns_of_one_name_are_refused_in_an_arrow_table(rng):
    table = pa.table([rng.normal(size=30), rng.normal(size=30)], names=["x", "x"])
    with pytest.raises(InputError, match="'x' comes 2 times"):
        clone(DEFAULT).fit(table, np.arange(30) % 2)
