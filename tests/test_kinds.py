"""How columns of text are understood: numbers, dates in their orders, codes, and by option."""

from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from extreme_entropy.columns.date_text import ORDERS, read_dates
from extreme_entropy.columns.recognition import Asked
from extreme_entropy.columns.text import Column
from extreme_entropy.errors import InputError
from extreme_entropy.tables.fitting import FitRequest, fit_table
from extreme_entropy.tables.model import TableModel
from extreme_entropy.tables.profile import asked_kinds, profile
from extreme_entropy.tables.reading import open_table
from extreme_entropy.tables.used_columns import TableColumns


def seen(folder, cells, asked=None, missing=(), name="a.csv"):
    """What a profile makes of a column `x` of these cells, beside a number and a label."""
    rows = [(cell, str(i * 7 % 5), "ab"[i % 2]) for i, cell in enumerate(cells)]
    if name.endswith(".csv"):
        lines = ['"x","z","y"', *(",".join(f'"{cell}"' for cell in row) for row in rows)]
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    else:
        x, z, y = zip(*rows, strict=True)
        pq.write_table(pa.table({"x": x, "z": z, "y": y}), folder / name)
    found = profile(
        open_table(folder / name),
        *("y", (), 0),
        asked={"x": asked} if asked else {},
        missing=missing,
    )
    return found.kinds["x"], found.notes.get("x", ""), found


def days(n=90, start="2019-12-15"):
    return [datetime.fromisoformat(start) + timedelta(days=i) for i in range(n)]


# ------------------------------------------------------------------------------- dates


@pytest.mark.parametrize(
    ("text", "order", "expected"),
    [
        ("1990-09-30", "ymd", "1990-09-30"),
        ("1990/9/3 4:05", "ymd", "1990-09-03T04:05"),
        ("19900930", "ymd", "1990-09-30"),
        ("1990-09-30T12:00:00.25Z", "ymd", "1990-09-30T12:00:00.25"),
        ("1990-09-30T12:00:00+02:00", "ymd", "1990-09-30T10:00"),
        ("1990-09-30T12:00:00-0130", "ymd", "1990-09-30T13:30"),
        ("30.09.1990", "dmy", "1990-09-30"),
        ("30/9/1990 23:59:59", "dmy", "1990-09-30T23:59:59"),
        ("30-Sep-1990", "dmy", "1990-09-30"),
        ("30-Sep-1990", "mdy", "1990-09-30"),
        ("30 September 1990", "dmy", "1990-09-30"),
        ("Sep 30, 1990", "mdy", "1990-09-30"),
        ("9/30/1990 0:00:00", "mdy", "1990-09-30"),
        ("09-30-1990 12:05 AM", "mdy", "1990-09-30T00:05"),
        ("9/30/1990 12:05 p.m.", "mdy", "1990-09-30T12:05"),
        ("9/30/68", "mdy", "2068-09-30"),
        ("9/30/69", "mdy", "1969-09-30"),
        ("29.2.2000", "dmy", "2000-02-29"),
        ("29.2.1900", "dmy", None),
        ("31.4.1990", "dmy", None),
        ("1990-09-30 4:05", "dmy", "1990-09-30T04:05"),
        ("1990/09/30", "mdy", "1990-09-30"),
        ("9/30/1990", "dmy", None),
        ("0/1/1990", "mdy", None),
        ("1990-09-30 24:00", "ymd", None),
        ("9/30/1990 13:00 PM", "mdy", None),
        ("9/30/199", "mdy", None),
        ("1.2.3.4", "dmy", None),
        ("Marble 3, 1990", "mdy", None),
        ("yesterday", "dmy", None),
        (None, "dmy", None),
    ],
)
def test_dates_are_read_in_their_order_or_not_at_all(text, order, expected):
    (found,) = read_dates(pa.array([text], pa.string()), order).to_pylist()
    assert found == (None if expected is None else datetime.fromisoformat(expected))


def test_every_day_of_four_centuries_is_read_as_python_does():
    dates = [datetime(1700, 1, 1) + timedelta(days=i) for i in range(146_097)]
    for order, form in zip(ORDERS, ("{y}-{m}-{d}", "{d}.{m}.{y}", "{m}/{d}/{y}"), strict=True):
        texts = [form.format(y=day.year, m=day.month, d=day.day) for day in dates]
        assert read_dates(pa.array(texts), order).to_pylist() == dates


