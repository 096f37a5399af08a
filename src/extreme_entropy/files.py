"""Files written whole or not at all: beside their place, then renamed over it."""

from __future__ import annotations

import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import InputError


@contextmanager
def written_whole(path: str | Path, *, durable: bool = False) -> Iterator[Path]:
    """A new file beside `path`, which takes its place if the block ends without an error.

    Parameters
    ----------
    path : path-like
        Where the file belongs. An existing file is replaced at once, or left as it was.
    durable : bool, default=False
        Force file and folder to the disk, so that not even a power cut leaves half of it.

    Yields
    ------
    Path
        An empty file to write to, with the permissions of any newly created file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from extreme_entropy.files import written_whole
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with written_whole(Path(folder, "a.txt")) as temporary:
    ...         _ = temporary.write_text("all of it")
    ...     Path(folder, "a.txt").read_text()
    'all of it'
    """
    path = Path(path)
    _refuse_devices(path)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    # The kernel applies the umask to 0o666; a file of `tempfile` would be the owner's alone.
    handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    mode = stat.S_IMODE(os.fstat(handle).st_mode)
    os.close(handle)
    try:
        yield temporary
        os.chmod(temporary, mode)  # some writers put a file of their own there
        if durable:
            _force_to_disk(temporary)
        move(temporary, path, durable=durable)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def move(source: Path, path: Path, *, durable: bool = False) -> None:
    """Give a file of the same disk another place, at once; what was there is replaced."""
    os.replace(source, path)
    if durable and os.name != "nt":  # Windows opens no folders
        _force_to_disk(path.parent)


def _force_to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDWR if path.is_file() else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def check_writable(path: str | Path, *tables: str | Path) -> None:
    """Raise unless a file can be written there, so that no work is done in vain.

    None of the tables, which are still to be read, may be replaced.
    """
    path = Path(path)
    if path.exists() and any(Path(t).exists() and path.samefile(t) for t in tables):
        raise InputError(
            f"The output must be another file than the table that is read; {str(path)!r} is both. "
            "Name another."
        )
    if path.is_dir():
        raise InputError(f"The output must be a file; {str(path)!r} is a folder.")
    _refuse_devices(path)
    if not path.parent.is_dir():
        raise InputError(
            f"The folder of the output must exist; there is no folder {str(path.parent)!r}."
        )
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise InputError(
            f"The output {str(path)!r} cannot be written ({error.strerror})."
        ) from error


def _refuse_devices(path: Path) -> None:
    """Raise where a rename would replace a device, a pipe, or what the system keeps for one."""
    is_other = path.exists() and not path.is_file()
    if is_other or path.name == "-" or path.parent.resolve() == Path("/dev"):
        raise InputError(
            f"The output must be a file, which is replaced as a whole; {str(path)!r} is a device, "
            "a pipe or a stream. Name a file, or leave out -o where a command writes to stdout."
        )
