"""Pictures as scikit-learn `Display` objects. Drawing needs the extra `plot`."""

from .operating import OperatingDisplay
from .path import PathDisplay
from .projection import ProjectionDisplay
from .regions import RegionsDisplay
from .relevance import RelevanceDisplay

__all__ = [
    "OperatingDisplay",
    "PathDisplay",
    "ProjectionDisplay",
    "RegionsDisplay",
    "RelevanceDisplay",
]
