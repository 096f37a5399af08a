"""Files written whole or not at all: beside their place, then renamed over it."""

from __future__ import annotations

import os
import re
import secrets
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .errors import InputError


@contextmanager
def written_whole(path: str | Path, *, durable: bool = False) -> Iterator[Path]:
    """A new file beside `path`, which takes its place if the block ends without an error.

    An existing file is replaced at once, or left as it was; the new one has its permissions, and is
    private as long as it is written. A symbolic link stays, and the file it points to is replaced.
    With `durable`, file and folder are forced to the disk: not even a power cut leaves half of it.
    """
    path = Path(path)
    _refuse_devices(path)
    path = _linked(path)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    # The kernel applies the umask to 0o666; a file of `tempfile` would be the owner's alone.
    private_or_usual = 0o600 if path.exists() else 0o666
    handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, private_or_usual)
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
    """Replace the file at `path`, or that it links to, at once; permissions stay as they were."""
    path = _linked(path)
    with suppress(FileNotFoundError):
        replaced = path.stat()
        if os.name != "nt":
            with suppress(PermissionError):  # only root gives files away
                os.chown(source, replaced.st_uid, replaced.st_gid)
        os.chmod(source, stat.S_IMODE(replaced.st_mode))
    os.replace(source, path)
    if durable and os.name != "nt":  # Windows opens no folders
        _force_to_disk(path.parent)


@contextmanager
def workplace(path: Path) -> Iterator[Path]:
    """A folder beside `path` for its temporary files, which is removed at the end.

    It is locked as long as the process lives, so that `remove_leftovers` knows it from what a
    killed process has left there. No other program gives a folder such a name.
    """
    folder, lock = _locked_folder(_linked(path))
    try:
        yield folder
    finally:
        _remove(folder)
        if lock is not None:
            os.close(lock)


def remove_leftovers(path: Path) -> None:
    """Remove the folders that killed processes have left beside `path`, but none in use."""
    path = _linked(path)
    form = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{16}}\.checkpoint")
    for name in os.listdir(path.parent):
        if not form.fullmatch(name):
            continue
        with suppress(OSError):  # it is in use, of another user, or no folder
            lock = _lock(path.with_name(name), wait=False)
            if lock is not None:
                try:
                    _remove(path.with_name(name))
                finally:
                    os.close(lock)


def _locked_folder(path: Path) -> tuple[Path, int | None]:
    """A new folder beside `path`, and what `_lock` says of it."""
    while True:
        folder = path.with_name(f".{path.name}.{secrets.token_hex(8)}.checkpoint")
        folder.mkdir(mode=0o700)
        with suppress(FileNotFoundError):  # another process took it for a leftover at once
            lock = _lock(folder, wait=True)
            if folder.exists():
                return folder, lock
            if lock is not None:
                os.close(lock)


def _lock(folder: Path, *, wait: bool) -> int | None:
    """The handle of a folder that is now ours alone until it is closed; None on Windows."""
    try:
        import fcntl
    except ImportError:
        return None
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        os.close(handle)
        if not wait:
            raise
        return None  # a disk without locks
    return handle


def _remove(folder: Path) -> None:
    """Remove a folder of files; one that holds anything else stays as it is."""
    files = list(folder.iterdir())
    if all(file.is_file() for file in files):
        for file in files:
            file.unlink()
        folder.rmdir()


def _linked(path: Path) -> Path:
    """The file that a symbolic link leads to, or the path itself."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


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
    path = _linked(path)
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
    folder = path.parent.resolve()
    of_system = folder == Path("/dev") or (folder.parts[1:2], folder.name) == (("proc",), "fd")
    if is_other or path.name == "-" or of_system:
        raise InputError(
            f"The output must be a file, which is replaced as a whole; {str(path)!r} is a device, "
            "a pipe or a stream. Name a file, or leave out -o where a command writes to stdout."
        )
