"""What cross-validation found along the sizes: scores and divergences, and a picture of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Path:
    """Held-out scores and D_CS for each setting (activation or γ) and size."""

    sizes: Array  # (sizes,)
    scores: Array  # held-out score of each fold        (settings, sizes, folds)
    divergences: Array  # D_CS, mean over the folds          (settings, sizes)
    labels: tuple[str, ...]  # of the settings
    size_name: str
    score_name: str
    best: tuple[int, int]  # setting and size

    @property
    def mean_scores(self) -> Array:
        """Scores averaged over the folds                    (settings, sizes)."""
        return self.scores.mean(axis=2)

    def plot(self, ax: Any = None) -> Any:
        """Draw scores and divergences against size. Needs the extra `plot`.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to; a new figure otherwise.

        Returns
        -------
        PathDisplay
            With the figure in `figure_`.
        """
        from ..plots.size_path import PathDisplay

        return PathDisplay(**asdict(self)).plot(ax)
