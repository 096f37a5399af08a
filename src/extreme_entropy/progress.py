"""A progress bar over steps, from tqdm, which is imported only where one is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")


def with_progress(
    steps: Iterable[T], *, total: int | None = None, unit: str = "batch"
) -> Iterable[T]:
    """The same steps, with a bar that moves as they are taken."""
    try:
        from tqdm import tqdm
    except ImportError as error:
        raise ImportError(
            "progress=True needs tqdm: pip install 'extreme-entropy[progress]'"
        ) from error
    return tqdm(steps, total=total, unit=unit)
