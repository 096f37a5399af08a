"""What a report contains beyond the classifier and its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from ..versions import installed_versions


def today() -> str:
    """The date in words that no country reads in another order."""
    day = date.today()
    return f"{day.day} {day:%B %Y}"


@dataclass(frozen=True, kw_only=True)
class About:
    """What a report contains beyond the classifier and its rows. All may be left out.

    Parameters
    ----------
    title : str
        Headline; made from `target` or the classes if empty.
    made : str
        The date of the report; today if not given.
    data : str
        Name of the rows, such as that of their file.
    learnt_from : str
        Name of the rows that the classifier was fitted on.
    target : str
        Name of the column that holds the classes.
    columns : sequence of str
        Names of the columns, in the order of `X`; else those the classifier knows itself.
    missing : mapping of str to int
        Missing values in each column of the rows.
    changes : sequence of ColumnChange
        How far columns are from those of training (`extreme_entropy.tables.column_profile`).
    left_out : int
        Rows that were not used, for lack of a label.
    commands : sequence of str
        How to make the model and this report again.
    versions : mapping of str to str
        Versions of the packages used in the fit; else those of this process.
    seed : object
        Of the fit; else the classifier's `random_state`.
    warnings : sequence of str
        Warnings of the fit.
    path : sequence of mapping
        Models that were compared: each with "size", "gmean" and "divergence", and with "model" or
        "setting" if more than the size was tried.
    estimate : HeldOutEstimate, optional
        Such models on rows held out when the model was fitted (`extreme_entropy.tables.model`).
    baseline : BaselineEstimate, optional
        Another kind of classifier on the same held-out rows.

    Examples
    --------
    >>> from extreme_entropy.report import About
    >>> About(data="tumours.csv", missing={"age": 3}).missing["age"]
    3
    """

    title: str = ""
    made: str = field(default_factory=today)
    data: str = ""
    learnt_from: str = ""
    target: str = ""
    columns: Sequence[str] = ()
    missing: Mapping[str, int] = field(default_factory=dict)
    changes: Sequence[Any] = ()
    left_out: int = 0
    commands: Sequence[str] = ()
    versions: Mapping[str, str] = field(default_factory=installed_versions)
    seed: Any = None
    warnings: Sequence[str] = ()
    path: Sequence[Mapping[str, Any]] = ()
    estimate: Any = None
    baseline: Any = None
