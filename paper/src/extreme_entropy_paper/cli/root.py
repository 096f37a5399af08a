"""`eem-paper`: the command that holds the others."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from extreme_entropy import __version__
from extreme_entropy.errors import ExtremeEntropyError


class LazyGroup(click.Group):
    """Loads the module of a command when it is wanted; the command has the module's name."""

    def __init__(self, *words: Any, package: str = "", modules: tuple[str, ...] = (), **more: Any):
        super().__init__(*words, **more)
        self.package, self.modules = package, modules

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name.replace("_", "-") for name in self.modules]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        name = cmd_name.replace("-", "_")
        if name not in self.modules:
            return None
        found: click.Command = getattr(import_module(f"{self.package}.{name}"), name)
        return found

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except ExtremeEntropyError as error:
            raise click.ClickException(str(error)) from error


@click.group(
    cls=LazyGroup,
    package="extreme_entropy_paper.cli",
    modules=("data", "reproduce", "bench"),
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="eem-paper")
def root() -> None:
    """The paper "Extreme Entropy Machines": its data, its tables and figures, the benchmarks.

    Start with: eem-paper reproduce uci --dataset heart --dataset sonar
    """
