"""Programs that look for inputs which break a promise; not installed with the library."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any


def main(
    doc: str | None, run: Callable[[float, int], int], replay: Callable[[int, int], Any]
) -> None:
    """The command line of a program: cases for some seconds, or one case again."""
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int, help="only this case, with its traceback")
    given = parser.parse_args()
    if given.case is None:
        run(given.seconds, given.seed)
    else:
        print(replay(given.seed, given.case))
