"""Every command with odd standard streams, on tables whose cells would act on a terminal.

    python -m fuzz.streams --seconds 60 --seed 0
    python -m fuzz.streams --seed 0 --case 17    one case again

A case follows from the seed and its number: a command, and for each of its streams whether it is
closed, full, a file, a pipe, a pipe that nobody reads to its end, or a terminal. Findings are a
traceback, an exit code that does not agree with the file that was to be written, an error without a
line that says so, temporary files, and control characters on their way to people, but for those of
the progress bar. They are printed with what to give for a replay.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from functools import cache, partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

from . import main
from .serving import replay, run, serve

Rng = np.random.Generator

MEMORY = 8 * 2**30  # bytes of addresses
SECONDS = 120  # that a case may take, on a busy computer too
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
BAR = re.compile("\r|\x1b\\[A")  # what a progress bar moves the cursor with
HOSTILE = ["\x1b]0;owned\x07", "\x1b[2J", "\x9b31m", "\u202eabc", "\rError: x", "\b\b", "é😀", "a"]
ENVIRONMENTS: list[dict[str, str]] = [
    {},
    {"PYTHONUNBUFFERED": "1"},
    {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
]
QUICK = ["--target", "y", "--model", "eem", "--size", "5", "--no-baseline"]
# Words, and the file that they write.
COMMANDS: list[tuple[list[str], str]] = [
    (["fit", "a.csv", *QUICK, "-o", "out.eem"], "out.eem"),
    (["fit", "a.csv", *QUICK, "--verbose", "-o", "out.eem"], "out.eem"),
    (["fit", "a.csv", *QUICK, "--json", "-o", "out.eem"], "out.eem"),
    (["fit", "-", *QUICK, "-o", "out.eem"], "out.eem"),
    (["fit", "bad.csv", *QUICK, "-o", "out.eem"], "out.eem"),
    (["fit", "a.csv", "--target", HOSTILE[0], "-o", "out.eem"], "out.eem"),
    (["fit", "a.csv", "--like", "m.eem", "-o", "out.eem"], "out.eem"),
    (["predict", "m.eem", "a.csv", "--proba", "--keep-all", "-o", "out.csv"], "out.csv"),
    (["predict", "m.eem", "bad.csv", "-o", "out.csv"], "out.csv"),
    (["predict", "m.eem", "a.csv", "--json", "-o", "out.csv"], "out.csv"),
    (["predict", "m.eem", "a.csv"], ""),
    (["predict", "m.eem", "-"], ""),
    (["evaluate", "m.eem", "a.csv"], ""),
    (["evaluate", "m.eem", "a.csv", "--json"], ""),
    (["report", "m.eem", "a.csv", "-o", "out.html"], "out.html"),
    (["forget", "m.eem", "part.csv", "-o", "out.eem"], "out.eem"),
    (["forget", "m.eem", "a.csv", "--json", "-o", "out.eem"], "out.eem"),
    (["merge", "m.eem", "n.eem", "-o", "out.eem"], "out.eem"),
    (["export", "m.eem", "-o", "out.onnx"], "out.onnx"),
    (["--help"], ""),
    (["fit", "--help"], ""),
    (["--version"], ""),
    ([HOSTILE[0]], ""),
    (["fit", f"--{HOSTILE[1]}"], ""),
]
INPUTS = ["closed", "/dev/null", "/dev/full", "table", "pipe"]
OUTPUTS = ["closed", "full", "file", "pipe", "gone", "gone soon", "terminal"]


def _csv(seed: int, n: int = 60) -> str:
    """Rows whose names, cells and labels hold all that is hostile, quoted."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    names = ["x", f"name{HOSTILE[0]}", "y"]
    cells = [
        [f"{rng.normal() + y[i]:.6f}", HOSTILE[rng.integers(8)] + "z", f"{y[i]}{HOSTILE[2 * y[i]]}"]
        for i in range(n)
    ]
    return "".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in [names, *cells])


