"""Sampled rows in the dual: a penalised logistic regression, and what it is with rows left out.

The model is a Gaussian process of the log-odds with the covariance

    C = A/λ_a + K/λ_k + c·11ᵀ,    K(x, x') = exp(−r‖(z − z')∘v‖₁ / median)

where A holds the inner products of codes (`features/additive.py`) and v are weights of columns.
With the weights w (`moments/logistic.py`) and the working responses u of Newton's method, the dual
coefficients are a = (C + W⁻¹)⁻¹u, where a row that occurred n times has the weight n·w. The
log-odds of other rows x are C(x, ·)a.

Each fold of rows is predicted by a fit to the others, which judges one choice of v, r, λ_a and λ_k.
Leaving out single rows by a formula takes longer and gains nothing with two classes. With more, W
bounds the curvature from above; a row would seem to count less in its own log-odds than it does,
and the narrowest kernel would look best even if labels are random.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.distance import pdist, squareform

from ..moments.logistic import log_losses, probabilities, weights_of
from .settings import DualSettings

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class DualRows:
    """Scaled rows of all classes, with their targets."""

    Z: Array
    targets: Array  # shares of the second class, or of each class   (n, 1 or classes)
    counts: Array  # how many rows each is worth

    def at(self, rows: Array) -> DualRows:
        """Some of them."""
        return DualRows(self.Z[rows], self.targets[rows], self.counts[rows])

    @property
    def prior(self) -> Array:
        """Log-odds of the classes, smoothed   (outputs,)."""
        n = self.counts @ self.targets + 0.5
        if len(n) == 1:
            return np.log(n / (self.counts @ (1 - self.targets) + 0.5))
        return np.log(n / n.sum())


class Choice(NamedTuple):
    """How a leaf sees rows, and how smooth it is."""

    weighting: int  # which weights of columns in the kernel, of those that are tried
    radial: bool  # whether the kernel is exp(−r d²) with Euclidean d, not exp(−r d) with ‖·‖₁
    rate: float  # r, over the median of d² or d
    additive: float  # λ_a
    kernel: float  # λ_k


class Stepped(NamedTuple):
    """Rows after a step of Newton's method."""

    coefficients: Array  # a   (n, outputs)
    odds: Array  # (n, outputs)


class Judged(NamedTuple):
    """What a choice is worth."""

    losses: Array  # −ln p of each row left out
    odds: Array  # of all rows, by the fit without each fold   (folds, n, outputs)


