"""Scores for classes of unequal frequency: GMean, balanced accuracy, and intervals for them."""

from sklearn.metrics import balanced_accuracy_score as balanced_accuracy

# What other packages of the library use, beside what users do.
from .classification import FEWEST_JUDGED as FEWEST_JUDGED
from .classification import confusion_counts as confusion_counts
from .classification import get_scorer, gmean_score, gmean_scorer
from .classification import label_text as label_text
from .classification import predicted_classes as predicted_classes
from .intervals import ScoreInterval
from .intervals import recall_scores as recall_scores
from .outcome import Outcome as Outcome
from .outcome import by_class as by_class
from .outcome import saving as saving
from .probabilities import RunningAUC as RunningAUC
from .probabilities import RunningProbabilityScores as RunningProbabilityScores
from .probabilities import probability_scores as probability_scores
from .probabilities import scores_with_intervals

__all__ = [
    "ScoreInterval",
    "balanced_accuracy",
    "get_scorer",
    "gmean_score",
    "gmean_scorer",
    "scores_with_intervals",
]
