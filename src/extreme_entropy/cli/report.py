"""`eem report`: a page about a model and rows it is judged on."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from ..report.table import report_on_table
from ..report.writing import write_whole
from ..tables.model import TableModel
from ..tables.reading import open_table
from .output import TABLE, check_place, command_line, echo_json, json_option
from .progress import watched


@click.command()
@click.argument("model", type=TABLE)
@click.argument("data", type=TABLE)
@click.option(
    "-o",
    "--output",
    type=TABLE,
    default=Path("report.html"),
    show_default=True,
    metavar="PAGE",
    help="Where to write.",
)
@click.option("--title", default="", help="Headline of the page.")
@json_option
def report(model: Path, data: Path, output: Path, title: str, as_json: bool) -> None:
    """Write a page about MODEL, judged by the rows of DATA, which it should not have seen.

    It is one HTML file that opens in any browser and asks the network for nothing. Costs of
    mistakes can be tried out on it.
    """
    check_place(output)
    fitted, source = TableModel.load(model), open_table(data)
    watch = partial(watched, label="reading", source=source)
    write_whole(
        output,
        report_on_table(fitted, source, title=title, command=command_line(), watch=watch),
    )
    if as_json:
        echo_json({"report_file": str(output), "model_file": str(model), "data": str(data)})
    else:
        click.echo(f"Written: {output}")
