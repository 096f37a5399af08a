"""Tables in files: read in batches, profiled, encoded, learnt, saved and scored."""

import gzip
import re
import warnings
from dataclasses import FrozenInstanceError, replace
from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import balanced_accuracy_score, brier_score_loss, log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

import extreme_entropy
from extreme_entropy import EEMClassifier, ExtremeEntropyClassifier, gmean_score
from extreme_entropy.columns.text import Column
from extreme_entropy.drawing.settings import DRAWING, TreeSettings
from extreme_entropy.errors import FileFormatError, InputError, MergeError
from extreme_entropy.metrics import (
    ScoreInterval,
    confusion_counts,
    probability_scores,
    recall_scores,
    scores_with_intervals,
)
from extreme_entropy.tables.estimate import EstimateSettings, estimate_outcome
from extreme_entropy.tables.fitting import FitRequest, fit_like, fit_table
from extreme_entropy.tables.limits import ReadingLimits
from extreme_entropy.tables.model import TableModel
from extreme_entropy.tables.profile import ProfileSettings, Sampler, profile
from extreme_entropy.tables.reading import open_table
from extreme_entropy.tables.used_columns import TableColumns
from extreme_entropy.tables.writing import write_table


def csv(folder, text, name="table.csv"):
    """A file with this text."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def rows_of(path, columns=None):
    """All rows of a table."""
    return [row for batch in open_table(path).batches(columns) for row in batch.to_pylist()]


def plain_schema(table):
    """The types of a table, without codes for categories."""
    return pa.schema([(f.name, getattr(f.type, "value_type", f.type)) for f in table.schema])


@pytest.fixture(scope="module")
def people():
    """Numbers, a category, a boolean and a date that tell something of `ill`, with gaps."""
    rng, n = np.random.default_rng(20150101), 400
    ill = rng.random(n) < 0.25
    age = np.where(rng.random(n) < 0.1, np.nan, rng.normal(40, 10, n) + 15 * ill)
    city = np.where(ill, rng.choice(["Bonn", "Rome"], n), rng.choice(["Rome", "Oslo"], n))
    return pa.table(
        {
            "age": pa.array(age, from_pandas=True),
            "height": rng.normal(size=n),
            "city": pa.array(city.tolist()).dictionary_encode(),
            "smokes": rng.random(n) < 0.3 + 0.3 * ill,
            "since": pa.array(np.datetime64("2020-01-01") + rng.integers(0, 999, n)),
            "ill": np.where(ill, "yes", "no"),
        }
    )


# ------------------------------------------------------------------------------- reading


def test_every_kind_of_file_gives_the_same_rows(people, tmp_path):
    """What is written in one format is read back from it, whatever the format."""
    schema = plain_schema(people)
    plain = people.cast(schema)
    expected = plain.to_pylist()
    for name in ("a.parquet", "a.pq", "a.arrow", "a.feather", "a.ipc"):
        write_table(tmp_path / name, plain.to_batches(100), schema)
        assert rows_of(tmp_path / name) == expected
        assert open_table(tmp_path / name).rows == len(expected)
    texts = []
    for name in ("a.csv", "a.tsv", "a.csv.gz", "a.tsv.gz"):
        write_table(tmp_path / name, plain.to_batches(100), schema)
        texts.append(rows_of(tmp_path / name))
        assert open_table(tmp_path / name).rows is None
    assert all(text == texts[0] for text in texts)
    assert [row["city"] for row in texts[0]] == plain["city"].to_pylist()
    assert [row["age"] and float(row["age"]) for row in texts[0]] == plain["age"].to_pylist()
    assert (
        gzip.decompress((tmp_path / "a.csv.gz").read_bytes()) == (tmp_path / "a.csv").read_bytes()
    )


def test_a_folder_of_parts_is_one_table(people, tmp_path):
    """Parts come in the order of their names; files that are no tables do not matter."""
    for kind in ("parquet", "feather", "csv"):
        folder = tmp_path / kind
        folder.mkdir()
        for i in range(4):
            part = people.slice(100 * i, 100).select(["height", "ill"])
            write_table(folder / f"part-{i}.{kind}", part.to_batches(), part.schema)
        (folder / "_SUCCESS").write_text("")
        (folder / "README").write_text("not a table")
        read = [float(row["height"]) for row in rows_of(folder)]
        assert read == people["height"].to_pylist()


def test_folders_named_after_values_are_a_column(people, tmp_path):
    """As Spark writes them: year=2023/part.parquet."""
    for year in (2023, 2024):
        (tmp_path / f"year={year}").mkdir()
        pq.write_table(people.select(["age"]), tmp_path / f"year={year}" / "a.parquet")
    read = open_table(tmp_path)
    assert read.schema.names == ["age", "year"]
    assert {row["year"] for row in rows_of(tmp_path)} == {2023, 2024}


def test_parts_of_different_width_are_read_as_the_wider(tmp_path):
    """One part holds whole numbers, the next one fractions."""
    pq.write_table(pa.table({"x": [1, 2]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"x": [0.5]}), tmp_path / "b.parquet")
    assert rows_of(tmp_path) == [{"x": 1.0}, {"x": 2.0}, {"x": 0.5}]


def test_batches_can_be_read_again_and_by_column(people, tmp_path):
    feather.write_feather(people, tmp_path / "a.feather")
    source = open_table(tmp_path / "a.feather")
    first, second = (pa.Table.from_batches(source.batches(["ill", "age"])) for _ in range(2))
    assert first.column_names == ["ill", "age"]
    assert first.equals(second)


def test_batches_stay_small_whatever_the_row_group(tmp_path):
    """A row group of all rows is not read at once."""
    pq.write_table(pa.table({"x": np.arange(100_000)}), tmp_path / "a.parquet")
    sizes = [batch.num_rows for batch in open_table(tmp_path / "a.parquet").batches()]
    assert sum(sizes) == 100_000
    assert max(sizes) <= 2**14


@pytest.mark.parametrize("cell", ["", "NA", "nan", "?", " ? ", "null", "N/A", '""'])
def test_cells_that_mean_nothing_are_missing_in_text(cell, tmp_path):
    assert rows_of(csv(tmp_path, f"a,b\n{cell},1\n")) == [{"a": None, "b": "1"}]


def test_the_separator_is_taken_from_the_header(tmp_path):
    """Cells are as they are spelt; commas in quotes separate nothing."""
    assert rows_of(csv(tmp_path, "a;b\n1,5;x\n")) == [{"a": "1,5", "b": "x"}]
    assert rows_of(csv(tmp_path, '"a,b,c",d\n1,2\n')) == [{"a,b,c": "1", "d": "2"}]
    assert rows_of(csv(tmp_path, "a|b\n1|2\n")) == [{"a": "1", "b": "2"}]


def test_strange_names_and_a_byte_order_mark_are_read(tmp_path):
    path = csv(tmp_path, '\ufeff"a\nb",<script>alert(1)</script>,😀, spaced \n1,2,3,4\n')
    names = ["a\nb", "<script>alert(1)</script>", "😀", "spaced"]
    assert open_table(path).schema.names == names
    assert rows_of(path) == [dict(zip(names, "1234", strict=True))]


def test_the_share_read_of_a_text_grows_to_one(rng, tmp_path):
    """Progress is known from bytes, also of a gzipped file."""
    path = tmp_path / "a.csv.gz"
    cells = "\n".join(map(str, rng.random(40_000)))
    path.write_bytes(gzip.compress(f"a\n{cells}\n".encode(), 1))
    source, shares = open_table(path, limits=ReadingLimits(block_bytes=2**13)), []
    for _ in source.batches():
        shares.append(source.share)
    assert len(shares) > 2
    assert shares == sorted(shares)
    assert 0 < shares[0] < shares[-1] == 1


# ------------------------------------------------------------------------------- writing


def test_a_failed_write_leaves_what_was_there(people, tmp_path):
    """Whole or not at all: an error in mid-write changes nothing and leaves nothing behind."""
    path = tmp_path / "a.csv"
    path.write_text("before")

    def batches():
        yield from people.select(["age"]).to_batches(50)
        raise RuntimeError("in mid-write")

    for name in ("a.csv", "a.parquet", "a.feather", "a.csv.gz"):
        with pytest.raises(RuntimeError, match="mid-write"):
            write_table(tmp_path / name, batches(), people.select(["age"]).schema)
    assert path.read_text() == "before"
    assert [file.name for file in tmp_path.iterdir()] == ["a.csv"]


# ------------------------------------------------------------------------------- sampling


def sampled(n, sizes, seed=0, n_rows=300, n_class=50):
    """A sample of n numbered rows of which every 100th is rare, in batches of these sizes."""
    sampler, start = Sampler(seed, ProfileSettings(n_rows, n_class)), 0
    for size in sizes:
        numbers = np.arange(start, min(start + size, n))
        labels = np.where(numbers % 100 == 0, "rare", "common").astype(object)
        sampler.add(pa.record_batch({"i": numbers}), labels)
        start += size
    return sampler.draw()


def test_a_sample_is_the_same_for_any_batches():
    """It depends on the seed and the rows only."""
    whole, parts = sampled(5000, [5000]), sampled(5000, [7, 993, *[500] * 8])
    assert whole.rows.equals(parts.rows)
    assert (whole.uniform == parts.uniform).all()
    assert not whole.rows.equals(sampled(5000, [5000], seed=1).rows)


def test_a_sample_is_uniform_and_a_rare_class_is_topped_up():
    """The uniform part has its size exactly; the rare class has all the rows it was promised."""
    sample = sampled(20_000, [1000] * 20)
    assert sample.uniform.sum() == 300
    assert (sample.labels == "rare").sum() == 50
    assert (sample.labels[sample.uniform] == "rare").sum() < 15
    numbers = sample.rows["i"].to_numpy()
    assert (np.diff(numbers) > 0).all()  # in the order of the table
    assert abs(numbers[sample.uniform].mean() / 20_000 - 0.5) < 0.05  # of no part of it more


def test_a_small_table_is_its_own_sample():
    sample = sampled(200, [64] * 4)
    assert sample.rows["i"].to_pylist() == list(range(200))
    assert sample.uniform.all()


# ------------------------------------------------------------------------------- profile


def seen(path, target="y", drop=(), limits=None):
    return profile(open_table(path, limits=limits), target, drop, seed=0)


def column(path, name, target="y", limits=None):
    """How a column was understood."""
    columns = seen(path, target, limits=limits).columns
    (found,) = [one for one in columns.used if one.name == name] or [columns.dropped.get(name)]
    return found


def with_labels(cells, header="x,z,y"):
    """A CSV of these cells beside a column that is always useful."""
    lines = [f"{cell},{i * 7 % 5},{'ab'[i % 2]}" for i, cell in enumerate(cells)]
    return header + "\n" + "\n".join(lines) + "\n"


def test_numbers_booleans_dates_and_text_are_told_apart_by_all_their_cells(tmp_path):
    """Nothing is decided by the first rows alone."""
    for cells, kind in (
        (["1", "2", "3.5", "1e3", "-4"], "number"),
        (["true", "False", "TRUE"], "boolean"),
        (["2024-01-01", "2024-02-03"], "date"),
        (["2024-01-01T10:00:00Z", "2024-02-03T11:00:00+01:00"], "date"),
    ):
        found = column(csv(tmp_path, with_labels(cells * 20)), "x")
        assert found == Column("x", kind)
    found = column(csv(tmp_path, with_labels(["red", "blue"] * 20)), "x")
    assert found == Column("x", "text")


def test_a_column_that_widens_late_is_understood(tmp_path):
    """Whole numbers for a megabyte, then a fraction, then a word: where pyarrow would stumble."""
    start = [str(i % 7) for i in range(120_000)]
    found = column(csv(tmp_path, with_labels([*start, "3.7"])), "x")
    assert found == Column("x", "number")
    found = column(csv(tmp_path, with_labels([*start, "3.7", *["abc"] * 5])), "x")
    assert found == Column("x", "text")


def test_a_column_that_changes_its_kind_is_text(tmp_path):
    """Numbers first, dates later, each block of one kind: neither numbers nor dates."""
    cells = [str(i % 3) for i in range(100)] + ["2024-01-01", "2024-01-02"] * 50
    limits = ReadingLimits(block_bytes=2**8)
    found = column(csv(tmp_path, with_labels(cells)), "x", limits=limits)
    assert found == Column("x", "text")


def test_a_stray_word_among_many_numbers_is_missing_and_named_with_its_row(tmp_path):
    """The row is that of the file; the note names the option that decides otherwise."""
    cells = [f"{i / 3:.3f}" for i in range(200)]
    lines = with_labels([*cells[:150], "abc", *cells[150:]]).splitlines()
    lines[10] = lines[10].rpartition(",")[0] + ","  # a row without a label counts too
    found = seen(csv(tmp_path, "\n".join(lines) + "\n"))
    assert found.columns.used[0] == Column("x", "number", lenient=True)
    assert found.missing == {"x": 1}
    note = found.notes["x"]
    assert "1 cell is not: 'abc' in row 151 below the header" in note
    assert note.endswith("--text x")
    assert found.columns.read(found.sample.rows)["x"].null_count == 1


def test_a_stray_code_among_whole_numbers_makes_the_column_text(tmp_path):
    """One long zip code among many short ones, in a later block of the file too."""
    zips = [f"{98000 + i * 7 % 500}" for i in range(70_000)]
    found = seen(csv(tmp_path, with_labels([*zips, "98121-3032"])))
    assert found.columns.used[0] == Column("x", "text")
    note = found.notes["x"]
    assert "'98121-3032' in row 70,001" in note
    assert note.endswith("--number x")
    words = [str(i) for i in range(200)] + [f"word {chr(97 + i)}" for i in range(21)]
    found = seen(csv(tmp_path, with_labels(words)))
    assert found.columns.used[0] == Column("x", "text")  # since words differ as well


def test_numbers_with_many_words_are_text_and_named(tmp_path):
    """Not nearly all are numbers, but many: somebody may want them. One word means a gap."""
    cells = [str(i) if i % 4 else f"word {i % 5}" for i in range(100)]
    found = seen(csv(tmp_path, with_labels(cells)))
    assert found.columns.used[0] == Column("x", "text")
    note = found.notes["x"]
    assert "holds numbers, but 25 cells are not, such as 'word 0' in row 1 " in note
    assert note.endswith("--number x")
    cells = [str(i) if i % 4 else "unknown" for i in range(100)]
    found = seen(csv(tmp_path, with_labels(cells)))
    assert found.columns.used[0] == Column("x", "number", lenient=True)
    assert found.missing == {"x": 25}
    assert found.notes["x"].endswith("--text x")


def test_commas_between_thousands_are_understood_and_named(tmp_path):
    cells = [f'"{i * 37:,}"' for i in range(100)]
    found = seen(csv(tmp_path, with_labels(cells)))
    assert found.columns.used[0] == Column("x", "number")
    assert found.columns.read(found.sample.rows)["x"].to_pylist() == [37 * i for i in range(100)]
    assert "is read as numbers, such as '1,036' as 1036." in found.notes["x"]
    assert found.missing == {}


def test_useless_columns_are_dropped_with_a_reason(tmp_path):
    header = "number,constant,empty,word,name,rare,x,y"
    some = ["some"] * 20 + [""] * 40
    lines = [f"{i + 5},7,,same,name {i},{cell},{i % 3},{i % 2}" for i, cell in enumerate(some)]
    columns = seen(csv(tmp_path, "\n".join([header, *lines]))).columns
    assert [one.name for one in columns.used] == ["name", "rare", "x"]
    assert columns.dropped == {
        "number": "it only numbers the rows",
        "constant": "it is always 7",
        "empty": "all its values are missing",
        "word": "it is always 'same'",
    }


def test_identifiers_are_dropped_with_a_reason(people, tmp_path):
    """Text that always differs is known as such once a sample was taken."""
    n = people.num_rows
    named = people.append_column("name", pa.array([f"person {i}" for i in range(n)]))
    model = fitted(named, tmp_path)
    assert model.columns.dropped == {"name": f"text with {n} different values in {n} rows"}
    assert "name" not in [column.name for column in model.columns.used]
    assert not model.facts.warnings


def test_whole_numbers_that_identify_rows_are_left_out(people, rng, tmp_path):
    """Row numbers, increasing ids, and from 1000 rows on numbers that all differ; in text too."""
    many = pa.concat_tables([people] * 3)
    n = many.num_rows
    ids = {
        "count": np.arange(n, 0, -1),
        "later": 1000 + np.cumsum(rng.integers(1, 9, n)),
        "random": rng.permutation(10 * n)[:n],
        "amount": rng.integers(0, 500, n),
    }
    for name, values in ids.items():
        many = many.append_column(name, pa.array(values))
    schema = plain_schema(many)
    write_table(tmp_path / "a.csv", many.cast(schema).to_batches(), schema)
    for model in (
        fitted(many, tmp_path),
        fit_table(open_table(tmp_path / "a.csv"), FitRequest("ill", model="eem", size=20)),
    ):
        assert list(model.columns.dropped) == ["count", "later", "random"]
        assert "amount" in [column.name for column in model.columns.used]
    few = fitted(many.slice(0, 300), tmp_path)
    assert few.columns.dropped == {
        "count": "it only numbers the rows",
        "later": "whole numbers that increase from row to row",
    }
    assert any("all differ: 'random'" in note for note in few.facts.warnings)


def test_nothing_left_to_learn_from_is_an_error(tmp_path):
    with pytest.raises(InputError, match="must have a column to learn from beside 'y'"):
        seen(csv(tmp_path, "a,y\n7,0\n7,1\n7,0\n"))


# ------------------------------------------------------------------------------- types


def test_columns_are_read_in_their_types(people, tmp_path):
    """What a file calls a number, a truth, a date or text is so in the table to learn from."""
    pq.write_table(people, tmp_path / "a.parquet")
    table = seen(tmp_path / "a.parquet", "ill").columns.read(people)
    assert table.column_names == ["age", "height", "city", "smokes", "since"]
    types = [str(kind) for kind in table.schema.types]
    assert types == ["double", "double", "string", "double", "timestamp[us]"]
    assert table["age"].null_count == people["age"].null_count


def test_every_type_of_number_date_and_text_is_understood(rng, tmp_path):
    """Also codes, decimals, half floats, zones, other kinds of strings, and names with dots."""
    n = 60
    hours = pa.array(np.datetime64("2020-01-01T05", "ns") + np.arange(n) % 28 * 86_400_000_000_000)
    words = [f"v{i % 3}" for i in range(n)]
    table = pa.table(
        {
            "a.b": rng.normal(size=n),
            ".x": rng.normal(size=n).astype(np.float16),
            "[0]": rng.integers(0, 2**63, n).astype(np.uint64),
            "decimal": pa.array(range(n), pa.decimal128(10, 2)).take(rng.permutation(n)),
            "codes": pa.array((np.arange(n) % 4).tolist()).dictionary_encode(),
            "day": hours.cast(pa.date32()),
            "hour": hours.cast(pa.timestamp("ns", "Europe/Berlin")),
            "large": pa.array(words, pa.large_string()),
            "view": pa.array(words, pa.string_view()),
            "coded": pa.array(words).dictionary_encode(),
            "null": pa.nulls(n),
            "y": [None, float("nan"), *np.arange(n - 2) % 2.0],
        }
    )
    for name in ("a.parquet", "a.feather"):
        write_table(tmp_path / name, table.to_batches(), table.schema)
        found = seen(tmp_path / name)
        assert (found.counts.sum(), found.unlabelled) == (n - 2, 2)
        assert found.columns.dropped == {"null": "all its values are missing"}
        X = found.columns.read(table)
        assert X.column_names == table.column_names[:10]
        assert X["decimal"].to_pylist() == table["decimal"].cast(pa.float64()).to_pylist()
        assert X["day"][0].as_py() == datetime(2020, 1, 1)
        assert X["hour"][0].as_py() == datetime(2020, 1, 1, 6)  # by the clock of Berlin
        for name in ("large", "view", "coded"):
            assert X[name].to_pylist() == words


def test_lists_are_refused_by_name(tmp_path):
    pq.write_table(pa.table({"x": [[1, 2], [3]], "y": [0, 1]}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"'x' holds list.*--drop x"):
        seen(tmp_path / "a.parquet")


def test_text_and_typed_files_are_encoded_alike(people, tmp_path):
    """A model of a Parquet file reads the same table as CSV, and the other way round."""
    plain = people.set_column(2, "city", people["city"].cast(pa.string()))
    write_table(tmp_path / "a.parquet", plain.to_batches(), plain.schema)
    write_table(tmp_path / "a.csv", plain.to_batches(), plain.schema)
    text, typed = (seen(tmp_path / name, "ill").columns for name in ("a.csv", "a.parquet"))
    assert text.used == typed.used
    (batch,) = open_table(tmp_path / "a.csv").batches()
    assert typed.read(batch).equals(text.read(plain))


def test_infinite_numbers_are_missing():
    columns = TableColumns((Column("x", "number"),), {})
    batch = pa.record_batch({"x": [1.0, np.inf, np.nan, None]})
    assert columns.read(batch)["x"].to_pylist() == [1.0, None, None, None]


def test_missing_columns_and_wrong_cells_are_refused_by_name():
    columns = TableColumns((Column("x", "number"), Column("d", "date")), {})
    with pytest.raises(InputError, match="lacks 'd'"):
        columns.read(pa.record_batch({"x": [1.0], "more": [2]}))
    days = pa.array(["2024-01-01"])
    with pytest.raises(InputError, match=r"'x' must hold numbers.* it holds 'tall'"):
        columns.read(pa.record_batch({"x": ["1", "tall"], "d": pa.array(["2024-01-01"] * 2)}))
    with pytest.raises(InputError, match=r"'d' must hold dates.* it holds 5"):
        columns.read(pa.record_batch({"x": ["1"], "d": [5]}))
    read = columns.read(pa.record_batch({"d": days, "x": ["2"], "y": ["?"]}))
    assert read.to_pylist() == [{"x": 2.0, "d": datetime(2024, 1, 1)}]


@pytest.mark.parametrize("kind", [pa.timestamp("s"), pa.duration("s"), pa.date64()], ids=str)
def test_a_date_beyond_pythons_in_a_column_of_numbers_is_refused(kind):
    """It is shown as it is counted."""
    cells = pa.array([2**61, 5]).cast(kind)
    with pytest.raises(InputError, match=rf"must hold numbers.* '{2**61} \({re.escape(str(kind))}"):
        Column("x", "number").read(cells)


def test_no_rows_are_read_as_no_rows():
    columns = TableColumns((Column("x", "number"), Column("c", "text")), {})
    assert columns.read(pa.record_batch({"x": pa.array([], pa.float64()), "c": []})).num_rows == 0


# ------------------------------------------------------------------------------- models


def fitted(table, folder, name="a.parquet", target="ill", limits=None, **options):
    pq.write_table(table, folder / name)
    options = {"model": "eem", "size": 20, **options}
    return fit_table(open_table(folder / name, limits=limits), FitRequest(target, **options))


@pytest.fixture(scope="module")
def model(people, tmp_path_factory):
    """A model of them."""
    return fitted(people, tmp_path_factory.mktemp("people"))


def test_a_fit_on_a_small_table_is_the_classifiers_own_fit(model, people):
    """Look, choice, φ of a sample and a pass in batches: together what one `fit` gives."""
    X, y = model.read(people), model.labels(people)
    classifier = EEMClassifier(20, random_state=model.classifier.random_state).fit(X, y)
    ours, theirs = model.classifier.predict_proba(X), classifier.predict_proba(X)
    assert np.allclose(ours, theirs, atol=1e-9)
    assert model.facts.rows == 400
    assert model.facts.class_counts == {
        "no": int((y == "no").sum()),
        "yes": int((y == "yes").sum()),
    }


def test_the_order_of_rows_does_not_matter_where_the_sample_is_the_table(model, people, tmp_path):
    """A file sorted by its label is no trap."""
    sorted_by_label = fitted(people.sort_by("ill"), tmp_path)
    X = model.read(people)
    ours, theirs = (m.classifier.predict_proba(X) for m in (sorted_by_label, model))
    assert np.allclose(ours, theirs, atol=1e-6)


def test_phi_is_drawn_from_all_of_a_long_sorted_table(rng, tmp_path):
    """The first 16 384 rows are of one class and small; φ and scaling must know the others."""
    n = 40_000
    x = np.sort(rng.normal(size=n))
    y = (x > np.quantile(x, 0.9)).astype(int)
    table = pa.table({"x": x, "z": rng.normal(size=n), "y": y})
    model = fitted(table, tmp_path, target="y")
    assert gmean_score(y, model.classifier.predict(model.read(table))) > 0.97
    assert model.facts.rows == n


def test_wide_tables_are_encoded_a_few_rows_at_a_time(model, people, tmp_path):
    """However many columns a table becomes, few numbers are held at once; the fit is the same."""
    limits = ReadingLimits(held_cells=5 * 50, fewest_rows=1)
    again = fitted(people, tmp_path, limits=limits)
    source = open_table(tmp_path / "a.parquet", limits=limits)
    sizes = [batch.num_rows for batch in again.batches(source, also=[again.target])]
    assert len(again.feature_names) == 10
    assert sizes == [50] * 8
    X = model.read(people)
    ours, theirs = (one.classifier.predict_proba(X) for one in (model, again))
    assert np.allclose(ours, theirs, atol=1e-9)


def test_of_a_wide_table_fewer_rows_are_estimated_on(people, tmp_path):
    """The sample shrinks; all rows are learnt all the same."""
    settings = EstimateSettings(cells=5 * 150, fewest_rows=1)
    model = fitted(people, tmp_path, settings=settings)
    assert model.facts.estimated_rows == 150
    assert model.facts.rows == 400
    assert np.sum(model.classifier.summary_.counts) == 400


def test_rows_without_a_label_are_left_out_and_counted(people, tmp_path):
    ill = people["ill"].to_pylist()
    ill[3] = ill[50] = None
    gaps = people.set_column(5, "ill", pa.array(ill))
    model = fitted(gaps, tmp_path)
    assert (model.facts.rows, model.facts.rows_without_label) == (398, 2)
    rest = fitted(gaps.filter(gaps["ill"].is_valid()), tmp_path, "b.parquet")
    X = model.read(people)
    assert np.array_equal(model.classifier.predict_proba(X), rest.classifier.predict_proba(X))


@pytest.mark.parametrize(
    ("labels", "kind", "dtype"),
    [
        (["no", "yes"], "text", "U"),
        ([0, 1], "integer", "i"),
        ([-1, 5], "integer", "i"),
        ([False, True], "boolean", "b"),
        ([0.0, 2.0], "integer", "i"),
    ],
)
def test_labels_come_out_as_they_came_in(labels, kind, dtype, people, tmp_path):
    """From typed files and from text, saved or not."""
    people = people.slice(0, 100)
    y = np.array(labels)[(np.array(people["ill"].to_pylist()) == "yes").astype(int)]
    table = people.select(["age", "height"]).append_column("y", pa.array(y))
    model = fitted(table, tmp_path, target="y")
    assert model.label_kind == kind
    assert model.classifier.predict(model.read(table)).dtype.kind == dtype
    assert model.labels(table).tolist() == y.tolist()
    write_table(tmp_path / "a.csv", table.to_batches(), table.schema)
    written = fit_table(open_table(tmp_path / "a.csv"), FitRequest("y", model="eem", size=20))
    assert written.label_kind == kind
    written.save(tmp_path / "a.eem")
    again = TableModel.load(tmp_path / "a.eem")
    assert again.classifier.predict(again.read(table)).tolist() in (
        written.classifier.predict(written.read(table)).tolist(),
    )
    assert again.classifier.classes_.tolist() == labels


def test_a_saved_model_is_the_same_and_its_classifier_loads_alone(people, tmp_path):
    model = fitted(people, tmp_path, costs={"yes": 3.0})
    model.save(tmp_path / "a.eem")
    again = TableModel.load(tmp_path / "a.eem")
    assert again.columns == model.columns
    assert again.facts == model.facts
    assert (again.target, again.label_kind) == ("ill", "text")
    X = model.read(people)
    assert again.read(people).equals(X)
    bare = extreme_entropy.load(tmp_path / "a.eem")
    assert type(bare) is EEMClassifier
    for classifier in (again.classifier, bare):
        assert np.array_equal(classifier.predict_proba(X), model.classifier.predict_proba(X))
        assert classifier.costs == {"yes": 3.0}


def test_a_classifier_saved_from_python_is_no_model_of_a_table(tmp_path, rng):
    classifier = EEMClassifier(5, random_state=0).fit(rng.normal(size=(20, 2)), [0, 1] * 10)
    classifier.save(tmp_path / "a.eem")
    with pytest.raises(FileFormatError, match="saved from Python"):
        TableModel.load(tmp_path / "a.eem")


@pytest.mark.parametrize(
    "change",
    [
        {"columns": {"used": [], "dropped": {}}},
        {"columns": {"used": [{"name": "x", "kept": [1], "rest": True}], "dropped": {}}},
        {"columns": {"used": [{"name": "x", "kind": "picture", "median": 0, "gaps": True}]}},
        {"label_kind": "picture"},
        {"label_kind": "integer"},
        {"target": 3},
        {"more": 1},
        {"facts": 5},
        {"facts": {"model": "eem", "size": 20}},
        {"facts": {"model": "eem", "size": "large", "seed": 0}},
        {"facts": {"model": "eem", "size": 20, "seed": 0, "class_counts": {"no": 1.5}}},
        {"facts": {"model": "eem", "size": 20, "seed": 0, "class_counts": {"no": -1}}},
        {"facts": {"model": "eem", "size": 20, "seed": 0, "class_counts": {"perhaps": 1}}},
        {"facts": {"model": "eem", "size": 20, "seed": 0, "more": 1}},
        {"facts": {"model": "eem", "size": 20, "seed": 0, "estimate": {"gmean": 0.5}}},
        {"facts": {"model": "eem", "size": 20, "seed": 0, "estimate": {"gmean": "good"}}},
    ],
)
def test_columns_that_make_no_sense_are_refused_on_loading(change, model, tmp_path):
    """A file whose checksum is right may still say nonsense."""
    from extreme_entropy import persistence

    model.save(tmp_path / "a.eem")
    values, arrays = persistence.read(tmp_path / "a.eem")
    values["table"].update(change)
    persistence.write(tmp_path / "b.eem", values, arrays)
    with pytest.raises(FileFormatError, match="does not understand"):
        TableModel.load(tmp_path / "b.eem")


def test_facts_are_a_frozen_value(model):
    """What is known of a model changes only with the model."""
    with pytest.raises(FrozenInstanceError):
        model.facts.rows = 5
    assert list(model.facts.versions) == [
        *("python", "extreme-entropy", "numpy", "scipy", "scikit-learn", "pyarrow"),
    ]


def test_facts_of_earlier_versions_are_read(model, tmp_path):
    """They lacked some, and no costs were an empty object."""
    from extreme_entropy import persistence

    model.save(tmp_path / "a.eem")
    values, arrays = persistence.read(tmp_path / "a.eem")
    facts = values["table"]["facts"]
    facts.update(costs={})
    del facts["command"], facts["merged"]
    persistence.write(tmp_path / "b.eem", values, arrays)
    assert TableModel.load(tmp_path / "b.eem").facts == replace(model.facts, costs={})


def test_models_of_parts_add_up_to_the_model_of_all(people, tmp_path):
    """`like` shares the encoding and φ; the sum predicts as one fit on all rows would."""
    first = fitted(people.slice(0, 150), tmp_path)
    pq.write_table(people.slice(150), tmp_path / "rest.parquet")
    pq.write_table(people, tmp_path / "all.parquet")
    rest = fit_like(open_table(tmp_path / "rest.parquet"), first)
    merged = first.merged(rest)
    whole = fit_like(open_table(tmp_path / "all.parquet"), first)
    X = whole.read(people)
    ours, theirs = (model.classifier.predict_proba(X) for model in (merged, whole))
    assert np.allclose(ours, theirs, atol=1e-9)
    for name in ("rows", "class_counts", "missing", "rows_without_label"):
        assert getattr(merged.facts, name) == getattr(whole.facts, name)
    assert first.facts.rows == 150  # as it was


def test_models_that_read_columns_differently_cannot_be_merged(people, tmp_path):
    ours, theirs = (fitted(people.slice(*part), tmp_path) for part in ((0, 200), (200, 200)))
    with pytest.raises(MergeError, match="--like"):
        ours.merged(theirs)


def test_strange_labels_are_refused_by_name(model):
    with pytest.raises(InputError, match=r"'ill' must be among 'no', 'yes'; there is also 'dead'"):
        model.labels(pa.record_batch({"ill": ["no", "dead"]}))
    with pytest.raises(InputError, match="must have a column 'ill'"):
        model.labels(pa.record_batch({"sick": ["no"]}))


@pytest.mark.parametrize("kind", ["auto", "eem", "eekm"])
def test_each_model_is_fitted_with_an_estimate(people, tmp_path, kind):
    """The classifier is the one that was asked for, of the size that was asked for."""
    model = fitted(people, tmp_path, model=kind, size=30)
    classifier = type(model.classifier).__name__
    assert (
        classifier
        == {
            "auto": "ExtremeEntropyClassifier",
            "eem": "EEMClassifier",
            "eekm": "EEKMClassifier",
        }[kind]
    )
    assert (model.facts.model, model.facts.size) == (kind, 30)
    guess = model.facts.estimate
    assert 0 <= guess.low <= guess.gmean <= guess.high <= 1
    assert guess.folds == 5


@pytest.mark.parametrize("kind", ["auto", "eem", "eekm"])
def test_a_model_of_the_default_size_comes_back_from_its_file(people, tmp_path, kind):
    """With the size that the table was given."""
    pq.write_table(people.slice(0, 60), tmp_path / "people.parquet")
    model = fit_table(open_table(tmp_path / "people.parquet"), FitRequest("ill", model=kind))
    model.save(tmp_path / "a.eem")
    again = TableModel.load(tmp_path / "a.eem")
    assert again.facts == model.facts
    assert again.facts.size == {"auto": 300, "eem": 500, "eekm": 500}[kind]


def test_leaves_follow_from_all_rows_of_a_table(people, tmp_path, monkeypatch):
    """The sample that the tree is grown from may be smaller than the table."""
    trees = TreeSettings(
        leaf_rows=100, leaf_class_rows=1, fewest_leaves=2, fewest_class_rows=5, fewest_sampled=5
    )
    monkeypatch.setattr(ExtremeEntropyClassifier, "settings", replace(DRAWING, trees=trees))
    model = fitted(people, tmp_path, model="auto", size=10)
    assert model.classifier.n_leaves == 4
    assert len(model.classifier.feature_map_.leaves) > 1
    assert np.sum(model.classifier.summary_.counts) == 400


def test_a_class_of_one_row_is_fitted_without_an_estimate(people, tmp_path):
    """There is nothing to hold out, and the library's warning is kept with the model."""
    yes = people.filter(pa.compute.equal(people["ill"], "yes")).slice(0, 1)
    no = people.filter(pa.compute.equal(people["ill"], "no"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fitted(pa.concat_tables([no, yes]), tmp_path)
    assert model.facts.estimate is None
    assert any("one row only" in warning for warning in model.facts.warnings)


# ------------------------------------------------------------------------------- scores


def test_the_model_is_as_good_as_estimated(tmp_path):
    """Of 120 columns two count: the layer that is fitted is of the size that was estimated."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((800, 120)).round(3)
    y = np.where(X[:, 0] + X[:, 1] > 0, "a", "b")
    table = pa.table({**{f"x{j}": column for j, column in enumerate(X.T)}, "y": y})
    pq.write_table(table.slice(0, 500), tmp_path / "wide.parquet")
    written = fit_table(open_table(tmp_path / "wide.parquet"), FitRequest("y", model="eem"))
    layer = written.classifier.feature_map_.only().parts[0].layer
    assert written.facts.size == written.classifier.n_hidden == layer.size
    predicted = written.classifier.predict(written.read(table.slice(500)))
    expected = written.facts.estimate
    assert expected.low - 0.05 < gmean_score(y[500:], predicted) < expected.high + 0.05


def test_an_estimate_is_that_of_all_held_out_rows_together(rng):
    """By scikit-learn's cross-validation of the same folds."""
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    X[:, 0] += y
    table = pa.table({f"x{j}": column for j, column in enumerate(X.T)})
    classifier = EEMClassifier(20, random_state=0)
    guess = estimate_outcome(classifier, table, y, 4)
    folds = StratifiedKFold(5, shuffle=True, random_state=4)
    predicted = cross_val_predict(classifier, table.to_pandas(), y, cv=folds)
    assert guess.gmean == pytest.approx(gmean_score(y, predicted))
    scores = scores_with_intervals(confusion_counts(y, predicted, 2), y, np.full((200, 2), 0.5))
    assert (guess.low, guess.high) == (scores["gmean"].low, scores["gmean"].high)


def test_a_class_of_few_rows_is_named_and_the_others_are_judged(rng):
    """Its rows are learnt each time and never held out, whatever is found in them."""
    y = np.repeat(["red", "green", "blue", "alone"], [60, 60, 7, 1])
    table = pa.table({"x": rng.normal(size=128) + 3 * (y == "red")})
    seen = []

    class Watched(EEMClassifier):
        def fit(self, X, y):
            seen.append(y)
            return super().fit(X, y)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        guess = estimate_outcome(Watched(20, random_state=0), table, y, 0)
        few = estimate_outcome(EEMClassifier(20), table.slice(60), y[60:], 0)
    assert guess.not_judged == ("alone", "blue")
    assert 0.3 < guess.low < guess.gmean < guess.high < 1
    assert [len(y) for y in seen] == [104] * 5
    assert all(np.isin([0, 1], y).all() and (y == 1).sum() == 7 for y in seen)  # in order of names
    assert few == "two classes need 8 rows or more, to be held out in turn"


def test_the_note_on_small_classes_says_why_and_what_is_estimated(people, tmp_path):
    """One sentence for three classes, another where no estimate is left."""
    labels = people["ill"].to_pylist()
    labels[:5] = ["maybe"] * 5
    three = people.set_column(people.num_columns - 1, "ill", pa.array(labels))
    model = fitted(three, tmp_path)
    assert "'maybe' (5)" in model.facts.warnings[0]
    assert "that of the other classes" in model.facts.warnings[0]
    assert model.facts.estimate.not_judged == ("maybe",)
    model.save(tmp_path / "a.eem")
    assert TableModel.load(tmp_path / "a.eem").facts == model.facts
    yes, no = (people.filter(pa.compute.equal(people["ill"], label)) for label in ("yes", "no"))
    model = fitted(pa.concat_tables([yes.slice(0, 2), no.slice(0, 4)]), tmp_path)
    assert "'no' (4), 'yes' (2). GMean needs two classes" in model.facts.warnings[0]
    assert model.facts.estimate is None


def test_of_many_rows_one_fold_is_held_out(rng):
    """And the interval is over its rows."""
    settings = EstimateSettings(one_fold=150)
    X, y = rng.normal(size=(200, 1)), rng.integers(0, 2, 200)
    X[:, 0] += 2 * y
    classifier = EEMClassifier(20, random_state=0)
    guess = estimate_outcome(classifier, pa.table({"x": X[:, 0]}), y, 0, settings=settings)
    assert guess.folds == 1
    assert guess.high - guess.low > 0.1
    assert guess.low < guess.gmean < guess.high
    rare = np.concatenate([np.repeat(0, 161), np.repeat(1, 39)])
    table = pa.table({"x": X[:, 0] + 2 * rare})
    guess = estimate_outcome(classifier, table, rare, 0, settings=settings)
    assert guess.folds == 5  # since a fifth of 39 rows are too few


@pytest.mark.parametrize("k", [2, 3])
def test_scores_are_scikit_learns(k, rng):
    """Each value by another route; the Brier score of many classes is the sum over them."""
    n = 500
    y = rng.choice(k, n, p=[0.1, 0.9] if k == 2 else [0.1, 0.3, 0.6])
    logits = rng.normal(size=(n, k)).round(1) + np.eye(k)[y]  # rounded: with ties
    P = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    predictions = P.argmax(axis=1)
    scores = scores_with_intervals(confusion_counts(y, predictions, k), y, P)
    assert scores["gmean"].value == pytest.approx(gmean_score(y, predictions))
    accuracy = balanced_accuracy_score(y, predictions)
    assert scores["balanced_accuracy"].value == pytest.approx(accuracy)
    area = roc_auc_score(y, P[:, 1]) if k == 2 else roc_auc_score(y, P, multi_class="ovr")
    assert scores["auc"].value == pytest.approx(area)
    brier = brier_score_loss(y, P[:, 1]) if k == 2 else ((P - np.eye(k)[y]) ** 2).sum(1).mean()
    assert scores["brier"].value == pytest.approx(brier)
    losses = probability_scores(y, P)
    assert losses["brier"] == scores["brier"]
    assert losses["log_loss"].value == pytest.approx(log_loss(y, P))
    certain = probability_scores(np.array([1]), np.array([[1.0, 0.0]]))["log_loss"]
    assert certain.value == pytest.approx(log_loss([1], [[1.0, 0.0]], labels=[0, 1]))
    assert (certain.low, certain.high) == (0, certain.value)  # of one row


@pytest.mark.parametrize("k", [2, 3])
def test_intervals_are_those_of_a_bootstrap_over_rows(k, rng):
    """Rows drawn anew four hundred times, scored by scikit-learn: the same spread."""
    n = 200
    y = rng.choice(k, n, p=[0.3, 0.7] if k == 2 else [0.2, 0.3, 0.5])
    logits = rng.normal(size=(n, k)) + np.eye(k)[y]
    P = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    predictions = P.argmax(axis=1)
    scores = scores_with_intervals(confusion_counts(y, predictions, k), y, P)
    drawn = {name: [] for name in scores}
    for _ in range(400):
        i = rng.integers(0, n, n)
        area = (
            roc_auc_score(y[i], P[i, 1]) if k == 2 else roc_auc_score(y[i], P[i], multi_class="ovr")
        )
        drawn["auc"].append(area)
        drawn["gmean"].append(gmean_score(y[i], predictions[i]))
        drawn["balanced_accuracy"].append(balanced_accuracy_score(y[i], predictions[i]))
        errors = ((P[i] - np.eye(k)[y[i]]) ** 2).sum(axis=1)
        drawn["brier"].append(errors.mean() / (2 if k == 2 else 1))
    for name, values in drawn.items():
        low, high = np.percentile(values, [2.5, 97.5])
        width = scores[name].high - scores[name].low
        assert width == pytest.approx(high - low, rel=0.2), name
        assert scores[name].low == pytest.approx(low, abs=0.2 * (high - low)), name


def test_where_rows_abound_the_bootstrap_is_the_normal_interval(rng):
    """95 %: balanced accuracy is a mean of proportions, whose variance is known."""
    n = 20_000
    y = (rng.random(n) < 0.3).astype(int)
    right = rng.random(n) < np.where(y, 0.8, 0.6)
    scores = scores_with_intervals(
        confusion_counts(y, np.where(right, y, 1 - y), 2), y, np.full((n, 2), 0.5)
    )
    recalls = np.array([right[y == c].mean() for c in (0, 1)])
    error = np.sqrt((recalls * (1 - recalls) / np.bincount(y)).sum()) / 2
    score = scores["balanced_accuracy"]
    assert score.high - score.low == pytest.approx(2 * 1.96 * error, rel=0.07)


def test_a_class_without_rows_leaves_scores_of_all_classes_undefined():
    """Only the mean over rows is defined."""
    y = np.zeros(5, dtype=int)
    P = np.tile([0.7, 0.3], (5, 1))
    scores = scores_with_intervals(confusion_counts(y, y, 2), y, P)
    for name in ("gmean", "balanced_accuracy", "auc"):
        assert scores[name] == ScoreInterval(None, None, None)
    assert scores["brier"].value == pytest.approx(0.09)


@pytest.mark.parametrize("found", [30, 0])
def test_no_mistake_or_nothing_found_is_not_certain(found):
    """Of 30 rows without a mistake the interval is as wide as the rule of three has it."""
    score = recall_scores(np.array([found, 3000]), np.array([30, 3000]))["gmean"]
    assert score.value == (found > 0)
    far = score.low if found else score.high
    assert abs(far**2 - score.value) == pytest.approx(3 / 30, rel=0.3)


@pytest.mark.parametrize("k", [2, 3, 10])
def test_intervals_of_gmean_hold_the_true_one_in_19_of_20_tables(k, rng):
    """Where a class has ten rows and few mistakes, of which a bootstrap is too sure."""
    recalls, rows = rng.uniform(0.85, 0.98, k), np.array([10, *[100] * (k - 1)])
    scores = [recall_scores(rng.binomial(rows, recalls), rows)["gmean"] for _ in range(200)]
    true = recalls.prod() ** (1 / k)
    assert np.mean([score.low <= true <= score.high for score in scores]) > 0.9
