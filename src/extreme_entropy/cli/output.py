"""What commands share: options, the file that is written, JSON, and names from the data.

Nothing heavy is imported until a command does its work, so that help and completion are quick.
"""

from __future__ import annotations

import functools
import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from ..estimators.inputs import NamedPriors
    from ..tables.model import TableModel
    from ..tables.reading import Source

Option = Callable[[Callable[..., None]], Callable[..., None]]  # a decorator of commands

WRITTEN = "eem.written"  # the file that a command writes, in the context of click
FILE = click.Path(path_type=Path)
json_option: Option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object to stdout, and nothing else."
)
model_output: Option = click.option(
    "-o",
    "--output",
    required=True,
    type=FILE,
    metavar="MODEL",
    help="The file to write the model to.",
)
encoding_option: Option = click.option(
    "--encoding",
    metavar="NAME",
    help="How text files are encoded, such as latin-1. [default: UTF-8, or guessed with a note]",
)
na_option: Option = click.option(
    "--na",
    multiple=True,
    metavar="TEXT",
    help="A cell of this text is missing, as empty ones are; may be repeated.",
)


@dataclass(frozen=True)
class Decision:
    """Costs and priors as a command line gives them; None where it does not."""

    costs: dict[str, float] | None
    priors: NamedPriors | dict[str, float] | None

    def of(self, fitted: TableModel) -> TableModel:
        """The model under these costs and priors, without refitting."""
        from ..tables.costs import with_costs

        return with_costs(fitted, self.costs, self.priors)


def decision_options(cost: str = "that of the model", priors: str = "those of the model") -> Option:
    """`--cost`, `--prior` and `--priors`, which the command gets as one `decision`."""
    options = [
        click.option(
            "--cost",
            "costs",
            multiple=True,
            metavar="LABEL=COST",
            help="Cost of missing a row of this label, 1 for others; may be repeated. Classes are "
            "then taken for as frequent as in the training table, so that mistakes cost least "
            f"there. [default: {cost}]",
        ),
        click.option(
            "--prior",
            "shares",
            multiple=True,
            metavar="LABEL=SHARE",
            help="How frequent this label is where the model is used, such as yes=0.02; others "
            "share the rest. May be repeated.",
        ),
        click.option(
            "--priors",
            type=click.Choice(["balanced", "empirical"]),
            help="Classes equally frequent, or as frequent as in the training table: then "
            "probabilities match frequencies, and the frequent class is predicted more often. "
            f"[default: {priors}; empirical where a --cost is given]",
        ),
    ]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def with_decision(
            *, costs: Sequence[str], shares: Sequence[str], priors: NamedPriors | None, **given: Any
        ) -> None:
            if shares and priors:
                raise click.UsageError("Give --prior or --priors, not both.")
            by_label = _by_label(
                costs, "cost", "LABEL=COST with a positive number, such as yes=2.5"
            )
            frequent = priors or _by_label(
                shares, "prior", "LABEL=SHARE between 0 and 1", below=1.0
            )
            # What mistakes cost in all depends on how frequent classes are: at equal priors a
            # cost would come on top of the weight that a rare class has already.
            if by_label and not frequent:
                frequent = "empirical"
            command(decision=Decision(by_label, frequent), **given)

        return functools.reduce(lambda f, option: option(f), reversed(options), with_decision)

    return decorate


def _by_label(
    pairs: Sequence[str], what: str, form: str, below: float = float("inf")
) -> dict[str, float] | None:
    """Numbers by label, from LABEL=NUMBER; a label may have an equals sign in it."""
    found = {}
    for pair in pairs:
        label, sign, number = pair.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            value = float("nan")
        if not sign or not 0 < value < below:
            raise click.UsageError(f"A {what} must be {form}; got {pair!r}.")
        if label in found:
            raise click.UsageError(f"A label has one {what}; {label!r} was given two.")
        found[label] = value
    return found or None


def model_and_table(
    model: Path, data: Path, decision: Decision, encoding: str | None, na: Sequence[str]
) -> tuple[TableModel, Source]:
    """A model under costs and priors, and the table it is used on."""
    from ..tables.model import TableModel
    from ..tables.reading import open_table

    fitted = decision.of(TableModel.load(model).with_missing(na))
    return fitted, open_table(data, encoding=encoding)


def prepare_output(path: str | Path, *tables: str | Path) -> None:
    """Raise unless the output of a command can be written, and is none of the tables."""
    from ..files import check_writable

    check_writable(path, *tables)
    click.get_current_context().meta[WRITTEN] = str(path)


def echo_json(values: dict[str, Any]) -> None:
    """One object on stdout."""
    click.echo(json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False))


def printable(name: str) -> str:
    """A name from the data in one line, in quotes where its end could not be seen otherwise."""
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
