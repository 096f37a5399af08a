"""What a fit prints: rows, columns, the model, how good it is, and what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

import click

from ..columns.kinds import kind_called
from ..columns.text import Column
from ..metrics import label_text
from ..tables.model import GMeanEstimate, TableModel
from .output import counts_text, printable, rows_text

GAPS: dict[str, tuple[str, ...]] = {
    "filled by the median and marked": ("number", "boolean"),
    "filled by the median": ("date",),
    "a category of its own": ("text", "category"),
}


def print_fit(fitted: TableModel, output: Path, *, verbose: bool) -> None:
    """Print all about a model that was fitted to a table and written to a file."""
    facts = fitted.facts
    lines = [
        rows_text(facts.rows, fitted.target, facts.rows_without_label),
        f"Classes: {counts_text(facts.class_counts)}",
        *_column_lines(fitted, verbose),
    ]
    lines.append(f"Model: {model_text(fitted)}, seed {facts.seed}")
    for name, cost in (facts.costs or {}).items():
        lines.append(f"Cost of missing {printable(name)}: {cost:g}")
    if priors := _priors_text(fitted):
        lines.append(f"Priors: {priors}")
    lines += _estimate_lines(fitted)
    click.echo("\n".join(lines))
    for warning in facts.warnings:
        click.echo(f"Note: {warning}", err=True)
    file = shlex.quote(str(output))
    click.echo(f"Written: {output}")
    click.echo(f"Next: eem evaluate {file} NEW_ROWS   or: eem report {file} NEW_ROWS")


def model_text(fitted: TableModel) -> str:
    """The classifier and its size in words."""
    classifier, size = fitted.classifier, fitted.facts.size
    leaves = len(classifier.feature_map_.leaves)
    name = f"{type(classifier).__name__} of size {size}"
    return name if leaves == 1 else f"{name}, {leaves} leaves"


def _column_lines(
    fitted: TableModel, verbose: bool, *, named: int = 8, listed: int = 5, examples: int = 3
) -> list[str]:
    """So many columns that are used, so many with a reason that are not, or examples of those."""
    used, dropped = fitted.columns.used, fitted.columns.dropped
    head = f"Columns: {len(used)} used, as {len(fitted.feature_names)} numbers"
    if verbose:
        lines = [f"{head}:", *(f"  {_column_text(fitted, column)}" for column in used)]
    else:
        names = ", ".join(printable(column.name) for column in used[:named])
        rest = f" and {len(used) - named} more" if len(used) > named else ""
        lines = [f"{head}: {names}{rest}"]
        if missing := _missing_text(fitted, named):
            lines.append(f"Missing: {missing}")
    if verbose or len(dropped) <= listed:
        return lines + [f"Not used: {printable(name)}: {why}" for name, why in dropped.items()]
    such = ", ".join(printable(name) for name in list(dropped)[:examples])
    reasons = "--verbose lists them, and why"
    return [*lines, f"Not used: {len(dropped)} columns, such as {such} ({reasons})"]


def _column_text(fitted: TableModel, column: Column) -> str:
    """How a column is read."""
    gaps = fitted.facts.missing.get(column.name, 0)
    text = f"{printable(column.name)}: {kind_called(column.kind).title}"
    if column.order:
        text += f" ({column.order})"
    return f"{text}, {gaps:,} missing" if gaps else text


def _missing_text(fitted: TableModel, named: int) -> str:
    """How many values are missing, and what becomes of them."""
    gaps, texts = fitted.facts.missing, []
    for what, kinds in GAPS.items():
        counts = {
            column.name: gaps[column.name]
            for column in fitted.columns.used
            if column.name in gaps and column.kind in kinds
        }
        texts += [f"{counts_text(counts, named)} ({what})"] if counts else []
    return ", ".join(texts)


def _priors_text(fitted: TableModel) -> str:
    """How frequent classes are taken to be, if anybody said so."""
    costs, priors = fitted.classifier.costs, fitted.classifier.priors
    if isinstance(costs, str):
        return ""
    if isinstance(priors, Mapping):
        return ", ".join(f"{printable(label_text(x))} {share:g}" for x, share in priors.items())
    equal = priors == "balanced"
    return "classes equally frequent" if equal else "classes as frequent as in the table"


def _estimate_lines(fitted: TableModel) -> list[str]:
    """The estimate, that of the baseline, how they were made, and what the interval is about."""
    facts = fitted.facts
    guess = facts.estimate
    if guess is None:
        reason = facts.no_estimate or "nothing was held out"
        return [f"Estimated GMean: none, since {reason}; try eem evaluate on other rows"]
    lines = [
        f"Estimated GMean: {guess.gmean:.3f}, 95 % interval {guess.low:.3f} to {guess.high:.3f}"
    ]
    if other := guess.baseline:
        name = other.name[0].upper() + other.name[1:]
        lines.append(
            f"{name} on the same rows: {other.gmean:.3f}, 95 % interval {other.low:.3f} to "
            f"{other.high:.3f}"
        )
    at = ", at equal priors and costs" if facts.costs or _priors_text(fitted) else ""
    names = [printable(name) for name in guess.not_judged]
    without = f", without {', '.join(names)}" if names else ""
    lines.append(f"  {_how(guess)} of {_rows(fitted)}{without}{at}.")
    return [*lines, f"  {_meaning(fitted, guess)}"]


def _how(guess: GMeanEstimate) -> str:
    column = printable(guess.column)
    if guess.split == "time":
        several = f" {guess.folds} times, from rows before them" if guess.folds > 1 else ""
        return f"By holding out the rows last in {column}{several}: {guess.held_out:,}"
    whole = f", keeping rows of one {column} together," if guess.split == "group" else ""
    if guess.folds > 1:
        return f"By {guess.folds}-fold cross-validation{whole}"
    return f"By holding out a fifth{whole}"


def _rows(fitted: TableModel) -> str:
    """How many rows the estimate was made on, and of how many they are a sample."""
    n, rows = fitted.facts.estimated_rows or 0, fitted.facts.rows
    return f"{n:,} rows" if n >= rows else f"a sample of {n:,} of the {rows:,} rows"


def _meaning(fitted: TableModel, guess: GMeanEstimate) -> str:
    """What the interval is about."""
    used = {column.name: column.kind for column in fitted.columns.used}
    if guess.split == "time":
        learnt = f" The model learns from {printable(guess.column)}, too."
        kind = "The interval is for later rows of the same kind."
        return kind + (learnt if guess.column in used else "")
    if guess.split == "group":
        return "The interval is for rows of other groups of the same kind."
    dates = [name for name, kind in used.items() if kind == "date"]
    if not dates:
        hint = "rows of another time or place may be harder"
        return f"The interval is for other rows like these; {hint}."
    return (
        "The interval is for other rows like these: they were held out at random, not by time. "
        f"--time {shlex.quote(dates[0]) if len(dates) == 1 else 'COLUMN'} holds out the last ones."
    )
