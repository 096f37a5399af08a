"""The bounds of a report: how many rows it keeps and draws, and how much of each thing it shows."""

from __future__ import annotations

from dataclasses import dataclass

from .evaluation import METRICS, Metric


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSettings:
    """All sizes of a report. Its templates and its script are written for these."""

    metrics: tuple[Metric, ...] = METRICS

    # Of the rows, however many they are.
    kept_rows: int = 200_000  # whose values are kept; a curve of more looks the same
    kept_values: int = 2**24  # of those rows in all: 128 MB
    drawn_rows: int = 800  # in a map, where points of more would cover each other
    telling_rows: int = 2  # of each kind, as cards

    # Of the data of the page's script, which make most of the file: 11 bytes for each value.
    page_rows: int = 20_000  # one by one; the counts of more are approximate
    sure_rows: int = 5_000  # of a class, the most suspicious, one by one even then
    quantiles: int = 5_000  # that stand for the others

    # Of importances that the classifier does not tell, which take seconds.
    shuffled_rows: int = 400
    shuffled_columns: int = 500  # of more there are none, and no explanations
    shuffles: int = 2
    least_probability: float = 1e-9  # so that a log-loss stays finite

    # Of what a reader can take in.
    bars: int = 12  # columns in the picture of importances
    parts: int = 5  # columns that explain a row
    listed_columns: int = 12  # by name
    matrix_classes: int = 30  # in a confusion matrix; of more, those with the most mistakes
    told_confusions: int = 3  # in words
    told_classes: int = 4  # in a sentence
    table_classes: int = 10  # in a table of classes; more have several side by side
    wide_matrix: int = 12  # classes from which on a matrix is narrow and its precision turned
    shades: int = 9  # of the cells of a matrix, as many as the style sheet has
    pairs: int = 28  # pictures of two classes: all pairs of eight
    colours: int = 6  # as many as the style sheet has; more classes have names only
    class_letters: int = 80  # of the name of a class
    axis_letters: int = 28  # of a name next to an axis
    curve_points: int = 600  # more than a picture has dots across
    highest_cost: float = 1.5  # times that of doing nothing, in the picture of costs

    separation: float = 0.7  # of a map of many columns, at least: 1 is perfect, 0 is guessing
    drift: float = 0.1  # population stability index from which on a column has changed
    strong_drift: float = 0.25
    same_weight: float = 1.25  # weights of a miss that differ by less are taken for the same
