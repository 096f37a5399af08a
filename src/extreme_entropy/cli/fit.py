"""`eem fit`: a table and the name of its target become a model in a file."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

from ..tables.fitting import fit_like, fit_table
from ..tables.labels import told
from ..tables.model import TableModel
from ..tables.reading import open_table
from .output import TABLE, check_place, command_line, echo_json, json_option, listed, shown
from .progress import watched
from .several import Several

EXAMPLES = """
\b
Examples:
  eem fit patients.csv --target ill -o patients.eem
  eem fit patients.parquet --target ill --cost yes=20 --drop name -o patients.eem
  eem fit monday/ --target ill --like patients.eem -o monday.eem
"""


@click.command(epilog=EXAMPLES)
@click.argument("train", type=TABLE)
@click.option("--target", metavar="COLUMN", help="The column that holds the labels.")
@click.option(
    "--model",
    type=click.Choice(["auto", "eem", "eekm"]),
    help="Random neurons, a kernel, or what does better. [default: auto]",
)
@click.option("--cost", "costs", cls=Several, metavar="LABEL=COST...", help="A mistake's cost.")
@click.option("--size", type=click.IntRange(1), metavar="H", help="Neurons or landmarks.")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), help="Of all chance. [default: 0]")
@click.option("--drop", cls=Several, metavar="COLUMN...", help="Columns to leave out.")
@click.option("--like", type=TABLE, metavar="MODEL", help="Read and see rows as MODEL does.")
@click.option("-o", "--output", required=True, type=TABLE, metavar="MODEL", help="Where to write.")
@json_option
def fit(
    train: Path,
    target: str | None,
    model: str | None,
    costs: tuple[str, ...],
    size: int | None,
    seed: int | None,
    drop: tuple[str, ...],
    like: Path | None,
    output: Path,
    as_json: bool,
) -> None:
    """Fit a model to the table TRAIN.

    TRAIN is a CSV, TSV, Parquet, Arrow or Feather file, or a folder of such files. Columns are
    looked at first: text becomes categories, dates become days, gaps are filled and marked. Then
    machines of several sizes are compared, and the best learns all rows.
    """
    priced = _costs(costs)
    check_place(output)
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
        fitted = fit_like(open_table(train), other, costs=priced, watch=watched)
    elif target is None:
        raise click.UsageError("Give the column that holds the labels: --target COLUMN")
    else:
        fitted = fit_table(
            open_table(train),
            target,
            model=model or "auto",
            size=size,
            costs=priced,
            seed=seed or 0,
            drop=drop,
            watch=watched,
        )
    fitted.facts["command"] = command_line()
    fitted.save(output)
    if as_json:
        echo_json(
            {"model_file": str(output), "target": fitted.target, **_columns(fitted), **fitted.facts}
        )
    else:
        _tell(fitted, output)


def _costs(pairs: tuple[str, ...]) -> dict[str, float]:
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
    return costs


def _columns(fitted: TableModel) -> dict[str, Any]:
    return {
        "columns": [column.name for column in fitted.columns.used],
        "features": fitted.columns.names,
    }


def _tell(fitted: TableModel, output: Path) -> None:
    facts, used = fitted.facts, fitted.columns.used
    gone = facts["rows_without_label"]
    left_out = f" ({gone:,} without one left out)" if gone else ""
    counts = (f"{shown(label)} {n:,}" for label, n in facts["class_counts"].items())
    click.echo(f"Rows: {facts['rows']:,} with a label in {shown(fitted.target)}{left_out}")
    click.echo(f"Classes: {', '.join(counts)}")
    names = listed([shown(column.name) for column in used])
    click.echo(f"Columns: {len(used)} used, as {len(fitted.columns.names)} numbers: {names}")
    kept = {column.name for column in used}
    gaps = [f"{shown(name)} {n:,}" for name, n in facts["missing"].items() if name in kept]
    if gaps:
        click.echo(f"Missing: {listed(gaps)}; filled by the median of a sample, and marked")
    for name, reason in fitted.columns.dropped.items():
        click.echo(f"Not used: {shown(name)}: {reason}")
    _tell_choice(fitted)
    for warning in facts["warnings"]:
        click.echo(f"Note: {warning}", err=True)
    click.echo(f"Written: {output}")
    file = shlex.quote(str(output))
    click.echo(f"Next: eem evaluate {file} NEW_ROWS   or: eem report {file} NEW_ROWS")


def _tell_choice(fitted: TableModel) -> None:
    facts = fitted.facts
    if facts["path"]:
        n = len(facts["path"])
        click.echo(
            f"Compared: {n} machine{'s' if n > 1 else ''} on {facts['compared_rows']:,} rows, "
            f"{facts['estimate']['folds']}-fold cross-validation"
        )
    click.echo(f"Machine: {facts['model'] or ''} of size {facts['size']}, seed {facts['seed']}")
    for label, cost in (fitted.classifier.costs or {}).items():
        click.echo(f"Cost of missing {shown(told(label))}: {cost:g}")
    guess = facts["estimate"]
    if guess:
        equal = ", at equal costs" if facts["costs"] else ""
        click.echo(
            f"GMean to expect: {guess['gmean']:.3f}, 95 % interval {guess['low']:.3f} to "
            f"{guess['high']:.3f} over folds{equal}"
        )
    else:
        click.echo("GMean to expect: not estimated; try eem evaluate on rows it has not seen")
