"""`eem report`: a page about a model and rows it is evaluated on."""

from __future__ import annotations

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
    model_and_table,
    na_option,
    prepare_output,
)

PAGES = (".html", ".htm")


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
@decision_options()
@na_option
@encoding_option
@json_option
def report(
    model: Path,
    data: Path,
    output: Path,
    title: str,
    decision: Decision,
    na: tuple[str, ...],
    encoding: str | None,
    as_json: bool,
) -> None:
    """Write a page about MODEL, evaluated on the rows of DATA, which should be held out.

    It is one HTML file that opens in any browser and needs no network. The costs of mistakes can
    be changed on it.
    """
    from ..errors import InputError
    from ..report.table import write_table_report

    prepare_output(output, data)
    if output.suffix.lower() not in PAGES:
        raise InputError(
            f"The name of a report must end in {' or '.join(PAGES)}, since it is a web page; got "
            f"{str(output)!r}. For a PDF, open the page in a browser and print it."
        )
    write_table_report(
        output,
        *model_and_table(model, data, decision, encoding, na),
        title=title,
        command=command_line(),
        progress=True,
    )
    if as_json:
        echo_json({"report_file": str(output), "model_file": str(model), "data": str(data)})
    else:
        click.echo(f"Written: {output}")
