"""A job: settings of one model to be tried on one fold of a data set."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Self

import numpy as np

from ..datasets import load_dataset
from ..store import Key, Row, key_of

Array = np.ndarray[Any, Any]
Setting = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Job:
    """What one process does in one go. Its rows are kept once all of it is done."""

    dataset: str
    model: str
    repeat: int
    fold: int
    settings: tuple[Setting, ...]

    def about(self, setting: Setting) -> Row:
        """The fields that say what a row is about."""
        return {
            "dataset": self.dataset,
            "model": self.model,
            "setting": setting,
            "repeat": self.repeat,
            "fold": self.fold,
        }

    def without(self, done: set[Key | None]) -> Self:
        """The same job with the settings that are not done yet."""
        left = tuple(s for s in self.settings if key_of(self.about(s)) not in done)
        return replace(self, settings=left)


@lru_cache(maxsize=2)
def data_of(name: str) -> tuple[Array, Array]:
    """Columns and labels of a data set; a process keeps the last two."""
    X, y = load_dataset(name, return_X_y=True, download=False)
    return np.asarray(X, dtype=float), y