@cache
def _home() -> Path:
    """A folder with tables and models, made once in each process."""
    from extreme_entropy.tables.fitting import FitRequest, fit_like, fit_table
    from extreme_entropy.tables.reading import open_table

    folder = Path(mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    rows = _csv(0)
    for name, text in {
        "a.csv": rows,
        "b.csv": _csv(1),
        "part.csv": "".join(rows.splitlines(keepends=True)[:11]),
        "bad.csv": rows + f"{HOSTILE[0]}\n",
    }.items():
        (folder / name).write_text(text, encoding="utf-8", newline="")
    model = fit_table(
        open_table(folder / "a.csv"), FitRequest("y", model="eem", size=5, baseline=False)
    )
    model.save(folder / "m.eem")
    fit_like(open_table(folder / "b.csv"), model).save(folder / "n.eem")
    return folder


class _Output:
    """One of stdout and stderr, and what came out of it."""

    def __init__(self, kind: str, path: Path) -> None:
        self.kind, self.content = kind, b""
        self._path, self._thread = path, threading.Thread(target=self._read)
        if kind in ("pipe", "gone", "gone soon"):
            self._reader, self.handle = os.pipe()
        elif kind == "terminal":
            import pty

            self._reader, self.handle = pty.openpty()
        else:
            place = {"full": "/dev/full", "file": str(path), "closed": os.devnull}[kind]
            self.handle = os.open(place, os.O_WRONLY | os.O_CREAT)
        if kind == "gone":
            os.close(self._reader)

    def listen(self) -> None:
        """After the process has its own handle."""
        os.close(self.handle)
        if self.kind in ("pipe", "gone soon", "terminal"):
            self._thread.start()

    def _read(self) -> None:
        with contextlib.suppress(OSError):  # of a terminal whose other end is closed
            while piece := os.read(self._reader, 64 if self.kind == "gone soon" else 65536):
                self.content += piece
                if self.kind == "gone soon":
                    break
        os.close(self._reader)

    def text(self) -> str:
        """What came out of it, without what a terminal adds."""
        if self._thread.ident is not None:
            self._thread.join()
        if self.kind == "file":
            self.content = self._path.read_bytes()
        text = self.content.decode(errors="ignore" if self.kind == "gone soon" else "strict")
        return BAR.sub("", text.replace("\r\n", "\n")) if self.kind == "terminal" else text

    @property
    def is_seen(self) -> bool:
        """Whether all that was written can be looked at."""
        return self.kind in ("file", "pipe", "terminal")


def run_case(seed: int, case: int, folder: Path) -> str:
    """One case; how it ended. AssertionError is a finding."""
    rng = np.random.default_rng([seed, case])
    words, file = COMMANDS[rng.integers(len(COMMANDS))]
    source = str(rng.choice(INPUTS))
    out, err = (_Output(str(rng.choice(OUTPUTS)), folder / f"{name}.txt") for name in ("o", "e"))
    variables = ENVIRONMENTS[rng.integers(len(ENVIRONMENTS))]
    for path in _home().iterdir():
        shutil.copy(path, folder)
    (folder / "tmp").mkdir()
    said = f"eem {' '.join(words)!r} <{source} >{out.kind} 2>{err.kind} {variables}"
    code = _run(words, source, out, err, folder, variables)
    shown, noted = out.text(), err.text()
    said += f": {code}, {noted[-300:]!r}, {shown[-300:]!r}"
    assert code in (0, 1, 2), said
    for text in (shown, noted):
        assert "Traceback" not in text, said
        assert "Exception ignored" not in text, said
    if file:
        assert (folder / file).exists() == (code == 0), said
        _check_file(folder / file)
    left = [path.name for path in folder.iterdir() if path.name.endswith(".part")]
    assert not left + os.listdir(folder / "tmp"), f"{said}, left {left}"
    assert CONTROL.search(noted) is None, said
    is_data = words[0] == "predict" and not file and out.kind != "terminal"
    assert is_data or CONTROL.search(shown) is None, said
    _check_words(words, code, out, shown, err, noted, said)
    return "ended" if code == 0 else "refused"


def _run(
    words: list[str],
    source: str,
    out: _Output,
    err: _Output,
    folder: Path,
    variables: dict[str, str],
) -> int:
    closed = [
        number for number, kind in enumerate((source, out.kind, err.kind)) if kind == "closed"
    ]
    rows = (folder / "a.csv").read_bytes()
    given: Any = subprocess.PIPE if source == "pipe" else subprocess.DEVNULL
    if source == "table":
        given = os.open(folder / "a.csv", os.O_RDONLY)
    elif source.startswith("/"):
        given = os.open(source, os.O_RDONLY)
    child = subprocess.Popen(
        [sys.executable, "-m", "extreme_entropy", *words],
        cwd=folder,
        stdin=given,
        stdout=out.handle,
        stderr=err.handle,
        env={**os.environ, "TMPDIR": str(folder / "tmp"), **variables},
        preexec_fn=lambda: list(map(os.close, closed)),
    )
    if isinstance(given, int) and given >= 0:
        os.close(given)
    for stream in (out, err):
        stream.listen()
    if child.stdin is not None:
        with contextlib.suppress(BrokenPipeError):
            child.stdin.write(rows)
            child.stdin.close()
    return child.wait()


def _check_file(path: Path) -> None:
    """Raise unless a file is whole, if it is there."""
    if not path.exists():
        return
    if path.suffix == ".eem":
        from extreme_entropy.tables.model import TableModel

        TableModel.load(path)
    elif path.suffix == ".html":
        assert path.read_text(encoding="utf-8").rstrip().endswith("</html>")
    elif path.suffix == ".csv":
        assert path.read_bytes().endswith(b"\n")
    assert path.stat().st_size > 0


def _check_words(
    words: list[str], code: int, out: _Output, shown: str, err: _Output, noted: str, said: str
) -> None:
    """Raise unless an error is one line, and a result is there."""
    lines = [line for line in noted.splitlines() if line.startswith("Error: ")]
    if code and err.is_seen:
        assert len(lines) == (0 if out.kind.startswith("gone") and not lines else 1), said
    if not code:
        assert not lines, said
    if "--json" in words and out.is_seen and not code:
        json.loads(shown)


if __name__ == "__main__":
    if "--serve" in sys.argv:  # the child of a run
        serve(run_case, MEMORY)
    else:
        main(__doc__, partial(run, "streams", SECONDS), partial(replay, run_case))
