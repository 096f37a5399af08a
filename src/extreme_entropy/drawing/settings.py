"""Numbers that shape how φ is drawn, which users do not choose; those they do choose are in a
specification.

A classifier draws by its class attribute `settings`; a subclass, or a test, may have others.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..features.feature_settings import FEATURES, FeatureSettings


@dataclass(frozen=True, slots=True)
class RelevanceSettings:
    """How much columns count (`relevance.py`)."""

    class_rows: int = 1000  # of each class, that it is learned from
    landmarks: int = 300
    # Rows of each class at which gradients are taken: fewer, but not below the fewest, where
    # operators × rows × columns would exceed what memory allows.
    gradient_rows: int = 300
    fewest_gradient_rows: int = 20
    gradient_numbers: int = 2**24
    # What weights gain, in standard errors of the separation of held-out rows: from the first on
    # they are used, beside a part that takes all columns alike; from the second on, alone.
    used_gain: float = 0.5
    alone_gain: float = 2.0
    least_weight: float = 1e-3  # of the largest: columns that count for less are left out


@dataclass(frozen=True, slots=True)
class TreeSettings:
    """Where rows are cut into leaves (`growing.py`)."""

    # (classes, landmarks of a table that is not cut, and of a leaf): for up to so many classes,
    # since h³ operations are for each pair of them.
    landmarks: tuple[tuple[float, int, int], ...] = (
        (6, 700, 400),
        (12, 500, 300),
        (float("inf"), 300, 200),
    )
    leaf_rows: int = 2048  # on average
    fewest_leaves: int = 4  # a table of fewer is not cut
    # From so many rows on, a smaller kernel layer alone stands beside the leaves: a layer of all
    # rows costs as much for each row as they do.
    very_many_rows: int = 2**16
    landmarks_beside: int = 250
    most_numbers: int = 2**26  # in the sums of all leaves: half a GiB
    most_sampled: int = 2**23  # numbers in the rows that trees are grown from
    most_class_rows: int = 2**14
    # Columns that are compared in a node: so many of those tried, with such a share of the largest
    # weight. On either side of a cut there must be such a share of the sampled rows, and so many
    # rows of two classes at least, some of which were sampled.
    candidates: int = 3
    tried_columns: int = 20
    least_weight: float = 0.2
    least_share: float = 0.2
    fewest_class_rows: int = 80
    fewest_sampled: int = 40
    compared_rows: int = 400  # of each class, on either side of a cut
    compared_landmarks: int = 150
    most_classes: int = 6  # the largest in a node, by which cuts and weights are judged
    # Weights of the columns in a node, from so many rows of each class; each column starts with a
    # share of the mean square.
    node_rows: int = 800
    node_landmarks: int = 200
    node_gradient_rows: int = 200
    node_ridge: float = 0.1  # of tr(Σ)/h
    least_square: float = 0.1


@dataclass(frozen=True, slots=True)
class HeldSettings:
    """Rows that are kept with φ, and that probabilities are fitted on."""

    rows: int = 2000  # of each class
    fewest: int = 200  # of each, however many classes there are
    numbers: int = 2**23  # log-odds of pairs of classes, of all held rows in a tree
    # Where a class has so many times as many sampled rows as held ones, those take no other part.
    many_times: float = 3.0


@dataclass(frozen=True, slots=True)
class DrawingSettings:
    """All that drawing φ goes by."""

    many_rows: float = 10_000  # from which on a faster φ is worth moving landmarks (`codes.py`)
    # Distinct rows to see how often rows are repeated; repeats of each on average from which on a
    # finer hash may tell some apart; and the share of rows with one hash that asks for it.
    enough_rows: int = 1024
    repeats: float = 1.5
    majority: float = 0.5
    features: FeatureSettings = FEATURES
    relevance: RelevanceSettings = RelevanceSettings()
    trees: TreeSettings = TreeSettings()
    held: HeldSettings = HeldSettings()


DRAWING = DrawingSettings()
