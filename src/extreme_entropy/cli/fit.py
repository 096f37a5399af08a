"""`eem fit`: a table and the name of its target become a model in a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .options import (
    FILE,
    DecisionOptions,
    columns_option,
    decision_options,
    encoding_option,
    json_option,
    model_output,
    na_option,
)
from .output import command_line, echo_json, prepare_output

if TYPE_CHECKING:
    from ..tables.fitting import FitRequest
    from ..tables.model import TableModel

READ_AS = ("text", "number", "category", "date")  # options that say how columns are read

EXAMPLES = """
\b
Examples:
  eem fit patients.csv --target ill -o patients.eem
  eem fit patients.parquet --target ill --cost yes=20 --drop name -o patients.eem
  eem fit sales.xlsx --target sold --text zip --time month -o sales.eem
  eem fit monday/ --target ill --like patients.eem -o monday.eem
"""


@click.command(epilog=EXAMPLES)
@click.argument("train", type=FILE)
@click.option("--target", metavar="COLUMN", help="The column that holds the labels.")
@click.option(
    "--classes", is_flag=True, help="Take each number in the target for a class, even if many."
)
@click.option(
    "--model",
    type=click.Choice(["auto", "eem", "eekm"]),
    help="A classifier that grows with the table, random neurons, or a kernel. [default: auto]",
)
@decision_options("in inverse proportion to frequency", "empirical")
@columns_option("--drop", "Leave out")
@columns_option("--text", "Read as text, as it is spelt")
@columns_option("--number", "Read as numbers, other cells as missing")
@columns_option("--category", "Read as categories, however many there are")
@columns_option(
    "--date",
    "Read as dates, other cells as missing. COLUMN=dmy, =mdy or =ymd says in which order day, "
    "month and year come",
)
@na_option
@encoding_option
@click.option(
    "--time",
    metavar="COLUMN",
    help="Estimate on the rows that are last in COLUMN, by learning from those before them. The "
    "model learns from COLUMN as from any other.",
)
@click.option(
    "--group",
    metavar="COLUMN",
    help="Estimate on whole groups, such as all rows of a patient. The model does not learn from "
    "COLUMN, unless --text, --number, --category or --date names it.",
)
@click.option("--no-baseline", is_flag=True, help="Do not compare with gradient boosting.")
@click.option(
    "--size",
    type=click.IntRange(1),
    metavar="H",
    help="Neurons, or landmarks of each leaf. [default: as the model has it]",
)
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), help="Random seed. [default: 0]")
@click.option(
    "--like",
    type=FILE,
    metavar="MODEL",
    help="Use the columns and the feature map of MODEL, so that the two can be merged.",
)
@click.option(
    "--slim",
    is_flag=True,
    help="Keep only what predictions need: a small file, which cannot be merged or forget rows.",
)
@model_output
@click.option("-v", "--verbose", is_flag=True, help="List every column, and how it is read.")
@json_option
def fit(
    train: Path,
    target: str | None,
    decision: DecisionOptions,
    encoding: str | None,
    like: Path | None,
    slim: bool,
    output: Path,
    verbose: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Fit a model to the table TRAIN.

    TRAIN is a CSV, TSV, Excel, Parquet, Arrow or Feather file, a folder of such files, or - for CSV
    from standard input. Columns may hold numbers, dates or text, and values may be missing. Some
    rows are held out to estimate how good the model is, and whether it pays, compared with gradient
    boosting on the same rows.
    """
    from ..tables.fitting import fit_like, fit_table
    from ..tables.reading import open_table
    from .fit_summary import print_fit

    prepare_output(output, train)
    named = {
        name: value
        for name, value in options.items()
        if value is not None and value is not False and value != ()
    }
    if like is None:
        request = _request(target, decision, named)
        fitted = fit_table(open_table(train, encoding=encoding), request)
    else:
        first = _first_model(like, target, named)
        source = open_table(train, encoding=encoding)
        fitted = fit_like(source, first, decision.costs, decision.priors, progress=True)
    fitted = replace(fitted, facts=replace(fitted.facts, command=command_line()))
    if slim:
        fitted = replace(fitted, classifier=fitted.classifier.slim())
    fitted.save(output)
    if not as_json:
        print_fit(fitted, output, verbose=verbose, slim=slim)
        return
    from ..tables.costs import by_text

    priors = fitted.classifier.priors
    echo_json(
        {
            "model_file": str(output),
            "target": fitted.target,
            "columns": [column.name for column in fitted.columns.used],
            "read_as": {column.name: column.kind for column in fitted.columns.used},
            "features": fitted.feature_names,
            "dropped": dict(fitted.columns.dropped),
            "priors": by_text(priors) if isinstance(priors, Mapping) else priors,
            **asdict(fitted.facts),
            "costs": fitted.facts.costs or fitted.classifier.costs,
        }
    )


def _first_model(like: Path, target: str | None, named: Mapping[str, Any]) -> TableModel:
    """The model whose columns and feature map another is to have, and no options of its own."""
    from ..tables.model import TableModel

    if named:
        words = ", ".join(f"--{name.replace('_', '-')}" for name in named)
        raise click.UsageError(f"--like takes all from MODEL: no {words}.")
    first = TableModel.load(like)
    if target not in (None, first.target):
        raise click.UsageError(f"--like {like} has the target {first.target!r}, not {target!r}.")
    return first


def _request(target: str | None, decision: DecisionOptions, named: dict[str, Any]) -> FitRequest:
    """The options that were named; all others are as the request has them."""
    from ..tables.fitting import FitRequest

    if target is None:
        raise click.UsageError("Give the column that holds the labels: --target COLUMN")
    if "time" in named and "group" in named:
        raise click.UsageError("Give --time or --group, not both.")
    return FitRequest(
        target,
        costs=decision.costs,
        priors=decision.priors,
        read_as={kind: named.pop(kind) for kind in READ_AS if kind in named},
        missing=named.pop("na", ()),
        baseline=not named.pop("no_baseline", False),
        progress=True,
        **named,
    )
