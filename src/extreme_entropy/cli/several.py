"""An option that takes several values: `--datasets heart sonar`."""

from __future__ import annotations

from typing import Any

import click


class Several(click.Option):
    """All words up to the next option; the option may also be repeated."""

    def __init__(self, *names: Any, **attributes: Any) -> None:
        super().__init__(*names, **{**attributes, "multiple": True})

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        super().add_to_parser(parser, ctx)
        option = next(parser._long_opt[name] for name in self.opts if name in parser._long_opt)
        take = option.process

        def process(value: str, state: Any) -> None:
            take(value, state)
            while state.rargs and not state.rargs[0].startswith("-"):
                take(state.rargs.pop(0), state)

        option.process = process
