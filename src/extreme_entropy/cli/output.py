"""What commands share: options, JSON, and names from the data that cannot harm a terminal."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.decorators import FC

if TYPE_CHECKING:
    from ..tables.model import TableModel  # which needs pyarrow

FILE = click.Path(path_type=Path)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object to stdout, and nothing else."
)
model_output = click.option(
    "-o",
    "--output",
    required=True,
    type=FILE,
    metavar="MODEL",
    help="The file to write the model to.",
)


def priors_option(default: str) -> Callable[[FC], FC]:
    """The option that says how frequent classes are."""
    return click.option(
        "--priors",
        type=click.Choice(["balanced", "empirical"]),
        help="Classes equally frequent, or as frequent as in the training table: then "
        "probabilities match frequencies, and the frequent class is predicted more often. "
        f"[default: {default}]",
    )


def under_priors(fitted: TableModel, priors: str | None) -> TableModel:
    """The same model under other priors, which need no refitting; its own where none are given."""
    classifier = fitted.classifier
    return replace(fitted, classifier=classifier.with_costs(classifier.costs, priors=priors))


def echo_json(values: dict[str, Any]) -> None:
    """One object on stdout."""
    click.echo(json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False))


def printable(name: str) -> str:
    """A name from the data without characters that would act on a terminal."""
    return name if name.isprintable() and name.strip() == name and name else repr(name)


def counts_text(counts: Mapping[str, int], most: int | None = None) -> str:
    """Names with their counts, as in "no 242, yes 58"; of very many the first ones."""
    names = [f"{printable(name)} {n:,}" for name, n in counts.items()]
    more = f" and {len(names) - most} more" if most and len(names) > most else ""
    return ", ".join(names[:most]) + more


def rows_text(rows: int, target: str, without_label: int) -> str:
    """The line that says how many rows were read."""
    left_out = f" ({without_label:,} without one left out)" if without_label else ""
    return f"Rows: {rows:,} with a label in {printable(target)}{left_out}"


def command_line() -> str:
    """The command as it was given."""
    words = click.get_current_context().meta.get("eem.words", [])
    return shlex.join(["eem", *words])
