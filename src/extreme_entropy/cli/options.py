"""The options that commands share, and what they become.

Nothing heavy is imported until a command does its work, so that help and completion are quick.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from ..estimators.inputs import NamedPriors
    from ..tables.model import TableModel
    from ..tables.reading import TableSource

Command = Callable[..., None]
Option = Callable[[Command], Command]  # a decorator of commands

FILE = click.Path(path_type=Path)
json_option: Option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object to stdout, and nothing else."
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


def output_option(metavar: str, help: str, default: Path | None = None) -> Option:
    """`-o`, the file that a command writes; required unless there is a default."""
    shown: dict[str, Any] = {"default": default, "show_default": True}
    need = shown if default else {"required": True}
    return click.option("-o", "--output", type=FILE, metavar=metavar, help=help, **need)


model_output = output_option("MODEL", "The file to write the model to.")


def columns_option(name: str, help: str) -> Option:
    """An option that names columns, one at a time."""
    return click.option(name, multiple=True, metavar="COLUMN", help=f"{help}; may be repeated.")


@dataclass(frozen=True)
class DecisionOptions:
    """Costs and priors as a command line gives them; None where it does not."""

    costs: dict[str, float] | None
    priors: NamedPriors | dict[str, float] | None

    def of(self, fitted: TableModel) -> TableModel:
        """The model under these costs and priors, without refitting."""
        from ..tables.costs import with_costs

        return with_costs(fitted, self.costs, self.priors)


def decision_options(cost: str = "that of the model", priors: str = "those of the model") -> Option:
    """`--cost`, `--prior` and `--priors`, which the command gets as one `decision`."""
    options = (
        click.option(
            "--cost",
            "costs",
            multiple=True,
            metavar="LABEL=COST",
            help="Cost of missing a row of this label, 1 for others; may be repeated. Classes are "
            "then taken for as frequent as in the training table, so that mistakes cost least "
            f"there. [default: {cost}; 1 where priors are given]",
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
            "probabilities match frequencies. Without a --cost the most probable class is "
            f"predicted. [default: {priors}; empirical where a --cost is given]",
        ),
    )

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def with_decision(
            *, costs: Sequence[str], shares: Sequence[str], priors: NamedPriors | None, **rest: Any
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
            command(decision=DecisionOptions(by_label, frequent), **rest)

        return _decorated(with_decision, options)

    return decorate


def _decorated(command: Command, options: Sequence[Option]) -> Command:
    """A command with these options, in their order in the help."""
    return functools.reduce(lambda decorated, option: option(decorated), reversed(options), command)


def _by_label(
    pairs: Sequence[str], what: str, form: str, below: float = float("inf")
) -> dict[str, float] | None:
    """Numbers by label, from LABEL=NUMBER; a label may have an equals sign in it."""
    values: dict[str, float] = {}
    for pair in pairs:
        label, sign, number = pair.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            value = float("nan")
        if not sign or not 0 < value < below:
            raise click.UsageError(f"A {what} must be {form}; got {pair!r}.")
        if label in values:
            raise click.UsageError(f"A label has one {what}; {label!r} was given two.")
        values[label] = value
    return values or None


@dataclass(frozen=True)
class ModelOnTable:
    """A model that is used on a table, as a command line names them."""

    model: Path
    data: Path
    decision: DecisionOptions
    na: Sequence[str]
    encoding: str | None

    def open(self) -> tuple[TableModel, TableSource]:
        """The model under the costs and priors, and the table."""
        from ..tables.model import TableModel
        from ..tables.reading import open_table

        require_model_first(self.model, self.data)
        fitted = self.decision.of(TableModel.load(self.model).with_missing(self.na))
        return fitted, open_table(self.data, encoding=self.encoding)


def require_model_first(model: Path, table: Path) -> None:
    """Raise if the table and the model were named in the wrong order."""
    from ..tables.reading import KINDS

    swapped = [path.name.lower().endswith(tuple(KINDS)) for path in (model, table)]
    if swapped == [True, False] and str(table) != "-" and not table.is_dir():
        command = click.get_current_context().info_name
        raise click.UsageError(
            f"The model comes first, then the table: eem {command} {table} {model} …"
        )


def on_table(command: Command) -> Command:
    """MODEL, DATA and the options of a model's use, as one `use`; and `--json`."""

    @functools.wraps(command)
    def with_use(
        *,
        model: Path,
        data: Path,
        decision: DecisionOptions,
        na: Sequence[str],
        encoding: str | None,
        **rest: Any,
    ) -> None:
        command(use=ModelOnTable(model, data, decision, na, encoding), **rest)

    arguments = [click.argument(name, type=FILE) for name in ("model", "data")]
    return _decorated(
        with_use, [*arguments, decision_options(), na_option, encoding_option, json_option]
    )
