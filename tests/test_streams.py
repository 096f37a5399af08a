"""Standard streams that are closed, full or ASCII only, and data that would act on a terminal."""

import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from click.testing import CliRunner

from extreme_entropy.cli.root import root
from extreme_entropy.errors import InputError
from extreme_entropy.progress import with_progress
from extreme_entropy.tables.reading import open_table
from extreme_entropy.terminal import Harmless, harmless

EEM = [sys.executable, "-m", "extreme_entropy"]
QUICK = ("--model", "eem", "--size", "10", "--no-baseline")
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
ESCAPE = "\x1b]0;owned\x07\x9b31m\u202e"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="streams of Unix")


def rows(labels=("no", "yes"), name="x", n=60, seed=0):
    """A table as CSV, with two classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    cells = zip(rng.normal(size=n) + y, rng.integers(5, size=n), y, strict=True)
    lines = [f'{a:.6f},town {c},"{labels[b]}"' for a, c, b in cells]
    return "\n".join([f'"{name}",city,y', *lines]) + "\n"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with a table, a model of it, and one of other rows to merge it with."""
    folder = tmp_path_factory.mktemp("home")
    (folder / "a.csv").write_text(rows())
    eem("fit", folder / "a.csv", "--target", "y", *QUICK, "-o", folder / "m.eem")
    (folder / "b.csv").write_text(rows(seed=1))
    eem("fit", folder / "b.csv", "--like", folder / "m.eem", "-o", folder / "n.eem")
    return folder


def eem(*words):
    """A command in this process, which shows no traceback."""
    done = CliRunner().invoke(root, [str(word) for word in words], prog_name="eem")
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def shell(home, command, streams, **variables):
    """A command of a shell with its redirections, in a folder; what ended it, and what it said."""
    line = f"exec {' '.join(EEM)} {command} {streams}"
    return subprocess.run(
        ["sh", "-c", line],
        cwd=home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=os.environ | variables,
        check=False,
        timeout=120,
    )


COMMANDS = {
    "fit": ("fit a.csv --target y --model eem --size 10 --no-baseline -o out.eem", "out.eem"),
    "predict": ("predict m.eem a.csv -o out.csv", "out.csv"),
    "report": ("report m.eem a.csv -o out.html", "out.html"),
    "forget": ("forget m.eem a.csv -o left.eem", "left.eem"),
    "merge": ("merge m.eem n.eem -o both.eem", "both.eem"),
    "evaluate": ("evaluate m.eem a.csv", ""),
}


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("streams", ["2>&-", "2>/dev/full", "<&- >&- 2>&-"])
def test_a_command_works_without_standard_error(name, streams, home):
    """Its file is there and whole; nothing that is written to stderr ends up in it."""
    command, file = COMMANDS[name]
    if file:
        (home / file).unlink(missing_ok=True)
    done = shell(home, command, streams)
    assert done.returncode == (1 if not file and ">&- 2>&-" in streams else 0)
    if file.endswith(".eem"):
        assert shell(home, f"export {file} -o x.txt", "").stderr.startswith(b"Error: Models are")
    elif file:
        assert (home / file).stat().st_size > 0


@pytest.mark.parametrize("stream", [">&-", ">/dev/full"])
def test_a_summary_that_cannot_be_printed_is_no_failure_of_the_file(stream, home):
    """The exit code says that the model was written, a note that its summary is lost."""
    (home / "out.eem").unlink(missing_ok=True)
    done = shell(home, COMMANDS["fit"][0], stream)
    assert done.returncode == 0
    assert (home / "out.eem").exists()
    reason = "closed" if stream == ">&-" else "No space left on device"
    note = done.stderr.decode().splitlines()[-1]
    assert note == (
        f"Note: 'out.eem' was written, but its summary could not be printed (stdout: {reason})."
    )


