"""Calls that change a classifier take turns, so that several threads can learn into one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any
from weakref import WeakKeyDictionary

from ..engines.threads import one_blas_thread

# Kept apart from the classifiers, which are copied and pickled; locks cannot be.
_turns: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
_finding_turn = RLock()  # garbage collection may end a classifier, and so look here, meanwhile


def _after_fork() -> None:
    """In a new process nobody has a turn: other threads of its parent are not in it."""
    global _turns, _finding_turn
    _turns, _finding_turn = WeakKeyDictionary(), RLock()


if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(after_in_child=_after_fork)


@contextmanager
def in_turn(classifier: Any) -> Iterator[None]:
    """Where no other thread is changing the same classifier, and BLAS has one thread."""
    with _finding_turn:
        turn = _turns.setdefault(classifier, RLock())
    with turn, one_blas_thread():
        yield
