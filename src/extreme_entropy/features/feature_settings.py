"""Numbers that shape φ once its rows are sampled: scaling, widths, and where landmarks lie."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FeatureSettings:
    """What is the same for all layers, whatever users choose."""

    # Sampled rows that quantiles, widths and γ are taken from, and those of them whose distances
    # are computed: a rank among 1000 rows is as sure as the bins below are fine.
    typical_rows: int = 1000
    distance_rows: int = 500
    # Neurons or landmarks whose mean variance stands for that of all, so that parts vary alike.
    balanced: int = 100
    # Quantiles. Bins of equal width between a column's ends, whose tables stay in cache; how near
    # they must follow the ranks; and most knots of a column whose bins do not.
    bins: int = 1024
    bin_error: float = 1 / 64
    most_knots: int = 254
    near: float = 0.9  # of the sampled values, which are not far off
    # Beyond so many columns, those with fewer than this share of rows above the least are straight.
    wide: int = 1000
    mostly_empty: float = 0.5
    nearly_empty: float = 0.1  # share of entries below which products of wide rows spare zeros
    # Share of the ranks that one value may take: with 1, a value that 90 % of rows have leaves a
    # tenth of the range to all others.
    most_of_value: float = 1.0
    # Codes (`codes.py`). A code costs an eighth of measuring a column in double precision, and half
    # of that in single: up to so many of a column, on average, the product is faster.
    cheap_codes: int = 6
    # Codes of each column, on average, of landmarks that are moved to knots, and fewest in all, or
    # they would be moved too far. Tables of fewer columns are measured as fast, and keep theirs.
    moved_codes: int = 4
    fewest_codes: int = 128
    few_columns: int = 24


FEATURES = FeatureSettings()
