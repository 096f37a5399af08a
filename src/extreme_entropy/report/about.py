"""What a report contains beyond the classifier and its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..versions import installed_versions


@dataclass(frozen=True, kw_only=True)
class About:
    """What a report contains beyond the classifier and its rows. All may be left out.

    Parameters
    ----------
    title : str
        Headline; made from `target` or the classes if empty.
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
    left_out : int
        Rows that were not used, for want of a label.
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
    estimate : object with `gmean`, `low` and `high`, optional
        GMean of such models on rows held out when the model was fitted.
    baseline : object with `name`, `gmean`, `low` and `high`, optional
        GMean of another kind of classifier on the same held-out rows.

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
    versions: Mapping[str, str] = field(default_factory=installed_versions)
    seed: Any = None
    warnings: Sequence[str] = ()
    path: Sequence[Mapping[str, Any]] = ()
    estimate: Any = None
    baseline: Any = None
