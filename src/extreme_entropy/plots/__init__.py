"""Pictures as scikit-learn `Display` objects. Drawing needs the extra `plot`."""

from .path import PathDisplay
from .process import ProcessDisplay
from .projection import ProjectionDisplay

__all__ = ["PathDisplay", "ProcessDisplay", "ProjectionDisplay"]
