"""The types that a classifier is made of, for tools that load only types they are told to trust.

skops, and mlflow with it, take a fitted estimator apart into its types and parameters, and put it
together again only if each type is trusted. These run no code when they are put together.
"""

from __future__ import annotations

from .saving import CLASSIFIERS
from .schema import FIELDS

# What else classifiers and searches hold, by the module it lies in; many are above this one.
OTHERS: dict[str, tuple[str, ...]] = {
    "estimators.fitted": ("Learned", "Solved"),
    "machine.predictor": ("Predictor",),
    "selection.divergence_search": ("DivergenceSearch",),
    "selection.eekm_cv": ("EEKMClassifierCV",),
    "selection.eem_cv": ("EEMClassifierCV",),
    "selection.path": ("Path",),
}

TRUSTED_TYPES: list[str] = sorted(
    {
        *(f"{module}.{name}" for name, module in CLASSIFIERS.items()),
        *(f"{kind.__module__}.{kind.__qualname__}" for kind in FIELDS),
        *(f"extreme_entropy.{module}.{name}" for module, own in OTHERS.items() for name in own),
    }
)
