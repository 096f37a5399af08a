"""Extreme Entropy Machines: closed-form classifiers fitted from sums."""

from .baselines.elm import ELMClassifier, WELMClassifier
from .baselines.lssvm import LSSVMClassifier
from .estimators.classifier import ExtremeEntropyClassifier
from .estimators.eekm import EEKMClassifier
from .estimators.eem import EEMClassifier
from .estimators.saving import load
from .metrics import gmean_score
from .selection.divergence_search import DivergenceSearch
from .selection.eekm_cv import EEKMClassifierCV
from .selection.eem_cv import EEMClassifierCV

__version__ = "0.2.0"

__all__ = [
    "DivergenceSearch",
    "EEKMClassifier",
    "EEKMClassifierCV",
    "EEMClassifier",
    "EEMClassifierCV",
    "ELMClassifier",
    "ExtremeEntropyClassifier",
    "LSSVMClassifier",
    "WELMClassifier",
    "gmean_score",
    "load",
]
