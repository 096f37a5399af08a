"""What a fit prints: rows, columns, the model, how good it is, and what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

import click

from ..columns.kinds import kind_called
from ..columns.text import Column
from ..metrics import ScoreInterval, label_text
from ..report.verdict import against, to_be_found, verdict
from ..tables.model import HeldOutEstimate, TableModel
from .outcomes import GMEAN, classes_text, costs_line, outcome_lines, plain
from .output import counts_text, note, printable, quoted, rows_text

LARGE = 5.0  # megabytes, from which on a file is worth a hint
GAPS: dict[str, tuple[str, ...]] = {
    "filled by the median and marked": ("number", "boolean"),
    "filled by the median": ("date",),
    "a category of its own": ("text", "category"),
}


def print_fit(fitted: TableModel, output: Path, *, verbose: bool, slim: bool = False) -> None:
    """Print all about a model that was fitted to a table and written to a file."""
    facts = fitted.facts
    lines = [
        rows_text(facts.rows, fitted.target, facts.rows_without_label),
        f"Classes: {classes_text(facts.class_counts)}",
        *_column_lines(fitted, verbose),
    ]
    lines.append(f"Model: {model_text(fitted)}, seed {facts.seed}")
    if priors := _priors_text(fitted):
        lines.append(f"Priors: {priors}")
    lines += [_costs_text(fitted), *_estimate_lines(fitted)]
    click.echo("\n".join(lines))
    for warning in facts.warnings:
        note(warning)
    file = shlex.quote(str(output))
    size = output.stat().st_size / 1e6 if output.exists() else 0.0
    click.echo(f"Written: {output} ({size:.1f} MB)")
    if size > LARGE and not slim:
        click.echo("  Most of it is for eem merge and eem forget; without them, --slim saves it.")
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


def _costs_text(fitted: TableModel) -> str:
    """What mistakes cost."""
    costs, counts = fitted.facts.costs, list(fitted.facts.class_counts.values())
    stated = not isinstance(fitted.classifier.costs, str)
    by_class = [(costs or {}).get(name, 1.0) for name in fitted.label_names]
    if not stated:
        by_class = [max(counts) / max(n, 1) for n in counts]
    return costs_line(by_class, fitted.label_names, to_be_found(counts), stated=stated)


def _estimate_lines(fitted: TableModel) -> list[str]:
    """What was found on rows held out, at what cost, beside the baseline, and how it was made."""
    facts, names = fitted.facts, fitted.label_names
    guess = facts.estimate
    if guess is None:
        reason = facts.no_estimate or "nothing was held out"
        return [f"Not estimated how good it is, since {reason}; try eem evaluate on other rows"]
    rare = to_be_found(list(facts.class_counts.values()))
    boosted = guess.baseline
    confusions = {"This model": guess.confusion}
    if boosted:
        confusions[boosted.name[0].upper() + boosted.name[1:]] = boosted.confusion
    outcomes = {title: guess.outcome(matrix) for title, matrix in confusions.items()}
    judged = verdict(
        outcomes["This model"], ScoreInterval(*guess.saved), [quoted(n) for n in names], rare
    )
    gmeans = f"GMean {guess.gmean:.3f} ({guess.low:.3f} to {guess.high:.3f})"
    if boosted:
        gmeans += f"; {boosted.name} {boosted.gmean:.3f} ({boosted.low:.3f} to {boosted.high:.3f})"
    unjudged = [quoted(name) for name in guess.not_judged]
    without = f", without {', '.join(unjudged)}" if unjudged else ""
    return [
        f"\nHeld out: {_how(guess)} of {_rows(fitted)}{without}",
        *(f"  {line}" for line in outcome_lines(outcomes, names, rare)),
        plain(f"{judged.headline} {judged.reason}"),
        *([against(ScoreInterval(*boosted.saved), boosted.name)] if boosted else []),
        f"{gmeans}. {GMEAN}",
        f"{_meaning(fitted, guess)}\n",
    ]


def _how(guess: HeldOutEstimate) -> str:
    column = printable(guess.column)
    if guess.split == "time":
        several = f" {guess.folds} times, from rows before them" if guess.folds > 1 else ""
        return f"the rows last in {column}{several}: {guess.held_out:,}"
    whole = f" that keeps rows of one {column} together," if guess.split == "group" else ""
    if guess.folds > 1:
        return f"each fold in turn, {guess.folds}-fold cross-validation{whole}"
    return f"a fifth{whole}"


def _rows(fitted: TableModel) -> str:
    """How many rows the estimate was made on, and of how many they are a sample."""
    n, rows = fitted.facts.estimated_rows or 0, fitted.facts.rows
    return f"{n:,} rows" if n >= rows else f"a sample of {n:,} of the {rows:,} rows"


def _meaning(fitted: TableModel, guess: HeldOutEstimate) -> str:
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
