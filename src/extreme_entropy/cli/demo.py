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
def demo(out: Path) -> None:
    """Fit a classifier on breast-cancer data with a rare class, and report on it."""
    from .tour import show

    prepare_output(out)
    show(out)
