"""`eem`: the command that holds the others."""

from __future__ import annotations

import click

from .. import __version__
from .data import data
from .demo import demo
from .reproduce import reproduce


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="eem")
def root() -> None:
    """Extreme Entropy Machines: closed-form classifiers for tables with a rare class."""


root.add_command(data)
root.add_command(demo)
root.add_command(reproduce)