@pytest.mark.parametrize(
    ("form", "order"),
    [
        ("%m/%d/%Y 0:00:00", "mdy"),
        ("%d.%m.%Y", "dmy"),
        ("%d/%m/%Y", "dmy"),
        ("%Y-%m-%d %H:%M", ""),
        ("%d-%b-%Y", "dmy"),
    ],
)
def test_a_column_of_dates_is_recognised_by_all_its_cells(form, order, tmp_path):
    """Cells such as 5/6/2020 could be of two orders, others could not; gaps are no trouble."""
    column, note, found = seen(tmp_path, [*(f"{day:{form}}" for day in days()), ""])
    assert column.kind == "date"
    assert column.order in ({"dmy", "mdy"} if "%b" in form else {order})
    assert note == ""
    assert found.missing == {"x": 1}
    read = found.columns.read(found.sample.rows)["x"].to_pylist()
    assert read[:-1] == days()
    assert read[-1] is None


def test_an_ambiguous_order_is_named_and_the_option_decides(tmp_path):
    """Twelve days of twelve months: nothing tells which is which."""
    cells = [f"{1 + i % 12}/{1 + i * 5 % 12}/2020" for i in range(60)]
    column, note, _ = seen(tmp_path, cells)
    assert column == Column("x", "date", "mdy")
    assert "could be read with the month first or with the day first" in note
    assert note.endswith("--date x=dmy")
    column, note, found = seen(tmp_path, cells, Asked("date", "dmy"))
    assert (column, note) == (Column("x", "date", "dmy", lenient=True), "")
    second = found.columns.read(found.sample.rows)["x"][1].as_py()
    assert second == datetime(2020, 6, 2)
    column, note, _ = seen(tmp_path, [cell.replace("/", ".") for cell in cells])
    assert (column, note) == (Column("x", "date", "dmy"), "")  # nobody writes 9.30.1990


def test_a_few_words_among_dates_are_missing_and_named(tmp_path):
    cells = [f"{day:%d.%m.%Y}" for day in days()]
    column, note, found = seen(tmp_path, [*cells, "unknown", "unknown"])
    assert column == Column("x", "date", "dmy", lenient=True)
    assert "2 cells are not, such as 'unknown' in row 91" in note
    assert note.endswith("--text x")
    assert found.missing == {"x": 2}


def test_text_that_looks_like_dates_is_named(tmp_path):
    """Years of two digits, months that do not exist, and text in a typed file."""
    short = [f"{day:%m/%d/%y}" for day in days()]
    column, note, _ = seen(tmp_path, short)
    assert column == Column("x", "text")
    assert note == (
        "Column 'x' looks like dates ('12/15/19'), but is read as text. "
        "To read it as dates: --date x"
    )
    column, note, found = seen(tmp_path, short, Asked("date"))
    assert (column, note) == (Column("x", "date", "mdy", lenient=True), "")
    assert found.columns.read(found.sample.rows)["x"].to_pylist() == days()
    column, note, _ = seen(tmp_path, [f"2020-{13 + i}-01" for i in range(60)])
    assert column == Column("x", "text")
    assert "looks like dates" in note


def test_text_of_typed_files_is_read_like_any_other_unless_its_type_calls_it_categories(tmp_path):
    """Whole numbers that somebody stored as text stay text."""
    dates = [f"{day:%d.%m.%Y}" for day in days()]
    column, note, _ = seen(tmp_path, dates, name="a.parquet")
    assert (column, note) == (Column("x", "date", "dmy"), "")
    codes = [str(1000 + i) for i in range(90)]
    assert seen(tmp_path, codes, name="a.parquet")[0] == Column("x", "text")
    coded = pa.table({"x": pa.array(dates).dictionary_encode(), "y": ["a", "b"] * 45})
    pq.write_table(coded, tmp_path / "a.parquet")
    found = profile(open_table(tmp_path / "a.parquet"), "y", (), 0)
    assert found.columns.used == (Column("x", "text"),)


