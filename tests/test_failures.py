"""What goes wrong on the way: damaged files, limits, devices. One line, and no half file."""

import os
import resource
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset as ds
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from extreme_entropy import EEMClassifier
from extreme_entropy.cli.root import root
from extreme_entropy.columns.text import LONGEST, Column
from extreme_entropy.errors import InputError
from extreme_entropy.tables.fitting import FitRequest, fit_table
from extreme_entropy.tables.limits import ReadingLimits
from extreme_entropy.tables.model import TableModel
from extreme_entropy.tables.reading import open_table
from extreme_entropy.tables.used_columns import TableColumns
from extreme_entropy.tables.writing import write_table

EEM = [sys.executable, "-m", "extreme_entropy"]
QUICK = ("--model", "eem", "--size", "10", "--no-baseline")


def process(*words, code=1, **options):
    """Run a command as a process: it ends with this code, and an error is one line."""
    command = [*EEM, *map(str, words)]
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
    done = subprocess.run(command, check=False, timeout=120, **given)
    assert done.returncode == code, done.stderr
    if code:
        assert done.stderr.startswith("Error: "), done.stderr
        assert done.stderr.count("\n") == 1, done.stderr
    return done


def table(n=200):
    """Numbers, text and two classes."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3 == 0
    return pa.table(
        {
            "x": rng.normal(size=n) + y,
            "city": [f"town {i % 7}" for i in range(n)],
            "y": np.where(y, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with a table and a model of it."""
    folder = tmp_path_factory.mktemp("home")
    pq.write_table(table(), folder / "a.parquet")
    fit_table(open_table(folder / "a.parquet"), FitRequest("y", model="eem", size=10)).save(
        folder / "m.eem"
    )
    return folder


# ------------------------------------------------------------------------- damaged files


@pytest.fixture
def damaged(tmp_path):
    """An Arrow file in which a string begins a gigabyte away."""
    path = tmp_path / "damaged.feather"
    feather.write_feather(table(), path, compression="uncompressed")
    content = path.read_bytes()
    offsets = np.arange(0, 6 * 20, 6, dtype=np.int32).tobytes()  # of the towns
    assert content.count(offsets[4:]) == 1
    at = content.index(offsets[4:])
    path.write_bytes(content[:at] + (2**30).to_bytes(4, "little") + content[at + 4 :])
    return path


def test_offsets_out_of_memory_are_an_error(damaged, tmp_path):
    """In a process, since it would be its end."""
    done = process("fit", damaged, "--target", "y", *QUICK, "-o", tmp_path / "m.eem")
    assert "damaged.feather' cannot be read as Arrow" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["damaged.feather"]


@pytest.mark.parametrize("how", ["dataset", "table", "reader"])
def test_damaged_batches_are_refused_by_fit_batches(how, damaged):
    source = {
        "dataset": lambda: ds.dataset(damaged, format="ipc"),
        "table": lambda: feather.read_table(damaged),
        "reader": lambda: feather.read_table(damaged).to_reader(),
    }[how]()
    with pytest.raises(InputError, match="one is damaged"):
        EEMClassifier(n_hidden=5).fit_batches(source, target="y")


# ------------------------------------------------------------------------------- wide tables


class Counted(list):
    """A list that counts how often it is searched or gone through."""

    times = 0

    def __iter__(self):
        self.times += 1
        return super().__iter__()

    def __contains__(self, item):
        self.times += 1
        return super().__contains__(item)


def test_names_of_a_wide_table_are_gone_through_once(tmp_path):
    """Not once for each column, which took minutes for 80 000 of them."""
    names = Counted(f"x{j}" for j in range(100))
    TableColumns(tuple(Column(name, "number") for name in names), {}).require(names)
    assert names.times <= 3
    path = tmp_path / "a.csv"
    path.write_text(",".join(names) + "\n" + ",".join("1" * 100) + "\n")
    source = open_table(path)

    class Schema:
        asked = 0

        @property
        def names(self):
            self.asked += 1
            return list(names)

    source.schema = Schema()
    assert next(source.batches(list(names))).num_columns == 100
    assert source.schema.asked == 1


@pytest.mark.parametrize("kind", ["csv", "parquet", "feather"])
def test_long_text_is_kept_short_and_told_apart(kind, tmp_path):
    """Cells that differ in their last character only remain two categories."""
    n = 100
    cells = ["word " * LONGEST + "ab"[i % 2] for i in range(n)]
    rows = pa.table({"x": cells, "z": np.arange(n) % 7, "y": np.where(np.arange(n) % 2, "u", "v")})
    path = tmp_path / f"a.{kind}"
    write_table(path, rows.to_batches(), rows.schema)
    batches = list(open_table(path).batches(["x"]))
    kept = [cell for batch in batches for cell in batch.column("x").to_pylist()]
    assert len(set(kept)) == 2
    assert max(map(len, kept)) < LONGEST / 4
    model = fit_table(open_table(path), FitRequest("y", model="eem", size=10))
    answers = model.classifier.predict(model.read(rows))  # as cells came, not from a file
    assert answers.tolist() == rows["y"].to_pylist()


