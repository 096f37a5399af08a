"""`eem`: the command that holds the others, each loaded when it is wanted."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from .. import __version__
from .plain import plain_errors

# In the order of the help; each is a file of this folder that holds a command of its own name.
COMMANDS = ("fit", "predict", "evaluate", "report", "merge", "forget", "demo")


class Root(click.Group):
    """Loads commands lazily, keeps the words it was given, and never shows a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        with plain_errors():
            return getattr(import_module(f".{cmd_name}", __package__), cmd_name)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta["eem.words"] = list(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        with plain_errors():
            return super().invoke(ctx)


@click.group(cls=Root, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="eem")
def root() -> None:
    """Extreme Entropy Machines: closed-form classifiers for tables with a rare class.

    Start with: eem fit TABLE --target COLUMN -o MODEL
    """
