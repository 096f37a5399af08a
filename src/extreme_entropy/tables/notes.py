"""What the library warns about, in words of the command: options, and no parameters of Python."""

from __future__ import annotations

import shlex

from ..columns.unused import Identifier
from ..errors import (
    DegenerateWarning,
    FewRowsWarning,
    IdentifierWarning,
    PrecisionWarning,
    UnseenWarning,
)
from .model import TableModel

CONSTANT = (
    "The columns do not separate two of the classes, so that the prediction is constant. Check "
    "that labels belong to their rows, add columns that say more of the label, or try another "
    "--model."
)
# What a warning says that is given when a model is used, by its class.
IN_OTHER_WORDS: dict[type[Warning], str] = {
    DegenerateWarning: CONSTANT,
    FewRowsWarning: "A class has very few rows; expect little of it until it has more.",
    IdentifierWarning: "Columns that look like identifiers are not used.",
    PrecisionWarning: (
        "A column has whole numbers with too many digits for a 64-bit float. They are rounded, so "
        "different numbers may become equal. If they are codes, fit the model with --category."
    ),
    UnseenWarning: (
        "Most values of a column are categories that the model does not know, so they all count as "
        "the same. If the model should know them, fit it on a table that contains them."
    ),
}


def in_words_of_the_command(warning: Warning) -> str:
    """A warning as a note of one sentence or two."""
    return IN_OTHER_WORDS.get(type(warning)) or " ".join(str(warning).split())


def notes_on(fitted: TableModel) -> list[str]:
    """What to know of a fitted model: from its state, not from messages on the way."""
    notes = [*_on_left_out(fitted)]
    counts = fitted.facts.class_counts
    if not all(counts.values()):
        return notes
    diagnostics = fitted.classifier.machine_.diagnostics
    if "degenerate" in diagnostics:
        notes.append(CONSTANT)
    if alone := [name for name, n in counts.items() if n == 1]:
        named = ", ".join(map(repr, alone))
        notes.append(
            f"The label {named} has one row only; expect little of it until it has more rows."
            if len(alone) == 1
            else f"The labels {named} have one row only each; expect little of them until they "
            "have more rows."
        )
    elif "not cross-fitted" in diagnostics:
        notes.append(
            "A class has too few different rows to hold some of them out, so that probabilities "
            f"are too sure of themselves (the fewest rows of a class: {min(counts.values())})."
        )
    return notes


def _on_left_out(fitted: TableModel) -> list[str]:
    """Columns that the classifier does not use after all."""
    kinds = fitted.classifier.feature_map_.encoding.table_kinds
    return [
        f"Column {column.name!r} is not used ({kind.reason}). To use it: "
        f"--category {shlex.quote(column.name)}"
        for column, kind in zip(fitted.columns.used, kinds, strict=False)
        if isinstance(kind, Identifier)
    ]
