"""Checkpoints of a fit over batches: what was learnt of the first n, and a digest of those n.

A checkpoint is a saved classifier, not yet solved, that also says which batches it has counted. It
is written where no batch waits to be put together with others, so that a fit which goes on from it
takes the very steps of one that was never stopped. It is written beside its place, brought to the
disk, and renamed: killed at any moment, the old or the new one is there, whole. Several fits of the
same batches may share a checkpoint: each replaces it as a whole.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import persistence
from ..errors import FileFormatError, InputError
from ..features.feature_map import same
from ..files import move, remove_leftovers, workplace
from ..shapes import Array
from .batches import Batch

ANEW = "Delete it to begin anew."
FREE = ("n_jobs", "verbose")  # parameters that may differ, since they do not change a bit


class Checkpoint:
    """A checkpoint in a file, every so many batches."""

    def __init__(self, path: str | Path, every: int) -> None:
        self.path, self.every = Path(path), every
        self.n, self.digest = 0, ""  # batches counted, and what they were
        self.kept_n, self.kept_digest = 0, ""  # those of the checkpoint
        if not isinstance(every, Integral) or isinstance(every, bool) or every < 1:
            raise InputError(f"`every` must be a positive number of batches; it is {every!r}.")
        if not self.path.parent.is_dir():
            raise FileNotFoundError(
                f"A checkpoint needs a folder that exists; there is no {str(self.path.parent)!r}."
            )
        remove_leftovers(self.path)

    def restore(self, learner: Any) -> None:
        """Bring the learner to where the checkpoint left off, if there is one."""
        from .saving import unpack

        if not self.path.exists():
            return
        try:
            values, arrays = persistence.read(self.path)
            saved = unpack(values, arrays, self.path)
        except (FileFormatError, FileNotFoundError) as error:
            if not self.path.exists():  # another fit has ended meanwhile
                return
            if isinstance(error, FileNotFoundError):
                raise
            raise FileFormatError(f"The checkpoint cannot be used: {error} {ANEW}") from error
        match values.get("checkpoint"):
            case {"batches": int(n), "digest": str(digest)} if n > 0:
                self.kept_n, self.kept_digest = n, digest
            case _:
                raise FileFormatError(
                    f"{str(self.path)!r} is a saved classifier, but not a checkpoint of a fit over "
                    "batches. Name another file, or move this one away."
                )
        self._check(learner, saved)
        learner.__dict__.update(
            {name: value for name, value in vars(saved).items() if name not in saved.get_params()}
        )

    def _check(self, learner: Any, saved: Any) -> None:
        """Raise unless the checkpoint is of such a classifier."""
        from .saving import plain_parameters

        if type(saved) is not type(learner):
            raise InputError(
                f"The checkpoint {str(self.path)!r} is of {type(saved).__name__}, not of "
                f"{type(learner).__name__}. Name another file. {ANEW}"
            )
        ours, theirs = plain_parameters(learner), plain_parameters(saved)
        names = [name for name in ours if name not in FREE and not _equal(ours[name], theirs[name])]
        if names:
            differ = ", ".join(f"{name}={theirs[name]!r}, not {ours[name]!r}" for name in names)
            raise InputError(
                f"The checkpoint {str(self.path)!r} is of a classifier with other parameters: "
                f"{differ}. Set those, or name another file. {ANEW}"
            )
        if learner.is_twin != saved.is_twin or (
            learner.is_twin and not same(learner.feature_map_, saved.feature_map_)
        ):
            raise InputError(
                f"The checkpoint {str(self.path)!r} is of a classifier with another φ. "
                f"Name another file. {ANEW}"
            )

    def not_yet_counted(self, batches: Iterable[Batch | None]) -> Iterator[Batch | None]:
        """The batches after those of the checkpoint, which must be the very same."""
        for rows in batches:
            self.n += 1
            self.digest = _digest(self.digest, rows)
            if self.n > self.kept_n:
                yield rows
            elif self.n == self.kept_n and self.digest != self.kept_digest:
                raise InputError(
                    f"The first {self.n} batches must be those that the checkpoint "
                    f"{str(self.path)!r} has counted; they are not. Give the same batches in the "
                    f"same order, or name another file. {ANEW}"
                )
        if self.n < self.kept_n:
            raise InputError(
                f"The checkpoint {str(self.path)!r} has counted {self.kept_n} batches; only "
                f"{self.n} came. Give the same batches, or name another file. {ANEW}"
            )

    def keep(self, learner: Any) -> None:
        """Write a checkpoint, if one is due."""
        from .saving import pack

        if self.n - self.kept_n < self.every:
            return
        values, arrays = pack(learner, solved=False)
        values["checkpoint"] = {"batches": self.n, "digest": self.digest}
        # In a folder, since the library that writes it leaves a file of its own there when killed.
        with workplace(self.path) as folder:
            persistence.write(folder / "new", values, arrays, durable=True)
            move(folder / "new", self.path, durable=True)
        self.kept_n, self.kept_digest = self.n, self.digest

    def remove(self) -> None:
        """The fit is done."""
        self.path.resolve().unlink(missing_ok=True)


def _equal(a: Any, b: Any) -> bool:
    return bool(np.array_equal(np.asarray(a, dtype=object), np.asarray(b, dtype=object)))


def _digest(before: str, rows: Iterable[Any] | None) -> str:
    """The digest of all batches up to this one."""
    digest = hashlib.sha256(before.encode())
    for part in () if rows is None else rows:
        for array in (part.data, part.indices, part.indptr) if sp.issparse(part) else (part,):
            _add(digest, array)
    return digest.hexdigest()


def _add(digest: Any, array: Array | None) -> None:
    if array is None:
        digest.update(b"none\n")
        return
    digest.update(f"{array.dtype.str} {array.shape}\n".encode())
    if array.dtype.kind == "O":
        digest.update(repr(array.tolist()).encode())
    else:
        digest.update(np.ascontiguousarray(array).view(np.uint8).data)
