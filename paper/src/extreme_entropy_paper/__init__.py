"""The paper "Extreme Entropy Machines", reproduced: its data, tables, figures and benchmarks.

Not part of the library's wheel. It runs from a checkout, whose folders hold the rows and pages.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .elm import ELMClassifier, WELMClassifier
    from .lssvm import LSSVMClassifier
    from .process_display import ProcessDisplay

__all__ = ["ELMClassifier", "LSSVMClassifier", "ProcessDisplay", "WELMClassifier"]

_PLACES = {
    "ELMClassifier": "elm",
    "LSSVMClassifier": "lssvm",
    "ProcessDisplay": "process_display",
    "WELMClassifier": "elm",
}


def __getattr__(name: str) -> Any:
    """Imported when it is wanted: the command answers before scikit-learn is loaded."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_PLACES[name]}", __name__), name)
