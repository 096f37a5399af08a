"""`eem report`: a page about a model and rows it is evaluated on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .options import ModelOnTable, on_table, output_option
from .output import command_line, echo_json, notes_so_far, prepare_output

if TYPE_CHECKING:
    from ..report import About
    from ..tables.model import LabelledRows, TableModel

PAGES = (".html", ".htm")


@click.command()
@output_option("PAGE", "The HTML file to write.", Path("report.html"))
@click.option("--title", default="", help="Headline of the page.")
@on_table
def report(use: ModelOnTable, output: Path, title: str, as_json: bool) -> None:
    """Write a page about MODEL, evaluated on the rows of DATA, which should be held out.

    It is one HTML file that opens in any browser and needs no network. The costs of mistakes can
    be changed on it.
    """
    from ..errors import InputError
    from ..progress import steps_shown
    from ..report.build import report_on_batches, write_page
    from ..report.classifiers import reported
    from ..tables.model import LabelledRows

    prepare_output(output, use.data)
    if output.suffix.lower() not in PAGES:
        raise InputError(
            f"The name of a report must end in {' or '.join(PAGES)}, since it is a web page; got "
            f"{str(output)!r}. For a PDF, open the page in a browser and print it."
        )
    fitted, source = use.open()
    rows = LabelledRows(fitted, source, "report on", progress="reading")
    with steps_shown(True, terminal_only=True):
        page = report_on_batches(
            reported(fitted.classifier), rows, lambda: _about(fitted, rows, source.name, title)
        )
    write_page(output, page)
    if as_json:
        echo_json({"report_file": str(output), "model_file": str(use.model), "data": str(use.data)})
    else:
        click.echo(f"Written: {output}")


def _about(fitted: TableModel, rows: LabelledRows, name: str, title: str) -> About:
    """What a report says of a model of a table, when all rows were read."""
    from ..report import About

    facts = fitted.facts
    return About(
        title=title,
        data=Path(name).name,
        learnt_from=Path(facts.source).name,
        target=fitted.target,
        columns=[column.name for column in fitted.columns.used],
        missing=rows.missing,
        changes=rows.drift.changes(),
        left_out=rows.rows_without_label,
        commands=[command for command in (facts.command, command_line()) if command],
        versions=facts.versions,
        seed=facts.seed,
        warnings=[*facts.warnings, *left_out(fitted.columns.dropped), *notes_so_far()],
        estimate=facts.estimate,
        baseline=facts.estimate.baseline if facts.estimate else None,
    )


def left_out(dropped: Mapping[str, str]) -> list[str]:
    """Sentences on columns that were not used, but for those that the user took out."""
    return [
        f"Column {name} was left out: {reason}"
        for name, reason in dropped.items()
        if not reason.startswith("left out by --drop")
    ]
