"""`eem fit`: a table and the name of its target become a model in a file."""

from __future__ import annotations

import shlex
from dataclasses import asdict, replace
from pathlib import Path

import click

from ..files import check_writable
from ..tables.fitting import fit_like, fit_table
from ..tables.model import TableModel
from ..tables.reading import open_table
from .output import (
    FILE,
    command_line,
    counts_text,
    echo_json,
    json_option,
    model_output,
    printable,
    priors_option,
    rows_text,
)

EXAMPLES = """
\b
Examples:
  eem fit patients.csv --target ill -o patients.eem
  eem fit patients.parquet --target ill --cost yes=20 --drop name -o patients.eem
  eem fit monday/ --target ill --like patients.eem -o monday.eem
"""


@click.command(epilog=EXAMPLES)
@click.argument("train", type=FILE)
@click.option("--target", metavar="COLUMN", help="The column that holds the labels.")
@click.option(
    "--model",
    type=click.Choice(["auto", "eem", "eekm"]),
    help="A classifier that grows with the table, random neurons, or a kernel. [default: auto]",
)
@click.option(
    "--cost",
    "costs",
    multiple=True,
    metavar="LABEL=COST",
    help="Cost of missing a row of this label; may be repeated. [default: 1]",
)
@priors_option("balanced")
@click.option(
    "--size",
    type=click.IntRange(1),
    metavar="H",
    help="Neurons, or landmarks of each leaf. [default: as the model has it]",
)
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), help="Random seed. [default: 0]")
@click.option("--drop", multiple=True, metavar="COLUMN", help="Leave out; may be repeated.")
@click.option(
    "--like",
    type=FILE,
    metavar="MODEL",
    help="Use the columns and the feature map of MODEL, so that the two can be merged.",
)
@model_output
@json_option
def fit(
    train: Path,
    target: str | None,
    model: str | None,
    costs: tuple[str, ...],
    priors: str | None,
    size: int | None,
    seed: int | None,
    drop: tuple[str, ...],
    like: Path | None,
    output: Path,
    as_json: bool,
) -> None:
    """Fit a model to the table TRAIN.

    TRAIN is a CSV, TSV, Parquet, Arrow or Feather file, or a folder of such files. Columns may hold
    numbers, dates or text, and values may be missing. How well the model predicts rows it has not
    learnt is estimated on a sample.
    """
    by_label = _parse_costs(costs)
    check_writable(output)
    if like is not None:
        if model or size or seed is not None or drop:
            raise click.UsageError(
                "--like takes all from MODEL: no --model, --size, --seed, --drop."
            )
        other = TableModel.load(like)
        if target not in (None, other.target):
            raise click.UsageError(
                f"--like {like} has the target {other.target!r}, not {target!r}."
            )
        fitted = fit_like(open_table(train), other, costs=by_label, priors=priors, progress=True)
    elif target is None:
        raise click.UsageError("Give the column that holds the labels: --target COLUMN")
    else:
        fitted = fit_table(
            open_table(train),
            target,
            model=model or "auto",
            size=size,
            costs=by_label,
            priors=priors or "balanced",
            seed=seed or 0,
            drop=drop,
            progress=True,
        )
    fitted = replace(fitted, facts=replace(fitted.facts, command=command_line()))
    fitted.save(output)
    if as_json:
        echo_json(
            {
                "model_file": str(output),
                "target": fitted.target,
                "columns": [column.name for column in fitted.columns.used],
                "features": fitted.feature_names,
                "dropped": dict(fitted.columns.dropped),
                "priors": fitted.classifier.priors,
                **asdict(fitted.facts),
            }
        )
    else:
        _print_summary(fitted, output)


def _parse_costs(pairs: tuple[str, ...]) -> dict[str, float] | None:
    costs = {}
    for pair in pairs:
        label, sign, number = pair.rpartition("=")
        try:
            cost = float(number)
        except ValueError:
            cost = float("nan")
        if not sign or not 0 < cost < float("inf"):
            raise click.UsageError(
                f"A cost must be LABEL=COST with a positive number, such as yes=2.5; got {pair!r}."
            )
        costs[label] = cost
    return costs or None


def _missing_text(fitted: TableModel) -> str:
    """How many values are missing, and what becomes of them."""
    gaps = fitted.facts.missing
    texts = []
    for what, of_text in (
        ("filled by the median and marked", False),
        ("a category of its own", True),
    ):
        counts = {
            column.name: gaps[column.name]
            for column in fitted.columns.used
            if column.name in gaps and (column.kind == "text") == of_text
        }
        texts += [f"{counts_text(counts, 8)} ({what})"] if counts else []
    return ", ".join(texts)


def _estimate_lines(fitted: TableModel) -> list[str]:
    """The estimate, what its interval is about, and which classes it leaves out."""
    facts = fitted.facts
    guess = facts.estimate
    if guess is None:
        return ["Estimated GMean: none; try eem evaluate on rows that were held out"]
    how = f"{guess.folds}-fold cross-validation" if guess.folds > 1 else "holding out a fifth"
    at = ", at equal priors and costs" if facts.costs or _own_priors(fitted) else ""
    names = [printable(name) for name in guess.not_judged]
    without = f", without {', '.join(names)}" if names else ""
    return [
        f"Estimated GMean: {guess.gmean:.3f}, 95 % interval {guess.low:.3f} to {guess.high:.3f}, "
        f"by {how} of {facts.estimated_rows:,} rows{without}{at}",
        "  The interval is for other rows like these; rows of another time or place may be harder.",
    ]


def _own_priors(fitted: TableModel) -> bool:
    return not isinstance(priors := fitted.classifier.priors, str) or priors != "balanced"


def model_text(fitted: TableModel) -> str:
    """The classifier and its size in words."""
    classifier, size = fitted.classifier, fitted.facts.size
    leaves = max(getattr(classifier.feature_map_, "n_leaves", (1,)))
    name = f"{type(classifier).__name__} of size {size}"
    return name if leaves == 1 else f"{name}, {leaves} leaves"


def _print_summary(fitted: TableModel, output: Path) -> None:
    facts, used = fitted.facts, fitted.columns.used
    names = ", ".join(printable(column.name) for column in used[:8])
    more = f" and {len(used) - 8} more" if len(used) > 8 else ""
    lines = [
        rows_text(facts.rows, fitted.target, facts.rows_without_label),
        f"Classes: {counts_text(facts.class_counts)}",
        f"Columns: {len(used)} used, as {len(fitted.feature_names)} numbers: {names}{more}",
    ]
    if missing := _missing_text(fitted):
        lines.append(f"Missing: {missing}")
    for name, reason in fitted.columns.dropped.items():
        lines.append(f"Not used: {printable(name)}: {reason}")
    lines.append(f"Model: {model_text(fitted)}, seed {facts.seed}")
    for name, cost in (facts.costs or {}).items():
        lines.append(f"Cost of missing {printable(name)}: {cost:g}")
    if _own_priors(fitted):
        lines.append("Priors: classes as frequent as in the table")
    lines += _estimate_lines(fitted)
    click.echo("\n".join(lines))
    for warning in facts.warnings:
        click.echo(f"Note: {warning}", err=True)
    file = shlex.quote(str(output))
    click.echo(f"Written: {output}")
    click.echo(f"Next: eem evaluate {file} NEW_ROWS   or: eem report {file} NEW_ROWS")
