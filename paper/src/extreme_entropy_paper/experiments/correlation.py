"""Table 1: is the last term of D_CS as good as the whole? Spearman's correlation of the two.

    D_CS = ln(½(S₊+S₋) / √(S₊S₋)) + t,      t = (m₊−m₋)² / (S₊+S₋)

The paper says "hundred random projections to H and hundred random linear operators β" and no more.
Our choices for the table: rows scaled to [0, 1]; neurons rbf, the paper's where it needs but one
kind, with weights and biases uniform on [0, 1]; β standard normal, so that no direction is
favoured; plain means and variances; one correlation over all 100 × 100 pairs, since at h = 1 every
β of a map gives the same pair. The maps to fewer dimensions are the first neurons of the largest.
Of sets with more than MOST_ROWS rows a stratified sample of so many is taken. Pairs without spread
(saturated neurons) are left out.

Other FORMS of D_CS are kept beside it, to show how near each comes to what is printed:

    plain           D_CS of the two Gaussians
    within maps     the same, correlated within each map and averaged over maps
    printed sign    t − ln(…), as equation (4) of the paper has it
    Ledoit–Wolf     S± = βᵀΣ±β with the shrunk covariances of the machine
    class sizes     m± weighted by the share of their class, S± about the origin: what sums over
                    all rows would give that are not divided by the class and not centred
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.stats import spearmanr
from sklearn.covariance import ledoit_wolf
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler
from threadpoolctl import threadpool_limits

from ..datasets import list_datasets
from ..neurons import PaperNeurons
from ..store import Row
from .jobs import Array, Job, data_of

PREFIX = "D_CS "
ACTIVATIONS = ("rbf", "linear", "nsig", "sig")
MODELS = tuple(PREFIX + activation for activation in ACTIVATIONS)
OPERATORS = ("normal", "uniform")
FORMS = ("plain", "within maps", "printed sign", "ledoit-wolf", "class sizes")
SIZES = (1, 10, 100, 200, 500)
N_MAPS = 100
N_OPERATORS = 100
MOST_ROWS = 5_000


def plan(
    datasets: Sequence[str], models: Sequence[str], repeats: int
) -> Iterator[tuple[Job, str | None]]:
    """One job for each data set and activation: all sizes and forms share its maps."""
    about = {dataset.name: dataset for dataset in list_datasets()}
    settings = tuple({"h": h, "operators": kind} for h in SIZES for kind in OPERATORS)
    for model in models:
        for name in sorted(datasets, key=lambda name: about[name].rows):
            yield Job(name, model, 0, 0, settings), None


def work(job: Job) -> list[Row]:
    """A row for each size and kind of operators, with the correlation of each form."""
    X, y = sample(*data_of(job.dataset))
    with threadpool_limits(1):
        found = correlations(X, y > 0, job.model.removeprefix(PREFIX))
    return [
        {
            **job.about(setting),
            "correlations": found[setting["h"], setting["operators"]],
            "maps": N_MAPS,
            "rows": len(y),
            "seed": 0,
        }
        for setting in job.settings
    ]


def sample(X: Array, y: Array) -> tuple[Array, Array]:
    """All rows, or a stratified sample of the most that are taken."""
    if len(y) <= MOST_ROWS:
        return X, y
    X, _, y, _ = train_test_split(X, y, train_size=MOST_ROWS, stratify=y, random_state=0)
    return X, y


def correlations(
    X: Array,
    positive: Array,
    activation: str,
    sizes: Sequence[int] = SIZES,
    n_maps: int = N_MAPS,
) -> dict[tuple[int, str], dict[str, float | None]]:
    """By size and kind of operators, the correlation of each form."""
    Z = MinMaxScaler().fit_transform(X)
    pairs: dict[tuple[int, str, str], list[tuple[Array, Array]]] = {}
    for number in range(n_maps):
        rng = np.random.default_rng([0, number])
        H = PaperNeurons.draw(activation, max(sizes), Z.shape[1], rng)(Z)
        for h in sizes:
            classes = [H[positive, :h], H[~positive, :h]]
            B = np.hstack([_operators(kind, h, rng) for kind in OPERATORS])
            for form, both in forms(classes, B).items():
                for kind, (whole, term) in zip(OPERATORS, _halves(*both), strict=True):
                    pairs.setdefault((h, kind, form), []).append((whole, term))
    return {
        (h, kind): {form: _spearman(pairs, h, kind, form) for form in FORMS}
        for h in sizes
        for kind in OPERATORS
    }


def _operators(kind: str, h: int, rng: np.random.Generator) -> Array:
    shape = h, N_OPERATORS
    return rng.standard_normal(shape) if kind == "normal" else rng.random(shape)


def _halves(whole: Array, term: Array) -> Iterator[tuple[Array, Array]]:
    """The pairs of each kind of operators."""
    return zip(np.split(whole, 2), np.split(term, 2), strict=True)


def forms(classes: list[Array], B: Array) -> dict[str, tuple[Array, Array]]:
    """D_CS and t of each operator, of each form that is not an average over maps."""
    means = np.array([rows.mean(axis=0) @ B for rows in classes])
    plain, shrunk = (
        np.array(each) for each in zip(*(_variances(rows, B) for rows in classes), strict=True)
    )
    shares = np.array([[len(rows)] for rows in classes]) / sum(map(len, classes))
    ratio, term = terms(means, plain)
    return {
        "plain": (ratio + term, term),
        "printed sign": (term - ratio, term),
        "ledoit-wolf": _both(means, shrunk),
        "class sizes": _both(shares * means, plain + means**2),
    }


def _variances(rows: Array, B: Array) -> tuple[Array, Array]:
    """βᵀ cov β of each operator, and βᵀΣβ with the Σ of Ledoit and Wolf."""
    cov = np.cov(rows, rowvar=False, bias=True).reshape(len(B), len(B))
    return tuple(np.einsum("ij,ij->j", B, S @ B) for S in (cov, ledoit_wolf(rows)[0]))


def _both(means: Array, variances: Array) -> tuple[Array, Array]:
    ratio, term = terms(means, variances)
    return ratio + term, term


def terms(means: Array, variances: Array) -> tuple[Array, Array]:
    """ln(½(S₊+S₋)/√(S₊S₋)) and (m₊−m₋)²/(S₊+S₋); no number where there is no spread."""
    total = variances.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(total / 2) - np.log(variances).sum(axis=0) / 2
        return ratio, (means[0] - means[1]) ** 2 / total


def _spearman(
    pairs: dict[tuple[int, str, str], list[tuple[Array, Array]]], h: int, kind: str, form: str
) -> float | None:
    """Over all pairs, or within maps; None where nothing varies."""
    if form == "within maps":
        if h == 1:  # every operator gives the same pair
            return None
        each = [spearman(*both) for both in pairs[h, kind, "plain"]]
        found = [value for value in each if value is not None]
        return round(float(np.mean(found)), 4) if found else None
    whole, term = map(np.concatenate, zip(*pairs[h, kind, form], strict=True))
    value = spearman(whole, term)
    return None if value is None else round(value, 4)


def spearman(a: Array, b: Array) -> float | None:
    """Spearman's rank correlation of the finite pairs; None where one of them does not vary."""
    finite = np.isfinite(a) & np.isfinite(b)
    a, b = a[finite], b[finite]
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return None
    return float(spearmanr(a, b).statistic)
