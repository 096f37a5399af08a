"""The laws that sums over rows keep, for tests to ask for: equal summaries, equal decisions."""

from dataclasses import fields

import numpy as np

from extreme_entropy.features.feature_map import same
from extreme_entropy.moments.step_sums import StepSums


def arrays_in(sums):
    """All arrays and numbers that sums are made of, in order."""
    if isinstance(sums, np.ndarray | float):
        yield np.asarray(sums)
        return
    parts = sums if isinstance(sums, tuple) else (getattr(sums, f.name) for f in fields(sums))
    for part in parts:
        yield from arrays_in(part)


def numbers(classifier):
    """What each leaf keeps by class and fold, with the scale of each number of all folds.

    They are n, m, S, t and q, or n, G and b.
    """
    for moments in classifier.summary_.leaves:
        if isinstance(moments, StepSums):
            yield moments.counts, moments.counts.sum()
            yield moments.squares, moments.squares.sum()
            yield moments.gram, np.trace(moments.gram.sum(axis=0))
            yield moments.target, moments.counts.sum() + abs(moments.target).max()
            continue
        for c, row in enumerate(moments.cells):
            whole = moments.totals[c]
            spread = np.sqrt(np.trace(whole.scatter) / max(whole.n, 1))
            cubic = whole.quartic**0.75 * whole.n**0.25
            for cell in row:
                yield cell.n, whole.n
                yield cell.mean, np.linalg.norm(whole.mean) + spread
                yield cell.scatter, np.trace(whole.scatter)
                yield cell.cubic, cubic
                yield cell.quartic, whole.quartic


def assert_same_decisions(ours, theirs, X):
    """Decision values to 1e-6 of their scale."""
    a, b = ours.decision_function(X), theirs.decision_function(X)
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-6 * abs(b).max())


def assert_same_sums(ours, theirs, X):
    """Equal summaries to 1e-12 of their scale, and equal decisions."""
    for (a, _), (b, scale) in zip(numbers(ours), numbers(theirs), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-12 * scale)
    assert_same_decisions(ours, theirs, X)


def assert_same_machine(ours, theirs, X):
    """The same φ, equal summaries and equal decisions."""
    assert same(ours.feature_map_, theirs.feature_map_)
    assert_same_sums(ours, theirs, X)
