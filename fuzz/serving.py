"""Cases in a child process of limited memory, which serves many of them and may end at any."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

# Cases of one child: a library keeps the addresses that a damaged file made it reserve, and all
# further cases would be refused for lack of memory.
CASES = 50
Case = Callable[[int, int, Path], str]  # a seed, a number and a folder ↦ how it ended


def serve(run_case: Case, memory: int) -> None:
    """In the child: cases by their numbers from stdin, one line for each to stdout."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    for line in sys.stdin:
        seed, case, folder = line.rstrip("\n").split(" ", 2)
        try:
            answer = run_case(int(seed), int(case), Path(folder))
        except Exception as error:
            answer = f"finding {type(error).__name__}: {error}"
        print(answer.encode("unicode_escape").decode(), flush=True)


class _Child:
    """A process that serves the cases of a program, and is started again after its end."""

    def __init__(self, program: str, seconds: int) -> None:
        self._program, self._seconds = program, seconds
        self._process: subprocess.Popen[str] | None = None
        self._asked = 0

    def ask(self, seed: int, case: int, folder: Path) -> str:
        """How a case ended, or what ended the process."""
        if self._asked % CASES == 0:
            self.end()
        self._asked += 1
        if self._process is None:
            name = f"fuzz.{self._program}"
            self._process = subprocess.Popen(
                [sys.executable, "-X", "faulthandler", "-m", name, "--serve"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                cwd=Path(__file__).parents[1],
            )
        child = self._process
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(f"{seed} {case} {folder}\n")
        child.stdin.flush()
        before = signal.signal(signal.SIGALRM, lambda *_: child.kill())
        signal.alarm(self._seconds)
        try:
            answer = child.stdout.readline().strip()
        finally:
            late = not signal.alarm(0)
            signal.signal(signal.SIGALRM, before)
        if answer:
            return answer
        self.end()
        code = child.returncode
        return f"finding: no end after {self._seconds} s" if late else f"finding: ended with {code}"

    def end(self) -> None:
        """No more cases."""
        if self._process is not None:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.close()
            self._process.wait()
            self._process.stdout.close()
            self._process = None


def run(program: str, each: int, seconds: float, seed: int) -> int:
    """Cases for so many seconds, with a limit for each; how many there were.

    Findings are printed, and are an error.
    """
    end, case = time.monotonic() + seconds, 0
    ended: dict[str, int] = {}
    child = _Child(program, each)
    try:
        while time.monotonic() < end or not case:
            folder = Path(tempfile.mkdtemp())
            try:
                answer = child.ask(seed, case, folder)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            word = answer.split(" ", 1)[0].rstrip(":")
            ended[word] = ended.get(word, 0) + 1
            if word == "finding":
                print(f"--seed {seed} --case {case}: {answer[:900]}", flush=True)
            case += 1
    finally:
        child.end()
    print(f"{case} cases: {', '.join(f'{n} {word}' for word, n in sorted(ended.items()))}")
    if ended.get("finding"):
        raise AssertionError(f"{ended['finding']} findings")
    return case


def replay(run_case: Case, seed: int, case: int) -> str:
    """One case again; its files are kept."""
    folder = Path(tempfile.mkdtemp())
    return f"{run_case(seed, case, folder)} in {folder}"
