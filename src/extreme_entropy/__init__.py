"""Extreme Entropy Machines: closed-form classifiers fitted from sums."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .estimators.classifier import ExtremeEntropyClassifier
    from .estimators.eekm import EEKMClassifier
    from .estimators.eem import EEMClassifier
    from .estimators.saving import TRUSTED_TYPES, load
    from .metrics import gmean_score
    from .selection.divergence_search import DivergenceSearch
    from .selection.eekm_cv import EEKMClassifierCV
    from .selection.eem_cv import EEMClassifierCV
    from .skl2onnx import register_skl2onnx

__version__ = "0.3.0"

__all__ = [
    "TRUSTED_TYPES",
    "DivergenceSearch",
    "EEKMClassifier",
    "EEKMClassifierCV",
    "EEMClassifier",
    "EEMClassifierCV",
    "ExtremeEntropyClassifier",
    "gmean_score",
    "load",
    "register_skl2onnx",
]

# Where each name lives. It is imported when it is wanted: scikit-learn takes a second, in which the
# command would otherwise answer nothing, not even an interruption.
_PLACES = {
    "TRUSTED_TYPES": "estimators.saving",
    "DivergenceSearch": "selection.divergence_search",
    "EEKMClassifier": "estimators.eekm",
    "EEKMClassifierCV": "selection.eekm_cv",
    "EEMClassifier": "estimators.eem",
    "EEMClassifierCV": "selection.eem_cv",
    "ExtremeEntropyClassifier": "estimators.classifier",
    "gmean_score": "metrics",
    "load": "estimators.saving",
    "register_skl2onnx": "skl2onnx",
}
_PACKAGES = ("entropy", "errors", "metrics", "plots", "report", "selection", "tables")


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f".{name}", __name__)
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{_PLACES[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_PACKAGES})