# ------------------------------------------------------------------------ devices and pipes


@pytest.mark.parametrize("name", ["/dev/null", "/dev/stdout", "/dev/nothing.csv", "fifo.csv", "-"])
@pytest.mark.parametrize("command", ["fit", "predict", "report"])
def test_devices_and_pipes_are_never_replaced(command, name, home, tmp_path, monkeypatch):
    """Not even by an administrator; `eem predict -o -` writes to standard output."""
    monkeypatch.chdir(tmp_path)
    os.mkfifo("fifo.csv")
    kinds = {path: os.lstat(path).st_mode for path in (name,) if os.path.lexists(path)}
    words = {
        "fit": ("fit", home / "a.parquet", "--target", "y", *QUICK),
        "predict": ("predict", home / "m.eem", home / "a.parquet"),
        "report": ("report", home / "m.eem", home / "a.parquet"),
    }[command]
    done = CliRunner().invoke(root, [*map(str, words), "-o", name])
    if (command, name) == ("predict", "-"):
        assert done.exit_code == 0
        assert done.stdout.startswith('"prediction"')
    else:
        assert done.exit_code == 1
        assert "must" in done.stderr
        assert done.stderr.count("\n") == 1
    assert all(os.lstat(path).st_mode == mode for path, mode in kinds.items())
    assert os.listdir() == ["fifo.csv"]


def test_a_pipe_is_no_table_and_does_not_wait(home, tmp_path):
    os.mkfifo(tmp_path / "a.csv")
    words = ["predict", str(home / "m.eem"), str(tmp_path / "a.csv")]
    done = CliRunner().invoke(root, words)
    assert done.exit_code == 1
    assert "is a device or a pipe" in done.stderr


def test_a_file_is_never_written_over_a_device_from_python(home):
    with pytest.raises(InputError, match="is a device"):
        TableModel.load(home / "m.eem").save("/dev/null")


# ------------------------------------------------------------------------------- limits


def small_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_is_noticed_on_standard_output(unbuffered, home, tmp_path):
    """Also where Python does not buffer, when a write may be short."""
    with (tmp_path / "out.csv").open("wb") as out:
        process(
            *("predict", home / "m.eem", home / "a.parquet", "--proba"),
            stdout=out,
            preexec_fn=small_files,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        )


def test_a_full_disk_leaves_what_was_there(home, tmp_path):
    out = tmp_path / "out.csv"
    out.write_text("before")
    words = ("predict", home / "m.eem", home / "a.parquet", "--proba", "-o", out)
    done = process(*words, preexec_fn=small_files)
    assert "File too large" in done.stderr
    assert out.read_text() == "before"
    assert os.listdir(tmp_path) == ["out.csv"]


@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("can't start new thread"), pa.ArrowMemoryError("malloc")]
)
def test_want_of_memory_is_one_line(error, home, monkeypatch):
    def fail(*given):
        raise error

    monkeypatch.setattr(EEMClassifier, "predict", fail)
    done = CliRunner().invoke(root, ["predict", str(home / "m.eem"), str(home / "a.parquet")])
    assert done.exit_code == 1
    assert done.stderr.startswith("Error: ")
    assert done.stderr.count("\n") == 1


def test_want_of_memory_is_no_damage_to_the_file(tmp_path, monkeypatch):
    def fail(*given, **more):
        raise pa.ArrowMemoryError("malloc of size 64 failed")

    (tmp_path / "a.csv").write_text("x,y\n1,a\n2,b\n")
    monkeypatch.setattr(pa.csv, "open_csv", fail)
    with pytest.raises(MemoryError, match="malloc of size 64 failed"):
        list(open_table(tmp_path / "a.csv").batches())


# ------------------------------------------------------------------- long text, stated once


