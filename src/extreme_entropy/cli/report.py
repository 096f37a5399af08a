"""`eem report`: a page about a model and rows it is evaluated on."""

from __future__ import annotations

from pathlib import Path

import click

from ..files import check_writable
from ..report.table import write_table_report
from ..tables.model import TableModel
from ..tables.reading import open_table
from .output import FILE, command_line, echo_json, json_option


@click.command()
@click.argument("model", type=FILE)
@click.argument("data", type=FILE)
@click.option(
    "-o",
    "--output",
    type=FILE,
    default=Path("report.html"),
    show_default=True,
    metavar="PAGE",
    help="The HTML file to write.",
)
@click.option("--title", default="", help="Headline of the page.")
@json_option
def report(model: Path, data: Path, output: Path, title: str, as_json: bool) -> None:
    """Write a page about MODEL, evaluated on the rows of DATA, which should be held out.

    It is one HTML file that opens in any browser and needs no network. The costs of mistakes can
    be changed on it.
    """
    check_writable(output)
    write_table_report(
        output,
        TableModel.load(model),
        open_table(data),
        title=title,
        command=command_line(),
        progress=True,
    )
    if as_json:
        echo_json({"report_file": str(output), "model_file": str(model), "data": str(data)})
    else:
        click.echo(f"Written: {output}")
