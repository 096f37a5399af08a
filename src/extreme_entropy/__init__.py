"""Extreme Entropy Machines: closed-form classifiers fitted from sums."""

from .estimators._saving import load
from .estimators.eekm import EEKMClassifier
from .estimators.eem import EEMClassifier
from .metrics import gmean_score

__version__ = "0.1.0.dev0"

__all__ = ["EEKMClassifier", "EEMClassifier", "gmean_score", "load"]
