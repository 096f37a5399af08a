"""What a report says that the machine and its rows cannot tell."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy
import sklearn

from .. import __version__


def present_versions() -> dict[str, str]:
    """Versions of what took part in this process."""
    return {
        "extreme-entropy": __version__,
        "Python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }


@dataclass(frozen=True, kw_only=True)
class About:
    """What a report says that the machine and its rows cannot tell. Everything may be left out.

    Parameters
    ----------
    title : str
        Headline; made from `data` if empty.
    data : str
        Name of the rows, such as that of their file.
    learnt_from : str
        Name of the rows that the machine was fitted on.
    target : str
        Name of the column that holds the classes.
    columns : sequence of str
        Names of the columns the machine sees, in their order; else those it knows itself.
    missing : mapping of str to int
        Missing values in each column of the rows.
    left_out : int
        Rows that were not used, for want of a label.
    commands : sequence of str
        How to make the machine and this report again.
    versions : mapping of str to str
        Versions of what fitted the machine; else those of this process.
    seed : object
        Of the fit; else the machine's `random_state`.
    warnings : sequence of str
        What the fit warned of.
    path : sequence of mapping
        Machines that were compared: each with "size", "gmean" and "divergence", and with "model" or
        "setting" if more than the size was tried.

    Examples
    --------
    >>> from extreme_entropy.report import About
    >>> About(data="tumours.csv", missing={"age": 3}).missing["age"]
    3
    """

    title: str = ""
    data: str = ""
    learnt_from: str = ""
    target: str = ""
    columns: Sequence[str] = ()
    missing: Mapping[str, int] = field(default_factory=dict)
    left_out: int = 0
    commands: Sequence[str] = ()
    versions: Mapping[str, str] = field(default_factory=present_versions)
    seed: Any = None
    warnings: Sequence[str] = ()
    path: Sequence[Mapping[str, Any]] = ()
