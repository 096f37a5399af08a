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
class DualSettings:
    """How what a leaf sees is chosen on rows left out (`dual.py`).

    The first choice, steps and bounds were set on 75 tables (`paper/docs/field.md`), where twice
    as many rows, finer steps or more rounds gained nothing, and 256 rows were worse.
    """

    rows: int = 400  # of two classes together; each further class adds some, up to a maximum
    rows_of_class: int = 40
    most_rows: int = 1000
    many_rows: int = 30_000  # of a table, beside whose sums a choice on more rows costs little
    rows_of_many: int = 1000
    leaves: int = 4  # by which the choice for all leaves is made, and rows of each
    leaf_rows: int = 800
    steps: int = 3  # of Newton's method, before choices are compared
    short_steps: int = 6  # that replace each of them with more than two classes
    folds: int = 3  # of rows left out together
    most_odds: float = 8.0  # beyond this, rows would hardly count in the next step
    least_weight: float = 1e-4  # w of rows that are certain
    constant_variance: float = 100.0
    # (rate over the median distance, λ_a, λ_k), and steps from there.
    first: tuple[float, float, float] = (2.0, 1.0, 1.0)
    n_steps: int = 7  # not counting those for the weights of columns
    penalty_step: float = 5.0
    rate_step: float = 2.0
    rounds: int = 2
    # Smaller penalties were only ever chosen by chance: in tables that do not fill the sample,
    # this was so of a larger one, too.
    least_additive: float = 0.3
    least_kernel: float = 0.02
    least_kernel_of_few: float = 0.1
    # What a step must gain: a share of the loss, and standard errors of the gain. With none, or
    # with one and a half, losses on other rows were larger.
    least_gain: float = 3e-3
    standard_errors: float = 1.0
    least_radial_gain: float = 0.05  # the same for the other kernel
    # For the weights of columns: rounds, the rate of the kernel, most rows × rows × columns.
    gradient_rounds: int = 2
    gradient_rate: float = 1.0
    gradient_numbers: float = 2.0**24
    fewest_gradient_rows: int = 60
    # Columns in the kernel of a table too wide for codes, unless its rows are few.
    wide_columns: int = 100


@dataclass(frozen=True, slots=True)
class PilotSettings:
    """How the pilots of leaves are fitted (`pilot.py`)."""

    class_rows: int = 2000  # of each class, in a table that is not cut
    # What sampled rows are worth at the most, on average: with more, rounding would choose.
    most_worth: float = 1e6
    most_steps: int = 25  # each with one factorisation
    short_steps: int = 20  # that share a factorisation, with more than two classes
    least_step: float = 1e-4  # down to which a step is halved until it gains
    least_gain: float = 1e-2  # of the loss, times the root of the rows: the sums take another step
    least_share: float = 0.1  # of this, that a step must gain if others are to follow it
    least_weight: float = 1e-9


@dataclass(frozen=True, slots=True)
class EffectSettings:
    """How effects of single columns vary (`effects.py`)."""

    knots: int = 12  # of a column, at the most
    distinct: int = 24  # values of a column that may all be knots
    # ρ, the share of a line. From 0.6 to 0.95 made no difference on the open tables of
    # `paper/docs/field.md`; less lost where the truth is straight in many columns.
    straight: float = 0.8
    # Up to so many columns have at least one code each. More have a linear kernel instead, on so
    # many landmarks; in tables of few rows that are all landmarks, as soon as codes do not suffice.
    wide: int = 1000
    wide_rows: int = 300


@dataclass(frozen=True, slots=True)
class TreeSettings:
    """How large the default's φ becomes, and where rows are cut into leaves (`cutting.py`)."""

    # Landmarks of a table that is not cut, of one with many rows, of one with more than two
    # classes (which share one matrix, so that landmarks cost little), and of a leaf; codes of all
    # columns together.
    landmarks: int = 300
    many_landmarks: int = 400
    landmarks_of_classes: int = 800
    many_rows: int = 10_000
    leaf_landmarks: int = 400
    codes: int = 200
    many_codes: int = 400
    very_many_rows: int = 50_000
    leaf_codes: int = 120
    leaf_rows: int = 4096  # on average
    leaf_class_rows: int = 150  # of the rarest class, on average
    fewest_leaves: int = 16  # a table that would have fewer is not cut
    most_numbers: int = 2**26  # in the sums of all leaves: half a GiB
    most_sampled: int = 2**23  # numbers in the rows that trees are grown from
    most_class_rows: int = 2**14
    # Each side of a cut must have at least this share of the sampled rows, and about this many rows
    # of each of two classes.
    least_share: float = 0.2
    fewest_class_rows: float = 40.0
    fewest_sampled: int = 100
    most_tried: int = 20  # columns


@dataclass(frozen=True, slots=True)
class HeldSettings:
    """Rows that are kept with φ to calibrate probabilities."""

    rows: int = 2000  # of each class
    fewest: int = 200  # of each, however many classes there are
    numbers: int = 2**23  # logits of all classes, for all held rows


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
    dual: DualSettings = DualSettings()
    effects: EffectSettings = EffectSettings()
    pilots: PilotSettings = PilotSettings()
    trees: TreeSettings = TreeSettings()
    held: HeldSettings = HeldSettings()


DRAWING = DrawingSettings()
