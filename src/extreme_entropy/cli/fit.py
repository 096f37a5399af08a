"""`eem fit`: a table and the name of its target become a model in a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

import click

from .output import (
    FILE,
    Decision,
    command_line,
    decision_options,
    echo_json,
    encoding_option,
    json_option,
    model_output,
    na_option,
    prepare_output,
)

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
    "--model",
    type=click.Choice(["auto", "eem", "eekm"]),
    help="A classifier that grows with the table, random neurons, or a kernel. [default: auto]",
)
@decision_options("1", "balanced")
@click.option("--drop", multiple=True, metavar="COLUMN", help="Leave out; may be repeated.")
@click.option(
    "--text", multiple=True, metavar="COLUMN", help="Read as text, as it is spelt; may be repeated."
)
@click.option(
    "--number",
    multiple=True,
    metavar="COLUMN",
    help="Read as numbers, other cells as missing; may be repeated.",
)
@click.option(
    "--category",
    multiple=True,
    metavar="COLUMN",
    help="Read as categories, however many there are; may be repeated.",
)
@click.option(
    "--date",
    multiple=True,
    metavar="COLUMN",
    help="Read as dates, other cells as missing; may be repeated. COLUMN=dmy, =mdy or =ymd says "
    "in which order day, month and year come.",
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
@click.option(
    "--no-baseline", is_flag=True, help="Do not estimate gradient boosting on the same rows."
)
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
@model_output
@click.option("-v", "--verbose", is_flag=True, help="List every column, and how it is read.")
@json_option
def fit(
    train: Path,
    target: str | None,
    model: str | None,
    decision: Decision,
    drop: tuple[str, ...],
    text: tuple[str, ...],
    number: tuple[str, ...],
    category: tuple[str, ...],
    date: tuple[str, ...],
    na: tuple[str, ...],
    encoding: str | None,
    time: str | None,
    group: str | None,
    no_baseline: bool,
    size: int | None,
    seed: int | None,
    like: Path | None,
    output: Path,
    verbose: bool,
    as_json: bool,
) -> None:
    """Fit a model to the table TRAIN.

    TRAIN is a CSV, TSV, Excel, Parquet, Arrow or Feather file, a folder of such files, or - for CSV
    from standard input. Columns may hold numbers, dates or text, and values may be missing. How
    well the model predicts rows it has not learnt is estimated on a sample, beside gradient
    boosting.
    """
    from ..tables.fitting import fit_like, fit_table
    from ..tables.model import TableModel
    from ..tables.reading import open_table
    from .summary import print_fit

    prepare_output(output, train)
    if like is not None:
        own = {"--model": model, "--size": size, "--drop": drop, "--text": text, "--date": date}
        own |= {"--number": number, "--category": category, "--time": time, "--group": group}
        own |= {"--na": na, "--no-baseline": no_baseline, "--seed": seed is not None}
        if given := [option for option, value in own.items() if value]:
            raise click.UsageError(f"--like takes all from MODEL: no {', '.join(given)}.")
        other = TableModel.load(like)
        if target not in (None, other.target):
            raise click.UsageError(
                f"--like {like} has the target {other.target!r}, not {target!r}."
            )
        fitted = fit_like(
            open_table(train, encoding=encoding),
            other,
            costs=decision.costs,
            priors=decision.priors,
            progress=True,
        )
    elif target is None:
        raise click.UsageError("Give the column that holds the labels: --target COLUMN")
    elif time is not None and group is not None:
        raise click.UsageError("Give --time or --group, not both.")
    else:
        fitted = fit_table(
            open_table(train, encoding=encoding),
            target,
            model=model or "auto",
            size=size,
            costs=decision.costs,
            priors=decision.priors or "balanced",
            seed=seed or 0,
            drop=drop,
            read_as={"text": text, "number": number, "category": category, "date": date},
            missing=na,
            time=time,
            group=group,
            baseline=not no_baseline,
            progress=True,
        )
    fitted = replace(fitted, facts=replace(fitted.facts, command=command_line()))
    fitted.save(output)
    if not as_json:
        print_fit(fitted, output, verbose=verbose)
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
        }
    )