def test_versions_and_words_are_no_dates(tmp_path):
    for cells in (["1.2.3.4", "10.0.0.1"] * 30, [f"word {i % 30}" for i in range(60)]):
        column, note, _ = seen(tmp_path, cells)
        assert (column, note) == (Column("x", "text"), "")


# ------------------------------------------------------------------------------- by option


def test_an_option_decides_how_a_column_is_read(tmp_path):
    """In text and typed files; whole numbers as text keep their zeros."""
    codes = [f"{i % 30:03}" for i in range(60)]
    for kind in ("text", "category"):
        column, note, found = seen(tmp_path, codes, Asked(kind))
        assert (column, note) == (Column("x", kind), "")
        assert found.columns.read(found.sample.rows)["x"].to_pylist() == codes
    for name in ("a.csv", "a.parquet"):
        amounts = [*(f"{i}.5" for i in range(60)), "1,234.5", "n. a.", "12 EUR", "12-13"]
        column, note, found = seen(tmp_path, amounts, Asked("number"), name=name)
        assert column == Column("x", "number", lenient=True, unit="EUR")
        assert note == (
            "Column 'x' is read as numbers, such as '1,234.5' as 1234.5. But 2 cells are not, such "
            "as 'n. a.' in row 62 below the header. Such cells count as missing."
        )
        assert found.missing == {"x": 2}
        read = found.columns.read(found.sample.rows)["x"].to_pylist()
        assert read == [*(i + 0.5 for i in range(60)), 1234.5, None, 12, None]


def test_whole_numbers_are_dates_if_an_option_says_so(tmp_path):
    cells = [f"{day:%Y%m%d}" for day in days()]
    _, _, found = seen(tmp_path, cells, Asked("date"))
    assert found.columns.read(found.sample.rows)["x"].to_pylist() == days()
    typed = pa.table({"x": [int(cell) for cell in cells]})
    assert found.columns.used[0].read(typed["x"].combine_chunks()).to_pylist() == days()


