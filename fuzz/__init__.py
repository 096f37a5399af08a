"""Programs that look for inputs which break a promise; not installed with the library."""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np


def main_of_checks(doc: str | None, check: Callable[[np.random.Generator], Any]) -> None:
    """The command line of a program whose cases are calls of `check` with seeded generators."""

    def run_case(seed: int, case: int) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check(np.random.default_rng([seed, case]))

    main(doc, partial(run_cases, run_case), run_case)


def run_cases(run_case: Callable[[int, int], Any], seconds: float, seed: int) -> int:
    """Cases for so many seconds; how many there were. Findings are printed, and are an error."""
    end, case, findings = time.monotonic() + seconds, 0, 0
    while time.monotonic() < end or not case:
        try:
            run_case(seed, case)
        except Exception as error:
            findings += 1
            print(f"--seed {seed} --case {case}: {type(error).__name__}: {str(error)[:300]}")
        case += 1
    print(f"{case} cases: {findings} findings")
    if findings:
        raise AssertionError(f"{findings} findings")
    return case


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