def repeated(lengths, n=20_000, seed=0):
    """Rows that refer to a few texts of these lengths, or to none, next to numbers and labels."""
    rng = np.random.default_rng(seed)
    codes = pa.array(rng.integers(len(lengths), size=n), pa.int32(), mask=rng.random(n) < 0.1)
    texts = pa.array([f"é{i}" * (length // 3) for i, length in enumerate(lengths)])
    return pa.table(
        {
            "text": pa.DictionaryArray.from_arrays(codes, texts),
            "x": rng.normal(size=n),
            "y": np.where(rng.random(n) < 0.3, "yes", "no"),
        }
    )


def write_repeated(rows, path):
    """Parquet that says so or does not, or Arrow."""
    if path.suffix == ".feather":
        feather.write_feather(rows, path, compression="zstd")
    else:
        pq.write_table(rows, path, store_schema="stored" in path.name, compression="zstd")
    return path


FILES = ["stored.parquet", "plain.parquet", "a.feather"]


@pytest.mark.parametrize("name", FILES)
def test_long_text_that_rows_refer_to_takes_little_memory(name, tmp_path):
    """Of 2 GB of cells in a file of 200 KB, no batch has more than its share, or nearly."""
    path = write_repeated(repeated([100_000] * 3), tmp_path / name)
    assert path.stat().st_size < 10**6
    pool = pa.default_memory_pool()
    before, rows = pool.bytes_allocated(), 0
    for batch in open_table(path).batches(target="y"):
        assert pool.bytes_allocated() - before < 2**27
        rows += batch.num_rows
    assert rows == 20_000


@pytest.mark.parametrize("name", FILES)
def test_cells_that_refer_to_texts_are_read_as_cells_that_hold_them(name, tmp_path, monkeypatch):
    """Whatever the size of batches and the order of columns, with gaps and long texts."""
    rows = repeated([2, 500, 3000], n=3000)
    plain = rows.set_column(0, "text", rows["text"].cast(pa.string()))
    with (
        pa.OSFile(str(tmp_path / "b.arrow"), "wb") as file,
        pa.ipc.new_file(file, plain.schema) as writer,
    ):
        writer.write_table(plain)
    columns = ["y", "x", "text"]
    expected = pa.Table.from_batches(open_table(tmp_path / "b.arrow").batches(columns))
    limits = ReadingLimits(batch_bytes=10_000)
    source = open_table(write_repeated(rows, tmp_path / name), limits=limits)
    batches = list(source.batches(columns))
    assert len(batches) > 20
    assert pa.Table.from_batches(batches).equals(expected)


@pytest.mark.parametrize("name", FILES)
def test_a_label_that_is_too_long_is_refused_however_it_is_stored(name, tmp_path):
    """It is cut to save memory, but not to a length that would do."""
    rows = repeated([100_000] * 2, n=5000)
    rows = rows.rename_columns(["y", "x", "z"])
    path = write_repeated(rows, tmp_path / name)
    done = process("fit", path, "--target", "y", *QUICK, "-o", tmp_path / "m.eem")
    assert "must be text of up to 256 characters" in done.stderr


@pytest.mark.parametrize("name", FILES)
def test_rows_beyond_the_bound_of_memory_are_one_sentence(name, tmp_path):
    path = write_repeated(repeated([100_000] * 3), tmp_path / name)
    with pytest.raises(InputError, match="Rows must take at most") as error:
        list(open_table(path, limits=ReadingLimits(most_bytes=50_000)).batches())
    assert "smaller row groups" in str(error.value)


@pytest.mark.parametrize("most", [100, 250, 450, 650])
def test_too_little_memory_is_said_before_libraries_are_loaded(most, home):
    """With some of these limits one of them would end the process, with others try for ever."""

    def little():
        resource.setrlimit(resource.RLIMIT_AS, (most << 20, most << 20))

    done = process("fit", home / "a.parquet", "--target", "y", preexec_fn=little)
    assert "eem needs 1 GiB of free address space" in done.stderr


def test_an_interruption_while_libraries_are_loaded_is_one_line(home):
    """They take a second, in which people change their minds."""
    script = """
import sys
class Interrupted:
    def find_spec(self, name, *more):
        if name == "sklearn":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted())
from extreme_entropy.cli import main
sys.argv = ["eem", "predict", "m.eem", "a.parquet"]
main()
"""
    words = [sys.executable, "-c", script]
    done = subprocess.run(words, cwd=home, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.strip() == "Error: Interrupted; no file was written or changed."


def test_the_version_waits_for_no_library():
    script = """
import sys
import extreme_entropy
from extreme_entropy.cli.root import root
root(["--version"], standalone_mode=False)
assert "sklearn" not in sys.modules
assert "numpy" not in sys.modules
assert set(extreme_entropy.__all__) <= set(dir(extreme_entropy))
for name in extreme_entropy.__all__:
    found = getattr(extreme_entropy, name)
    assert name.isupper() or found.__name__ == name
assert extreme_entropy.metrics.gmean_score is extreme_entropy.gmean_score
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