@pytest.mark.parametrize("stream", [">&-", ">/dev/full"])
@pytest.mark.parametrize(
    "command", ["evaluate m.eem a.csv", "predict m.eem a.csv", "--help", "fit --help", "--version"]
)
def test_a_result_that_cannot_be_printed_is_an_error_of_one_line(command, stream, home):
    """Where standard output is all that a command writes."""
    done = shell(home, command, stream)
    said = [line for line in done.stderr.decode().splitlines() if not line.startswith("Note: ")]
    reason = "closed" if stream == ">&-" else "No space left on device"
    assert (done.returncode, len(said)) == (1, 1)
    assert said[0].startswith(f"Error: Standard output cannot be written ({reason})")


@pytest.mark.parametrize("command", ["evaluate m.eem a.csv", "predict m.eem a.csv", "--help"])
def test_a_reader_who_has_gone_is_no_news(command, home):
    """As in `eem predict … | head -0`."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [*EEM, *command.split()]
    done = subprocess.run(
        command, cwd=home, stdout=writer, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writer)
    assert done.returncode == 1
    assert [line for line in done.stderr.splitlines() if not line.startswith("Note: ")] == []


def test_a_closed_standard_input_is_one_line(home):
    done = shell(home, "predict m.eem -", "<&-")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"Error: Standard input must be a table; it is closed.")


@pytest.mark.parametrize("device", ["/dev/full", "/dev/zero", "/dev/null"])
def test_an_endless_standard_input_is_refused_at_once(device, home):
    """A device has no end of its own, and would be copied until the disk is full."""
    done = shell(home, "predict m.eem -", f"<{device}")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"Error: Standard input must be a table; it is a device.")


@pytest.mark.parametrize(
    "variables",
    [
        {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
)
def test_streams_of_ascii_show_all_of_it(variables, home, tmp_path):
    """What has no letter there is escaped, so that JSON stays JSON."""
    (tmp_path / "a.csv").write_text(rows(("śnieg", "日本😀"), "größe"), encoding="utf-8")
    words = " ".join(["fit", "a.csv", "--target", "y", *QUICK, "-o", "m.eem"])
    done = shell(tmp_path, words, "", **variables)
    assert done.returncode == 0, done.stderr
    assert b"gr\\u00f6\\u00dfe" in done.stdout
    done = shell(tmp_path, "evaluate m.eem a.csv --json", "", **variables)
    assert json.loads(done.stdout.decode("ascii"))["classes"] == ["śnieg", "日本😀"]
    done.stderr.decode("ascii")


def test_a_bar_without_standard_error_is_no_bar(monkeypatch):
    """As in a program without a console."""
    monkeypatch.setattr(sys, "stderr", None)
    for terminal_only in (True, False):
        assert list(with_progress(range(3), terminal_only=terminal_only)) == [0, 1, 2]


# -------------------------------------------------------------------- terminals


def test_harmless_text_is_what_it_was_and_acting_text_is_seen():
    """Letters of all scripts and joined emoji stay; controls are escaped as in JSON."""
    for text in ("plain\n", "größe 日本 😀 👩‍👩‍👧 שלום", "tab\\t"):
        assert harmless(text) == text
    assert harmless(ESCAPE + "\t\r") == r"\u001b]0;owned\u0007\u009b31m\u202e\t\r"
    assert harmless("\udcff") == r"\udcff"
    assert harmless("é😀", "ascii") == r"\u00e9\ud83d\ude00"


def test_nothing_from_the_data_acts_on_a_terminal(tmp_path):
    """Names, labels, cells and paths with terminal codes, through every command and its errors."""
    folder = tmp_path / f"folder{ESCAPE}"
    folder.mkdir()
    table, model, bad = folder / "a.csv", folder / "m.eem", folder / "bad.csv"
    table.write_text(rows((f"no{ESCAPE}", f"yes{ESCAPE}"), f"x{ESCAPE}"), encoding="utf-8")
    bad.write_text(table.read_text(encoding="utf-8") + f"{ESCAPE}\n", encoding="utf-8")
    for words in (
        ("fit", table, "--target", "y", *QUICK, "--verbose", "-o", model),
        ("fit", table, "--target", "y", *QUICK, "--json", "-o", model),
        ("fit", bad, "--target", "y", "-o", model),
        ("fit", table, "--target", ESCAPE, "-o", model),
        ("fit", table, "--target", f"x{ESCAPE}", "-o", model),
        ("evaluate", model, table),
        ("evaluate", model, table, "--json"),
        ("predict", model, table, "-o", folder / "out.csv"),
        ("predict", model, bad, "-o", folder / "out.csv"),
        ("report", model, table, "-o", folder / "out.html"),
        ("forget", model, table, "-o", folder / "rest.eem"),
        ("merge", model, model, "-o", folder / "both.eem"),
        ("export", model, "-o", folder / "m.txt"),
        (ESCAPE,),
        ("fit", f"--{ESCAPE}"),
    ):
        done = eem(*words)
        assert CONTROL.search(done.stdout + done.stderr) is None, (words[0], done.stderr)
        if "--json" in words:
            json.loads(done.stdout)


def test_arrow_repeats_no_cell_that_acts_in_an_error_of_python(tmp_path):
    """An error that ends a script is shown on its terminal, too."""
    (tmp_path / "a.csv").write_text(f"x,y\n1,2\n{ESCAPE}\n", encoding="utf-8")
    with pytest.raises(InputError, match="Expected 2 columns") as error:
        list(open_table(tmp_path / "a.csv").batches())
    assert CONTROL.search(str(error.value)) is None


def test_predictions_are_exact_in_a_pipe_and_harmless_on_a_terminal(home, tmp_path):
    """The same bytes as before for programs, nothing that acts for people."""
    (tmp_path / "a.csv").write_text(rows((f"no{ESCAPE}", "yes")), encoding="utf-8")
    eem("fit", tmp_path / "a.csv", "--target", "y", *QUICK, "-o", tmp_path / "m.eem")
    command = [*EEM, "predict", str(tmp_path / "m.eem"), str(tmp_path / "a.csv")]
    piped = subprocess.run(command, capture_output=True, check=True).stdout.decode()
    assert f'"no{ESCAPE}"' in piped
    shown = on_terminal(command).replace("\r\n", "\n")
    assert shown == harmless(piped)


def on_terminal(command):
    """What a command writes to a terminal that is its stdout."""
    terminal, screen = pty.openpty()
    child = subprocess.Popen(command, stdout=screen, stderr=subprocess.DEVNULL)
    os.close(screen)
    shown = b""
    while True:
        try:
            shown += os.read(terminal, 4096)
        except OSError:  # Linux says so when the other end is closed
            break
    os.close(terminal)
    assert child.wait() == 0
    return shown.decode()


def test_a_stream_is_lost_once():
    """The first error is remembered and nothing more is written, nor raised."""

    class Full(io.StringIO):
        def write(self, text):
            raise OSError(28, "No space left on device")

    stream = Harmless(Full())
    assert stream.lost is None
    for _ in range(2):
        stream.write("text")
        stream.flush()
    assert stream.lost.errno == 28


# -------------------------------------------------------------------- signals


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_copy_of_standard_input_goes_with_a_command_that_is_ended(number, home, tmp_path):
    """Also where the signal comes twice, as when a terminal is closed."""
    child = subprocess.Popen(
        [*EEM, "predict", str(home / "m.eem"), "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=os.environ | {"TMPDIR": str(tmp_path)},
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # nohup ignores it
    )
    child.stdin.write(b"x,city\n" * 400_000)
    deadline = time.monotonic() + 60
    # Python itself writes a file there for a moment, to see whether it can.
    while not any(file.stat().st_size for file in tmp_path.glob("eem-*.csv")):
        assert child.poll() is None, child.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.005)
    child.send_signal(number)
    child.send_signal(number)
    child.stdin.close()
    assert child.wait(60) == 1
    assert child.stderr.read() == b"Error: Interrupted; no file was written or changed.\n"
    child.stderr.close()
    assert list(tmp_path.iterdir()) == []


def test_a_command_that_ignores_hangups_goes_on_ignoring_them(home):
    """As under nohup."""
    script = """
import signal
from extreme_entropy.cli import main
signal.signal(signal.SIGHUP, signal.SIG_IGN)
try:
    main()
except SystemExit:
    print(signal.getsignal(signal.SIGHUP) == signal.SIG_IGN)
"""
    words = [sys.executable, "-c", script, "--version"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "True"
