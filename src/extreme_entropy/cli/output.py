"""What commands print and write: places checked before the work, JSON, names that cannot harm."""

from __future__ import annotations

import json
import shlex
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ..errors import InputError


def check_place(path: str | Path) -> Path:
    """Raise unless a file can be written there, so that no work is done in vain."""
    path = Path(path)
    if path.is_dir():
        raise InputError(f"The output must be a file; {str(path)!r} is a folder.")
    if not path.parent.is_dir():
        raise InputError(
            f"The folder of the output must exist; there is no folder {str(path.parent)!r}."
        )
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            return path
    except OSError as error:
        raise InputError(
            f"The output {str(path)!r} cannot be written ({error.strerror})."
        ) from error


def json_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option --json."""
    told = "Print one JSON object to stdout, and nothing else there."
    return click.option("--json", "as_json", is_flag=True, help=told)(command)


def echo_json(values: dict[str, Any]) -> None:
    """One object on stdout."""
    click.echo(json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False))


def shown(name: str) -> str:
    """A name from the data, harmless to a terminal."""
    return name if name.isprintable() and name.strip() == name and name else repr(name)


def listed(names: list[str], most: int = 8) -> str:
    """Some names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def command_line() -> str:
    """The command as it was given."""
    words = click.get_current_context().meta.get("eem.words", [])
    return shlex.join(["eem", *words])


TABLE = click.Path(path_type=Path)
