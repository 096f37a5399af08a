"""Scores for classes of unequal frequency: GMean, balanced accuracy, and intervals for them."""

from sklearn.metrics import balanced_accuracy_score as balanced_accuracy

from .classification import (
    FEWEST_JUDGED,
    confusion_counts,
    get_scorer,
    gmean_score,
    gmean_scorer,
    label_text,
    predicted_classes,
)
from .intervals import ScoreInterval, recall_scores
from .outcome import Outcome, by_class, saving
from .probabilities import (
    RunningAUC,
    RunningProbabilityScores,
    probability_scores,
    scores_with_intervals,
)

__all__ = [
    "FEWEST_JUDGED",
    "Outcome",
    "RunningAUC",
    "RunningProbabilityScores",
    "ScoreInterval",
    "balanced_accuracy",
    "by_class",
    "confusion_counts",
    "get_scorer",
    "gmean_score",
    "gmean_scorer",
    "label_text",
    "predicted_classes",
    "probability_scores",
    "recall_scores",
    "saving",
    "scores_with_intervals",
]