@dataclass(slots=True)
class Dual:
    """Sampled rows, and what several choices have in common."""

    rows: DualRows
    weightings: Sequence[Array]  # weights of columns that may be chosen
    settings: DualSettings
    additive: Array  # A
    distances: dict[tuple[int, bool], tuple[Array, float]]  # and their median, when asked for
    kernels: dict[tuple[int, bool, float], Array]

    @classmethod
    def of(
        cls,
        rows: DualRows,
        additive: Callable[[Array], Array],
        weightings: Sequence[Array],
        settings: DualSettings,
    ) -> Dual:
        """With inner products of the additive part, taken about its means."""
        coded = additive(rows.Z)
        coded -= coded.mean(axis=0)
        return cls(rows, weightings, settings, coded @ coded.T, {}, {})

    def half(self, at: Array) -> Dual:
        """Some of the rows, with the same distances and the same scale; for one weighting."""
        both, (between, median) = np.ix_(at, at), self.measured(0, False)
        distances = {(0, False): (between[both], median)}
        rows, additive = self.rows.at(at), self.additive[both]
        return Dual(rows, self.weightings, self.settings, additive, distances, {})

    def measured(self, weighting: int, radial: bool) -> tuple[Array, float]:
        """Distances between rows with columns weighted so, and the median of positive ones."""
        key = weighting, radial
        if key not in self.distances:
            self.distances[key] = distances_of(self.rows.Z * self.weightings[weighting], radial)
        return self.distances[key]

    def kernel(self, choice: Choice) -> Array:
        """K of all rows."""
        key = choice.weighting, choice.radial, choice.rate
        if key not in self.kernels:
            between, median = self.measured(choice.weighting, choice.radial)
            self.kernels[key] = np.exp(between * (-choice.rate / median))
        return self.kernels[key]

    def covariance(self, choice: Choice) -> Array:
        """C of all rows."""
        C = self.additive / choice.additive
        C += self.kernel(choice) / choice.kernel
        C += self.settings.constant_variance
        return C

    def judged(self, choice: Choice, odds: Array) -> Judged:
        """The choice after a step from the log-odds of each fit without a fold."""
        C, rows = self.covariance(choice), self.rows
        after = np.empty(odds.shape)
        fold_of = np.arange(len(C)) % len(odds)
        for fold, start in enumerate(odds):
            rest, left = np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)
            inside = rows.targets[rest], rows.counts[rest], start[rest]
            stepped = step(C[np.ix_(rest, rest)], *inside, self.settings)
            after[fold, rest] = stepped.odds
            after[fold, left] = C[np.ix_(left, rest)] @ stepped.coefficients
        left_out = after[fold_of, np.arange(len(C))]
        return Judged(log_losses(left_out, rows.targets), after)

    def fitted(self, choice: Choice) -> Judged:
        """The choice after some steps from the log-odds of the classes."""
        folds = min(self.settings.folds, len(self.rows.Z))
        odds = np.broadcast_to(self.rows.prior, (folds, *self.rows.targets.shape))
        for _ in range(self.settings.steps):
            judged = self.judged(choice, odds)
            odds = judged.odds
        return judged

    def coefficients(self, choice: Choice) -> Array:
        """a of all rows, after some steps from the log-odds of the classes."""
        C, odds = self.covariance(choice), np.broadcast_to(self.rows.prior, self.rows.targets.shape)
        for _ in range(self.settings.steps):
            a, odds = step(C.copy(), self.rows.targets, self.rows.counts, odds, self.settings)
        return a


def step(C: Array, targets: Array, counts: Array, odds: Array, settings: DualSettings) -> Stepped:
    """A step of Newton's method of rows from some log-odds; their covariance C is overwritten.

    With more than two classes an upper bound stands for the curvature, which makes steps short:
    several of them share a factorisation.
    """
    odds = np.clip(odds, -settings.most_odds, settings.most_odds)
    w = np.maximum(weights_of(probabilities(odds)), settings.least_weight)[:, np.newaxis]
    upon = 1 / (w * counts[:, np.newaxis])
    C.flat[:: len(C) + 1] += upon[:, 0]
    factor = cho_factor(C, lower=True, overwrite_a=True, check_finite=False)
    for _ in range(1 if odds.shape[1] == 1 else settings.short_steps):
        responses = odds + (targets - probabilities(odds)) / w
        a = cho_solve(factor, responses, check_finite=False)
        odds = responses - a * upon
    return Stepped(a, odds)


def best_choice(duals: Sequence[Dual], first: Choice) -> Choice:
    """The choice that best predicts rows left out of each, found step by step from the first.

    All are judged from the same log-odds, so each takes one step of each.
    """
    settings = duals[0].settings
    counts = np.concatenate([dual.rows.counts for dual in duals])
    if counts.sum() < settings.rows:  # all rows there are
        settings = replace(settings, least_kernel=settings.least_kernel_of_few)
    fitted = [dual.fitted(first) for dual in duals]
    best, losses = first, np.concatenate([judged.losses for judged in fitted])
    tried = {best}
    for _ in range(settings.rounds):
        start = best
        for direction in range(settings.n_steps + len(duals[0].weightings)):
            choice = stepped(best, direction, settings)
            if choice not in tried:
                tried.add(choice)
                judged = zip(duals, fitted, strict=True)
                found = np.concatenate([dual.judged(choice, f.odds).losses for dual, f in judged])
                turned = choice.radial != best.radial
                least = settings.least_radial_gain if turned else settings.least_gain
                if is_better(found, losses, counts, least, settings.standard_errors):
                    best, losses = choice, found
        if best == start:
            break
    return best


