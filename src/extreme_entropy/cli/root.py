"""`eem`: the command that holds the others, each loaded when it is wanted.

What goes wrong is reported in one line on stderr, without a traceback: exit code 1, or 2 for wrong
usage. Where stdout is all that a command writes, losing it is an error; where a file is, the file
counts, and a note says that its summary was lost. A reader who has gone is neither.
"""

from __future__ import annotations

import difflib
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click

from .. import __version__
from ..terminal import Harmless, harmless_streams
from .memory import require_memory
from .output import WRITTEN, note

# In the order of the help; each is a file of this folder that holds a command of its own name.
COMMANDS = ("fit", "predict", "evaluate", "report", "export", "merge", "forget", "demo")


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Errors by bad input, a full disk or an interruption become one line on stderr.

    Warnings become notes on stderr, one line each.
    """

    def tell(message: Warning | str, *place: Any, **more: Any) -> None:
        text = str(message)
        if isinstance(message, Warning):
            from ..tables.notes import in_words_of_the_command

            text = in_words_of_the_command(message)
        note(" ".join(text.split()))

    with warnings.catch_warnings():
        warnings.showwarning = tell
        try:
            yield
        except BrokenPipeError as error:  # as by `| head`, which has seen enough
            raise click.exceptions.Exit(1) from error
        except KeyboardInterrupt as error:
            raise click.ClickException("Interrupted; no file was written or changed.") from error
        except click.UsageError as error:
            if "unexpected extra argument" not in error.message:
                raise
            raise click.UsageError(
                f"{error.message}. An option takes one value; repeat the option to give more. Put "
                "a name with spaces in quotes.",
                error.ctx,
            ) from error
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            message = _one_line(error)
            if not message:
                raise
            raise click.ClickException(message) from error


def _one_line(error: Exception) -> str:
    """What went wrong, for an error that input or the system can cause; of others nothing."""
    from ..errors import ExtremeEntropyError  # which takes a second to import

    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, ExtremeEntropyError):
        return text
    if isinstance(error, RuntimeError) and "start new thread" in text:
        return (
            "There is not enough memory for another thread, or the system allows no more of them; "
            "no file was changed."
        )
    if isinstance(error, MemoryError):
        return f"There is not enough memory for this ({text}); no file was changed."
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{str(error.filename)!r}: {error.strerror}."
    from_arrow = type(error).__module__.partition(".")[0] == "pyarrow"
    return text if from_arrow or isinstance(error, ValueError | ImportError | OSError) else ""


class Root(click.Group):
    """Loads commands lazily, keeps the words it was given, and never shows a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        with one_line_errors():
            return getattr(import_module(f".{cmd_name}", __package__), cmd_name)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta["eem.words"] = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            raise click.UsageError(
                f"The command comes first, then its options: eem COMMAND … {error.option_name} …",
                ctx,
            ) from error

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS:
            near = difflib.get_close_matches(args[0], COMMANDS, 1)
            hint = f"Did you mean {near[0]!r}?" if near else f"It is one of {', '.join(COMMANDS)}."
            raise click.UsageError(
                f"The first word must be a command; got {args[0]!r}. {hint}", ctx
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        commands = [(name, self.get_command(ctx, name)) for name in COMMANDS]
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, command.get_short_help_str(1000)) for name, command in commands if command]
            )

    def invoke(self, ctx: click.Context) -> Any:
        require_memory()
        with one_line_errors():
            result = super().invoke(ctx)
        if WRITTEN in ctx.meta and isinstance(sys.stdout, Harmless) and sys.stdout.lost:
            if not isinstance(sys.stdout.lost, BrokenPipeError):
                click.echo(
                    f"Note: {ctx.meta[WRITTEN]!r} was written, but its summary could not be "
                    f"printed (stdout: {sys.stdout.lost.strerror}).",
                    err=True,
                )
            sys.stdout.lost = None
        return result

    def main(self, *args: Any, **options: Any) -> Any:
        with harmless_streams() as stdout:
            try:
                return super().main(*args, **options)
            except SystemExit as end:
                if end.code or stdout.lost is None:
                    raise
                if not isinstance(stdout.lost, BrokenPipeError):
                    reason = stdout.lost.strerror
                    click.echo(f"Error: Standard output cannot be written ({reason}).", err=True)
                raise SystemExit(1) from stdout.lost


@click.group(cls=Root, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="eem")
def root() -> None:
    """Extreme Entropy Machines: closed-form classifiers for tables with a rare class.

    Start with: eem fit TABLE --target COLUMN -o MODEL
    """
