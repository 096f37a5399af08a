"""`eem demo`: the main job on a data set that ships with scikit-learn."""

from __future__ import annotations

from pathlib import Path

import click

from .options import FILE
from .output import prepare_output


@click.command()
@click.option(
    "--out",
    type=FILE,
    default=Path("eem-demo-report.html"),
    show_default=True,
    metavar="PAGE",
    help="The HTML file to write the report to.",
)
@click.option(
    "--tables",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Also write the rows there, as tumours.csv and new.csv, to try the other commands on.",
)
def demo(out: Path, tables: Path | None) -> None:
    """Fit a classifier on breast-cancer data with a rare class, and report on it."""
    from .tour import show

    prepare_output(out)
    show(out, tables)