def is_better(
    losses: Array, than: Array, counts: Array, least_gain: float, standard_errors: float
) -> bool:
    """Whether losses are smaller by a share of them, and by more than standard errors."""
    total, gains = counts.sum(), than - losses
    gain = float(counts @ gains / total)
    error = standard_errors * np.sqrt(counts @ (gains - gain) ** 2) / total
    return gain > max(least_gain * float(counts @ than / total), error)


def stepped(choice: Choice, direction: int, settings: DualSettings) -> Choice:
    """A step from a choice: another penalty, another width, other weights of columns."""
    by, least_kernel, least_additive = (
        settings.penalty_step,
        settings.least_kernel,
        settings.least_additive,
    )
    match direction:
        case 0:
            return choice._replace(kernel=choice.kernel * by)
        case 1:
            return choice._replace(kernel=max(choice.kernel / by, least_kernel))
        case 2:
            return choice._replace(additive=choice.additive * by)
        case 3:
            return choice._replace(additive=max(choice.additive / by, least_additive))
        case 4:
            return choice._replace(rate=choice.rate * settings.rate_step)
        case 5:
            return choice._replace(rate=choice.rate / settings.rate_step)
        case 6:
            return choice._replace(radial=not choice.radial)
    return choice._replace(weighting=direction - settings.n_steps)


def distances_of(rows: Array, radial: bool) -> tuple[Array, float]:
    """L1 or squared distances between rows, and the median of positive ones; 1 if none is."""
    rows = rows[:, np.ptp(rows, axis=0) > 0]  # of sparse columns, few
    between = pdist(rows, "sqeuclidean" if radial else "cityblock")
    positive = between[between > 0]
    return squareform(between), float(np.median(positive)) if len(positive) else 1.0


def column_weights(
    rows: DualRows, additive: Callable[[Array], Array], settings: DualSettings
) -> Array:
    """How much each column counts in the kernel; the mean square of the weights is 1   (d,).

    Their squares are the mean over rows of ∇f_A∘∇f_B, where f_A and f_B are the kernel's parts of
    the log-odds fitted on two halves of the rows: what either owes to chance averages out. A second
    round sees columns weighted by the first; both count equally. It is a recursive feature machine
    (Radhakrishnan et al., 2024) with two halves in place of one fit.
    """
    d = rows.Z.shape[1]
    if len(rows.Z) < 2:
        return np.ones(d)
    halves = [np.arange(i, len(rows.Z), 2) for i in range(2)]
    weights, squares = np.ones(d), np.zeros(d)
    choice = Choice(0, False, settings.gradient_rate, *settings.first[1:])
    for _ in range(settings.gradient_rounds):
        seen, whole = rows.Z * weights, Dual.of(rows, additive, [weights], settings)
        kernel, slopes = whole.kernel(choice), []
        for half in halves:
            a = whole.half(half).coefficients(choice)
            slopes.append(_slopes(seen, seen[half], kernel[:, half], a))
        products = (np.einsum("nm,nm,n", A, B, rows.counts) for A, B in zip(*slopes, strict=True))
        v = np.maximum(np.fromiter(products, float, d) * weights**2, 0.0)
        v = v / v.mean() if v.any() else np.ones(d)
        weights, squares = np.sqrt(v), squares + v
    return np.sqrt(squares / settings.gradient_rounds)


def _slopes(seen: Array, centres: Array, kernel: Array, a: Array) -> Iterator[Array]:
    """−∂/∂z of K a at rows, without the factor of the rate, by each column   (n, outputs)."""
    # In single precision, which is enough for weights of columns.
    seen, centres, kernel, a = (x.astype(np.float32) for x in (seen, centres, kernel, a))
    signed = np.empty_like(kernel)
    for column in range(seen.shape[1]):
        np.subtract(seen[:, column, np.newaxis], centres[:, column], out=signed)
        np.sign(signed, out=signed)
        signed *= kernel
        yield (signed @ a).astype(np.float64)
