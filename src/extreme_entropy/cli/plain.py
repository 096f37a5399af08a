"""What goes wrong is said in one line, without a traceback: exit code 1, or 2 for wrong usage."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from ..errors import ExtremeEntropyError


@contextmanager
def plain_errors() -> Iterator[None]:
    """Errors that bad input, a full disk or an impatient user cause become one line on stderr.

    A context and a decorator. Warnings become notes on stderr, one line each.
    """
    with warnings.catch_warnings():
        warnings.showwarning = _note
        try:
            yield
        except BrokenPipeError as error:
            raise click.ClickException("The output was closed before all was written.") from error
        except KeyboardInterrupt as error:
            raise click.ClickException("Interrupted; no file was written or changed.") from error
        except (ExtremeEntropyError, ValueError, ImportError, MemoryError) as error:
            raise click.ClickException(one_line(error)) from error
        except OSError as error:
            raise click.ClickException(_of_system(error)) from error
        except Exception as error:
            if type(error).__module__.partition(".")[0] != "pyarrow":
                raise
            raise click.ClickException(one_line(error)) from error


def one_line(error: object) -> str:
    """An error's message on one line."""
    return " ".join(str(error).split()) or type(error).__name__


def _of_system(error: OSError) -> str:
    if error.filename is not None and error.strerror:
        return f"{str(error.filename)!r}: {error.strerror}."
    return one_line(error)


def _note(message: Warning | str, *place: Any, **more: Any) -> None:
    click.echo(f"Note: {one_line(message)}", err=True)
