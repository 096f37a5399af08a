"""Pictures as scikit-learn `Display` objects. Drawing needs the extra `plot`."""

from .column_bars import RelevanceDisplay
from .operating import OperatingDisplay
from .projection import ProjectionDisplay
from .regions import RegionsDisplay
from .size_path import PathDisplay

__all__ = [
    "OperatingDisplay",
    "PathDisplay",
    "ProjectionDisplay",
    "RegionsDisplay",
    "RelevanceDisplay",
]
