"""What a degenerate input gets: every row of the table in the design's section 4."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from extreme_entropy import EEKMClassifier, EEMClassifier, ExtremeEntropyClassifier
from extreme_entropy.errors import (
    DegenerateWarning,
    ExtremeEntropyWarning,
    FewRowsWarning,
    InputError,
)

DEFAULT = ExtremeEntropyClassifier(n_landmarks=30, random_state=0)
# The default first; the paper's with each kind of layer, scaling and shrinkage once.
CLASSIFIERS = {
    "default": DEFAULT,
    "EEM": EEMClassifier(30, random_state=0),
    "EEM paper": EEMClassifier.paper(n_hidden=30, random_state=0).set_params(shrinkage=None),
    "EEM relu": EEMClassifier(
        30, activation="relu", scale="standard", shrinkage=0.5, random_state=0
    ),
    "EEKM": EEKMClassifier(30, shrinkage="oas", random_state=0),
    "EEKM linear": EEKMClassifier(
        30, kernel="linear", scale="minmax", shrinkage=None, ridge=0.0, random_state=0
    ),
}
every_classifier = pytest.mark.parametrize("classifier", CLASSIFIERS.values(), ids=CLASSIFIERS)
every_shrinkage = pytest.mark.parametrize("shrinkage", ["ledoit-wolf", "oas", None, 0.5])
quiet = pytest.mark.filterwarnings("ignore::extreme_entropy.errors.ExtremeEntropyWarning")


@pytest.fixture(autouse=True)
def _arithmetic_is_clean():
    """Division by zero, overflow and invalid operations are errors in every test here."""
    with np.errstate(divide="raise", over="raise", invalid="raise"), warnings.catch_warnings():
        warnings.filterwarnings("error", category=RuntimeWarning)
        yield


def blobs(n=120, d=4, gap=2.5, seed=11):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, d)) + gap * y[:, None], y


def far_apart(X):
    """The same rows, but one column spans more than a number can hold."""
    X = X.copy()
    X[:2, 0] = -1e308, 1e308
    return X


def assert_sane(classifier, X):
    """Every answer is a number, and probabilities are probabilities."""
    p = classifier.predict_proba(X)
    for answers in (classifier.decision_function, classifier.project, classifier.predict_log_proba):
        assert np.isfinite(answers(X)).all()
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)
    if isinstance(classifier, ExtremeEntropyClassifier):
        return
    for fitted in (
        classifier.beta_,
        classifier.means_,
        classifier.variances_,
        classifier.shrinkage_,
    ):
        assert np.isfinite(fitted).all()
    assert np.isfinite(classifier.divergence_).all()
    assert (np.asarray(classifier.variances_) > 0).all()


# -------------------------------------------------------------------- classes that look alike


def assert_constant(classifier, X):
    np.testing.assert_allclose(classifier.predict_proba(X), 0.5, atol=1e-12)
    assert_sane(classifier, X)
    if isinstance(classifier, ExtremeEntropyClassifier):
        return
    assert len(set(classifier.predict(X))) == 1
    assert not classifier.beta_.any()
    assert classifier.thresholds_.shape == (0,)
    assert classifier.divergence_ == 0


def fit_with_one_warning(classifier, X, y):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        classifier.fit(X, y)
        classifier.predict(X)
    ours = [w for w in caught if issubclass(w.category, ExtremeEntropyWarning)]
    assert [w.category for w in ours] == [DegenerateWarning]
    assert not [w for w in caught if issubclass(w.category, RuntimeWarning)]
    message = str(ours[0].message)
    assert "same mean" in message
    if not isinstance(classifier, ExtremeEntropyClassifier):
        assert "saturated" in message
        assert "Try another activation or scale" in message
    return classifier


@every_classifier
def test_classes_with_equal_means_get_a_constant_answer_and_one_warning(classifier):
    """Each row under both labels: m₊ = m₋, so β = 0 and every probability is ½.

    The default, which has no means, is told nothing by such rows either, and need not warn.
    """
    X, _ = blobs()
    X, y = np.concatenate([X, X]), np.repeat([0, 1], len(X))
    shuffled = np.random.default_rng(0).permutation(len(y))
    fit = type(classifier).fit if classifier is DEFAULT else fit_with_one_warning
    assert_constant(fit(clone(classifier), X[shuffled], y[shuffled]), X)


@every_shrinkage
def test_saturated_neurons_get_a_constant_answer_and_one_warning(shrinkage):
    """617 columns in [0, 1] drive every sigmoid of the paper to 1: all rows look alike."""
    rng = np.random.default_rng(0)
    X = rng.random((80, 617))
    y = np.arange(80) % 2
    classifier = EEMClassifier.paper("sig", 40, random_state=0).set_params(shrinkage=shrinkage)
    fit_with_one_warning(classifier, X, y)
    assert_constant(classifier, X)


def test_saturated_neurons_answer_the_priors():
    """Where nothing is learnt, what was known before is the answer."""
    X, y = np.random.default_rng(0).random((80, 617)), np.repeat([0, 1], [60, 20])
    classifier = EEMClassifier(
        20, activation="sig", scale="minmax", priors="empirical", random_state=0
    )
    fit_with_one_warning(classifier, X, y)
    np.testing.assert_allclose(classifier.predict_proba(X), [[0.75, 0.25]] * 80)
    assert set(classifier.predict(X)) == {0}
    assert set(classifier.with_costs({1: 4}).predict(X)) == {1}


@every_classifier
def test_all_rows_alike_get_a_constant_answer(classifier):
    """A table that says the same in every row teaches nothing."""
    X, y = np.full((12, 3), 7.0), np.arange(12) % 2
    assert_constant(fit_with_one_warning(clone(classifier), X, y), X)


def test_of_three_classes_two_alike_still_part_from_the_third():
    """Only the pair that looks alike is undecided."""
    X, y = blobs(gap=8.0)
    X = np.concatenate([X, X[y == 1]])
    y = np.concatenate([y, np.full(60, 2)])
    classifier = fit_with_one_warning(EEMClassifier(30, random_state=0), X, y)
    assert_sane(classifier, X)
    p = classifier.predict_proba(X)
    np.testing.assert_allclose(p[:, 1], p[:, 2])
    assert ((classifier.predict(X) == 0) == (y == 0)).mean() > 0.95


# -------------------------------------------------------------------- few rows


@every_classifier
def test_one_row_in_a_class_lets_the_other_carry_the_solve(classifier):
    """A warning names the class; answers are finite, and the row itself is recognised."""
    X, y = blobs(gap=6.0)
    keep = np.r_[np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:1]]
    X, y = X[keep], y[keep]
    classifier = clone(classifier)
    with pytest.warns(FewRowsWarning, match=r"\[1\] has one row only") as warned:
        classifier.fit(X, y)
    assert len(warned) == 1
    assert_sane(classifier, X)
    assert classifier.predict(X[-1:]) == 1
    assert (classifier.predict(X[:-1]) == 0).mean() > 0.6


@every_classifier
def test_both_classes_of_one_row_are_told_apart(classifier):
    """Two rows are enough for a line from one to the other."""
    X, y = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 5.0]]), np.array(["a", "b"])
    classifier = clone(classifier)
    with pytest.warns(FewRowsWarning, match="one row only"):
        classifier.fit(X, y)
    assert_sane(classifier, X)
    np.testing.assert_array_equal(classifier.predict(X), y)


@every_classifier
def test_three_rows_of_three_classes_are_told_apart(classifier):
    """A new classifier may have three classes of a row each; it warns and stays sane."""
    X = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 4.0], [5.0, 5.0, 0.0]])
    classifier = clone(classifier)
    with pytest.warns(FewRowsWarning, match="one row only"):
        classifier.fit(X, [3, 1, 2])
    assert_sane(classifier, X)
    np.testing.assert_array_equal(classifier.predict(X), [3, 1, 2])


# -------------------------------------------------------------------- no spread on the line


@quiet
@every_classifier
def test_a_class_without_spread_gets_a_tiny_share_of_the_others(classifier):
    """One class is one row many times over: its variance is floored, never zero."""
    X, y = blobs(gap=5.0)
    X[y == 1] = 9.0
    classifier = clone(classifier).fit(X, y)
    assert_sane(classifier, X)
    assert (classifier.predict(X[y == 1]) == 1).all()
    assert (classifier.predict(X[y == 0]) == 0).mean() > 0.9


@quiet
@every_classifier
def test_two_classes_without_spread_are_told_apart(classifier):
    """Both classes are one row each, many times over."""
    y = np.arange(40) % 2
    X = np.where(y[:, None], [1.0, 2.0, 2.0], [3.0, 2.0, 0.0])
    classifier = clone(classifier).fit(X, y)
    assert_sane(classifier, X)
    np.testing.assert_array_equal(classifier.predict(X), y)


@quiet
@every_shrinkage
@pytest.mark.parametrize("decision", ["paper", "cross-fitted"])
def test_a_column_that_is_the_label_is_no_trouble(shrinkage, decision):
    """Perfect separation, with no spread along the telling direction."""
    X, y = blobs(gap=0.0)
    X = np.column_stack([X, y])
    classifier = EEKMClassifier(
        40, kernel="linear", scale="minmax", shrinkage=shrinkage, decision=decision, random_state=0
    ).fit(X, y)
    assert_sane(classifier, X)
    assert (classifier.predict(X) == y).mean() > 0.9


# -------------------------------------------------------------------- odd tables that work


@quiet
@every_classifier
def test_more_neurons_than_rows_work(classifier):
    """h > n: the covariance is singular before it is shrunk."""
    X, y = blobs(n=16, gap=4.0)
    X_new, y_new = blobs(n=100, gap=4.0, seed=12)
    size = {name: 150 for name in ("n_hidden", "n_landmarks") if hasattr(classifier, name)}
    classifier = clone(classifier).set_params(**size).fit(X, y)
    assert_sane(classifier, X_new)
    assert (classifier.predict(X_new) == y_new).mean() > 0.75


@quiet
@every_classifier
def test_duplicate_rows_work(classifier):
    """Twenty distinct rows said ten times each are told apart as the twenty are."""
    X, y = blobs(n=20, gap=6.0)
    classifier = clone(classifier).fit(np.tile(X, (10, 1)), np.tile(y, 10))
    assert_sane(classifier, X)
    np.testing.assert_array_equal(classifier.predict(X), y)


@quiet
@every_classifier
@pytest.mark.parametrize("seed", [8, 9])
def test_a_few_rows_said_often_are_told_apart(classifier, seed):
    """Three distinct rows a class are too few to hold out, however often they are repeated."""
    X, y = blobs(n=6, gap=6.0, seed=seed)
    classifier = clone(classifier).fit(np.tile(X, (20, 1)), np.tile(y, 20))
    assert_sane(classifier, X)
    np.testing.assert_array_equal(classifier.predict(X), y)


@every_classifier
@pytest.mark.parametrize("value", [0.0, -1e8, 1e300])
def test_constant_columns_work(classifier, value):
    """A column that says nothing does no harm."""
    X, y = blobs()
    X = np.column_stack([np.full(len(y), value), X, np.full(len(y), value)])
    classifier = clone(classifier).fit(X, y)
    assert_sane(classifier, X)
    assert (classifier.predict(X) == y).mean() > 0.9


@every_classifier
def test_constant_columns_are_ignored_ever_after(classifier):
    """What such a column says later has no weight, since no row taught one."""
    X, y = blobs()
    X = np.column_stack([X, np.full(len(y), 3.0)])
    classifier = clone(classifier).fit(X, y)
    other = X.copy()
    other[:, -1] = 1e6
    np.testing.assert_array_equal(
        classifier.decision_function(other), classifier.decision_function(X)
    )


@every_classifier
def test_collinear_columns_work(classifier):
    """Copies, sums and multiples of columns."""
    X, y = blobs()
    X = np.column_stack([X, X, X[:, 0] + X[:, 1], 1e3 * X[:, 2], -X[:, 3]])
    classifier = clone(classifier).fit(X, y)
    assert_sane(classifier, X)
    assert (classifier.predict(X) == y).mean() > 0.9


# -------------------------------------------------------------------- units and origins

SCALED = {
    "default": DEFAULT,
    "quantile": EEMClassifier(30, random_state=0),
    "standard": EEMClassifier(30, activation="relu", scale="standard", random_state=0),
    "minmax": EEKMClassifier(30, kernel="polynomial", scale="minmax", random_state=0),
    "laplacian": EEKMClassifier(30, kernel="laplacian", random_state=0),
}
every_scale = pytest.mark.parametrize("classifier", SCALED.values(), ids=SCALED)


def assert_unmoved(classifier, X, moved, y):
    """Labels, and decisions to 1e-6 of their scale, are the same in both units."""
    train = np.arange(len(y)) % 3 > 0
    ours = clone(classifier).fit(moved[train], y[train])
    theirs = clone(classifier).fit(X[train], y[train])
    a, b = ours.decision_function(moved), theirs.decision_function(X)
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-6 * abs(b).max())
    np.testing.assert_array_equal(ours.predict(moved), theirs.predict(X))


@every_scale
def test_shifted_and_rescaled_columns_change_nothing(classifier):
    """Units between 1e-3 and 1e3 and any origin give the same predictions."""
    X, y = blobs(n=300, d=5, gap=0.8)
    rng = np.random.default_rng(0)
    unit, origin = 10 ** rng.uniform(-3, 3, 5), rng.normal(size=5) * 100
    assert_unmoved(classifier, X, X * unit + origin, y)


@every_scale
def test_counts_in_other_units_change_nothing(classifier):
    """Integers, whose many ties lie on a lattice, in tenths or in dozens."""
    rng = np.random.default_rng(4)
    y = np.arange(300) % 2
    X = rng.poisson(3 + 2 * y[:, None], size=(300, 5)).astype(float)
    assert_unmoved(classifier, X, X * [0.1, 12, 1e-3, 7, 1 / 3] + [5, -0.1, 0, 1e3, 1], y)


@every_scale
def test_tiny_and_huge_columns_predict_as_after_rescaling(classifier):
    """Scales near 1e-8 and 1e8, as powers of two so that the units are exact."""
    X, y = blobs(n=300, d=5, gap=0.8)
    assert_unmoved(classifier, X, X * [2.0**-27, 2.0**27, 1, 2.0**27, 2.0**-27], y)


@every_scale
@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_decimal_scales_predict_as_after_rescaling(classifier, scale):
    """1e-8 and 1e8 themselves round each value, and nobody notices."""
    X, y = blobs(n=300, d=5, gap=0.8)
    assert_unmoved(classifier, X, X * scale, y)


@every_scale
def test_far_off_origins_predict_as_after_centring(classifier):
    """The digits that an offset of 1e8 leaves are all used: none is lost in the sums."""
    X, y = blobs(n=300, d=5, gap=0.8)
    far = X + 1e8
    near = far - 1e8  # exactly: the same digits about zero
    assert_unmoved(classifier, near, far, y)


@every_scale
def test_far_off_origins_and_odd_units_together(classifier):
    """A table as it comes: dates in seconds, lengths in nanometres, money in cents."""
    X, y = blobs(n=300, d=5, gap=0.8)
    unit, origin = np.array([1e8, 1e-8, 1, 1e8, 1e-8]), np.array([1e8, 0, 1e8, 0, 1e-8])
    table = X * unit + origin
    assert_unmoved(classifier, (table - origin) / unit, table, y)


@every_classifier
def test_columns_from_the_smallest_to_the_largest_numbers_work(classifier):
    """Nothing under- or overflows into NaN."""
    X, y = blobs()
    X = X * [1e-300, 1e-150, 1e100, 1e150]
    classifier = clone(classifier).fit(X, y)
    assert_sane(classifier, X)
    assert (classifier.predict(X) == y).mean() > 0.9


@every_classifier
def test_rows_far_from_all_that_was_learnt_get_an_answer(classifier):
    """A row of 1e6 or −1e6 in every column is classified without overflow."""
    X, y = blobs()
    assert_sane(clone(classifier).fit(X, y), np.array([[1e6] * 4, [-1e6] * 4, [0.0] * 4]))


# -------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("spoil", "parts"),
    [
        (lambda X, y: (np.where(X > 2, np.inf, X), y), ["contains infinity"]),
        (lambda X, y: (far_apart(X), y), ["range", "finite", "range is inf", "Rescale"]),
        (lambda X, y: (X, np.zeros_like(y)), ["only one class, 0", "needs two", "stratified"]),
        (lambda X, y: (X, y + 0.5 * X[:, 0]), ["Unknown label type", "continuous"]),
        (lambda X, y: (X, np.where(y, np.nan, 0.0)), ["NaN"]),
    ],
    ids=["inf", "overflow", "one class", "regression", "NaN label"],
)
def test_what_cannot_be_learnt_is_refused_in_words(spoil, parts):
    """The error says what must hold, what came and what to do."""
    X, y = spoil(*blobs())
    with pytest.raises(ValueError, match=parts[0]) as error:
        clone(DEFAULT).fit(X, y)
    assert all(part in str(error.value) for part in parts)


@pytest.mark.parametrize("value", [-np.inf, np.inf])
def test_questions_must_be_finite_too(value):
    """Infinities are refused when predicting, not answered."""
    X, y = blobs()
    classifier = clone(DEFAULT).fit(X, y)
    X[3, 1] = value
    with pytest.raises(ValueError, match="infinity"):
        classifier.predict(X)


def test_a_third_label_in_a_binary_classifier_is_refused():
    """Three rows with three labels: the error names the classes, the stranger and the cure."""
    X, y = blobs()
    classifier = clone(DEFAULT).fit(X, y)
    for verb in (classifier.partial_fit, classifier.forget, classifier.twin().fit):
        with pytest.raises(InputError, match=r"\[0, 1\].*also holds \[7\].*Pass all `classes`"):
            verb(X[:3], [0, 1, 7])


def test_negative_weights_are_refused_in_words():
    """The error says what must hold, the least weight and where to take rows out."""
    X, y = blobs()
    weight = np.ones(len(y))
    weight[5] = -2
    with pytest.raises(InputError, match=r"must not be negative; the least is -2.*forget"):
        clone(DEFAULT).fit(X, y, sample_weight=weight)


def test_weights_that_leave_nothing_are_refused_in_words():
    """All weights zero is no table; one class weighted away is one class."""
    X, y = blobs()
    with pytest.raises(InputError, match="must be positive; all are zero"):
        clone(DEFAULT).fit(X, y, sample_weight=np.zeros(len(y)))
    with pytest.raises(InputError, match="only one class, 1"):
        clone(DEFAULT).fit(X, y, sample_weight=y.astype(float))
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        clone(DEFAULT).fit(X, y, sample_weight=np.where(y, np.nan, 1))


@quiet
@every_classifier
@pytest.mark.parametrize("size", [1e-150, 1e-9, 1e9, 1e100])
def test_weights_of_any_size_are_shares(classifier, size):
    """Tiny and huge weights neither overflow nor vanish."""
    X, y = blobs()
    classifier = clone(classifier).fit(X, y, sample_weight=np.full(len(y), size))
    assert_sane(classifier, X)
    assert (classifier.predict(X) == y).mean() > 0.9


@pytest.mark.parametrize("unit", [1e-310, 1e-320])
@pytest.mark.parametrize("scale", ["minmax", "standard", "quantile", None])
def test_columns_narrower_than_numbers_can_invert_are_refused(unit, scale):
    """One over such a range is infinite: the error says so, instead of answers that are none."""
    X, y = blobs()
    X[:, 0] *= unit
    for classifier in (EEMClassifier(10, scale=scale), EEKMClassifier(10, scale=scale)):
        with pytest.raises(InputError, match=r"range of a column.*Multiply"):
            classifier.fit(X, y)


@pytest.mark.parametrize("weight", [1e155, 1e300])
def test_weights_whose_squares_are_no_numbers_are_refused(weight):
    """Only their ratios matter, so the cure is to divide them."""
    X, y = blobs()
    with pytest.raises(InputError, match=r"weights.*Divide"):
        EEMClassifier(10).fit(X, y, sample_weight=np.full(len(y), weight))


@pytest.mark.parametrize("as_blocks", [False, True], ids=["memory", "Dask"])
@pytest.mark.parametrize("far", [[1e7], [1e30], [1e60, 1e30, 1e12]], ids=lambda far: f"{far[0]:g}")
def test_far_off_rows_leave_the_others_apart(far, as_blocks, rng):
    """They take up all bins of the hash but a few; the others must not be taken for one row."""
    X = rng.normal(size=(600, 5))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    plain = clone(DEFAULT).fit(X[:400], y[:400])
    X[: len(far)] *= np.array(far)[:, None]
    given = X[:400], y[:400]
    if as_blocks:
        da = pytest.importorskip("dask.array")
        given = tuple(da.from_array(part, chunks=(100, *part.shape[1:])) for part in given)
    spoilt = clone(DEFAULT).fit(*given)
    assert spoilt.score(X[400:], y[400:]) > plain.score(X[400:], y[400:]) - 0.05
    assert spoilt.summary_.counts.min() > 20  # all folds have rows
    assert len(np.unique(spoilt.feature_map_.content(X[len(far) : 400]))) == 400 - len(far)


def test_rows_that_are_repeated_keep_the_coarse_hash(rng):
    """Which rounding and other units leave alone; a finer one would tell no more rows apart."""
    X = rng.integers(0, 2, (300, 4)).astype(float)
    fitted = EEMClassifier(10, random_state=0).fit(X, X[:, 0] > 0)
    assert fitted.feature_map_.content.per_unit.max() <= 2**16