def test_further_spellings_of_missing_values_are_gaps(tmp_path):
    """In text, and as numbers where the file has types; never in the target."""
    cells = ["-999" if i % 10 == 0 else str(i) for i in range(100)]
    _, _, found = seen(tmp_path, cells, missing=("-999", "a"))
    assert found.missing == {"x": 10}
    assert found.counts.tolist() == [50, 50]
    assert found.columns.read(found.sample.rows)["x"].null_count == 10
    columns = TableColumns((Column("x", "number"),), {}, ("-999", "a"))
    read = columns.read(pa.record_batch({"x": [1.0, -999.0]}))["x"]
    assert read.to_pylist() == [1.0, None]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"text": ("x",), "number": ("x",)}, "'x' is named by --text and --number"),
        ({"date": ("x=dym",)}, "must be one of ymd, dmy, mdy"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        asked_kinds(options, ["x"])


def test_a_column_whose_name_has_an_equals_sign_can_be_named():
    names = ["a=b", "c"]
    assert asked_kinds({"date": ("a=b", "c=dmy")}, names) == {
        "a=b": Asked("date"),
        "c": Asked("date", "dmy"),
    }


@pytest.mark.parametrize(("kind", "words"), [("number", "numbers"), ("date", "dates")])
def test_a_column_without_any_such_cell_is_refused(kind, words, tmp_path):
    with pytest.raises(InputError, match=f"must hold {words} to be read by --{kind}"):
        seen(tmp_path, ["red", "blue"] * 20, Asked(kind))


def test_a_typed_date_is_no_number(tmp_path):
    table = pa.table({"x": days(40), "y": ["a", "b"] * 20})
    pq.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(InputError, match="cannot be read as numbers"):
        profile(open_table(tmp_path / "a.parquet"), "y", (), 0, asked={"x": Asked("number")})


def test_a_model_reads_new_rows_as_it_read_the_old_ones(tmp_path):
    """Kinds, orders, strays and gaps are saved with it."""
    rng = np.random.default_rng(0)
    y = rng.random(200) < 0.4
    x = [f"{v:.2f}" for v in rng.normal(size=200) + 2 * y]
    x[5], x[7] = "broken", "-1"
    lines = [
        f"{a},{day:%d/%m/%Y},{'ab'[i % 2]}{i},{'yes' if label else 'no'}"
        for i, (a, day, label) in enumerate(zip(x, days(200), y, strict=True))
    ]
    (tmp_path / "a.csv").write_text("x,day,code,y\n" + "\n".join(lines) + "\n")
    read_as = {"number": ("x",), "category": ("code",)}
    options = {"model": "eem", "size": 20, "missing": ("-1",)}
    model = fit_table(open_table(tmp_path / "a.csv"), FitRequest("y", read_as=read_as, **options))
    assert model.facts.missing == {"x": 2}
    model.save(tmp_path / "a.eem")
    again = TableModel.load(tmp_path / "a.eem")
    assert again.columns == model.columns
    assert [column.kind for column in again.columns.used] == ["number", "date", "category"]
    new = again.read(
        pa.record_batch({"x": ["1", "-1", "?!"], "day": ["31/12/2020"] * 3, "code": ["a0"] * 3})
    )
    assert new.to_pylist() == [
        {"x": value, "day": datetime(2020, 12, 31), "code": "a0"} for value in (1.0, None, None)
    ]
    assert len(again.classifier.predict(new)) == 3
    with pytest.raises(InputError, match=r"'day' must hold dates.*'12/31/2020'.*--date 'day'"):
        again.read(pa.record_batch({"x": ["1"], "day": ["12/31/2020"], "code": ["a0"]}))


# ------------------------------------------------------------------------------- codes


def test_zeros_in_front_of_numbers_are_pointed_out(tmp_path):
    """They may be codes, such as postal ones; only somebody who knows them can say."""
    cells = [f"{i * 37:05}" for i in range(1, 60)]
    column, note, _ = seen(tmp_path, cells)
    assert column == Column("x", "number")
    assert "has zeros in front, as in '000" in note
    assert note.endswith("--category x")
    column, note, _ = seen(tmp_path, cells, Asked("category"))
    assert (column, note) == (Column("x", "category"), "")


@pytest.mark.parametrize("cells", [["0", "10", "20"], ["0.5", "0.25", "00.1"], ["-01", "2", "3"]])
def test_other_zeros_are_not(cells, tmp_path):
    assert seen(tmp_path, cells * 20)[1] == ""


# ------------------------------------------------------------------------------- commas


def in_semicolons(folder, cells, asked=None):
    """What a profile makes of a column `x` of a file that is separated by semicolons."""
    lines = ["x;z;y", *(f"{cell};{i * 7 % 5};{'ab'[i % 2]}" for i, cell in enumerate(cells))]
    (folder / "a.csv").write_text("\n".join(lines), encoding="utf-8")
    source = open_table(folder / "a.csv")
    found = profile(source, *("y", (), 0), asked={"x": asked} if asked else {})
    [batch] = source.batches(["x"])
    column = found.kinds["x"]
    return column, found.notes.get("x", ""), column.read(batch.column("x")).to_pylist()


def test_after_semicolons_commas_are_decimal_signs(tmp_path):
    column, note, values = in_semicolons(tmp_path, ["2,5", "3", "-0,25"] * 10)
    assert (column, note) == (Column("x", "number", decimal_comma=True), "")
    assert values[:3] == [2.5, 3.0, -0.25]
    cells = [*(f"{i},5" for i in range(60)), "unknown"]
    column, note, values = in_semicolons(tmp_path, cells)
    assert column == Column("x", "number", lenient=True, decimal_comma=True)
    assert "'unknown'" in note
    assert values[0] == 0.5
    assert values[-1] is None


def test_commas_that_could_be_of_either_kind_are_pointed_out(tmp_path):
    """One reading for all cells: 1,234,567 can only have commas between thousands."""
    thousands = ["810", "2,102", "83,071"] * 10
    column, note, values = in_semicolons(tmp_path, thousands)
    assert column.decimal_comma
    assert "such as '2,102' as 2.102. It could also be 2102;" in note
    assert values[:3] == [810.0, 2.102, 83.071]
    column, note, values = in_semicolons(tmp_path, [*thousands, "1,234,567"])
    assert not column.decimal_comma
    assert "such as '1,234,567' as 1234567. " in note
    assert values[:3] == [810.0, 2102.0, 83071.0]


def test_text_keeps_its_commas(tmp_path):
    column, _, values = in_semicolons(tmp_path, ["1,1", "1.1"] * 10, Asked("text"))
    assert column == Column("x", "text")
    assert values[:2] == ["1,1", "1.1"]


def test_a_model_reads_commas_as_in_its_training_table(tmp_path):
    """Whatever separates the cells of the new table."""
    rng = np.random.default_rng(0)
    x = rng.integers(1, 99, 200) * 1001
    y = np.where(x > 50_000, "hi", "lo")
    for name, form in {"c.csv": '"{:,}",{}', "s.csv": "{:,};{}"}.items():
        lines = [form.format(a, b) for a, b in zip(x.tolist(), y, strict=True)]
        header = "x,y" if name == "c.csv" else "x;y"
        (tmp_path / name).write_text("\n".join([header, *lines]))
    model = fit_table(open_table(tmp_path / "c.csv"), FitRequest("y", model="eem", size=10))
    [batch] = open_table(tmp_path / "s.csv").batches(["x"])
    assert model.read(batch).column("x").to_pylist() == x.tolist()


def test_numbers_too_large_for_floats_are_not_called_constant(tmp_path):
    cells = [str(4111111111111111000 + i % 30) for i in range(90)]
    _, _, found = seen(tmp_path, cells)
    assert "too large to be distinguished" in found.columns.dropped["x"]
    _, _, found = seen(tmp_path, cells, Asked("category"))
    assert "x" not in found.columns.dropped
    _, _, found = seen(tmp_path, ["4111111111111111000"] * 90)
    assert found.columns.dropped["x"].startswith("it is always")


@pytest.mark.parametrize("integers", [False, True])
def test_whole_numbers_that_are_rounded_are_pointed_out(integers, tmp_path):
    """In text and in typed files; not those that floats hold exactly, and not codes."""

    def note(start, step, asked=None):
        numbers = [start + step * i for i in range(90)]
        if not integers:
            return seen(tmp_path, list(map(str, numbers)), asked)[1]
        table = pa.table({"x": numbers, "z": [3, 1, 2] * 30, "y": ["a", "b"] * 45})
        pq.write_table(table, tmp_path / "t.parquet")
        source = open_table(tmp_path / "t.parquet")
        return profile(source, "y", [], 0, asked={"x": asked or Asked()}).notes.get("x", "")

    assert f"such as {2**53 + 1}. They are rounded" in note(2**53, 1)
    assert f"such as {-(2**53) - 1}. " in note(-(2**53), -1)
    assert "--category x" in note(2**53, 1)
    assert not note(2**53 - 100, 1)
    assert not note(2**53, 2)
    assert not note(2**53, 1, Asked("category"))


@pytest.mark.parametrize(
    "form", ["${:,}", "{}.5%", "{} kg", "({}.25)", "1'{:03}", "−{}", "{} €", "1\u202f{:03}"]
)
def test_numbers_with_signs_and_units_are_read_and_named(form, tmp_path):
    column, note, _ = seen(tmp_path, [form.format(i * 37 % 1000) for i in range(1, 90)])
    assert column.kind == "number"
    assert note.startswith(f"Column 'x' is read as numbers, such as {form.format(37)!r} as ")
    assert note.endswith("To read it as text: --text x")


@pytest.mark.parametrize(
    "form", ["A{}", "{}B", "{}-{}", "{}/1", "town {}", "10.0.{}.{}", "555 {:03} {:04}"]
)
def test_codes_do_not_look_like_numbers(form, tmp_path):
    _, note, _ = seen(tmp_path, [form.format(i * 37 % 1000, i) for i in range(1, 90)])
    assert "numbers" not in note


def test_numbers_with_signs_are_no_identifiers(tmp_path):
    """Though nearly all of their texts differ."""
    lines = [f"${i * 7919 % 100000:06},{i % 7},{'ab'[i % 2]}" for i in range(300)]
    (tmp_path / "a.csv").write_text("\n".join(["income,z,y", *lines]))
    fitted = fit_table(open_table(tmp_path / "a.csv"), FitRequest("y", model="eem", size=10))
    assert Column("income", "number", unit="$") in fitted.columns.used
    assert any("'income' is read as numbers" in note for note in fitted.facts.warnings)
