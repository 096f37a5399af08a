"""Tables as they come: encodings, standard input, Excel sheets."""

import io
import re
import sys
import warnings
import zipfile
from contextlib import suppress
from datetime import date, datetime, timedelta

import numpy as np
import pytest

from extreme_entropy.errors import InputError
from extreme_entropy.tables.decoding import PIECE
from extreme_entropy.tables.limits import ReadingLimits
from extreme_entropy.tables.reading import open_table

openpyxl = pytest.importorskip("openpyxl", reason="Excel files need the extra excel")


def rows_of(source):
    return [row for batch in source.batches() for row in batch.to_pylist()]


ROWS = [{"Stadt": "Köln", "n": "1"}, {"Stadt": "Zürich", "n": "2"}]
TEXT = "Stadt;n\nKöln;1\nZürich;2\n"


@pytest.mark.parametrize(
    ("codec", "title"),
    [
        ("latin-1", "Windows-1252 (Western European)"),
        ("cp1252", "Windows-1252 (Western European)"),
        ("utf-16", "UTF-16"),
        ("utf-16-le", "UTF-16-LE"),
        ("utf-16-be", "UTF-16-BE"),
        ("utf-32", "UTF-32"),
    ],
)
def test_another_encoding_is_guessed_and_named(codec, title, tmp_path):
    (tmp_path / "a.csv").write_bytes(TEXT.encode(codec))
    with pytest.warns(UserWarning, match="is not UTF-8") as caught:
        source = open_table(tmp_path / "a.csv")
    assert f"it is read as {title}." in str(caught[0].message)
    assert rows_of(source) == ROWS


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "ascii"])
def test_of_utf_8_nothing_is_said(codec, tmp_path):
    text = TEXT if codec != "ascii" else TEXT.replace("ö", "o").replace("ü", "u")
    (tmp_path / "a.csv").write_bytes(text.encode(codec))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(rows_of(open_table(tmp_path / "a.csv"))) == 2


def test_an_encoding_that_is_named_is_used(tmp_path):
    """Not a guess: cp437 has the same bytes for other letters."""
    (tmp_path / "a.csv").write_bytes(TEXT.encode("cp437"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rows_of(open_table(tmp_path / "a.csv", encoding="cp437")) == ROWS
    with pytest.raises(InputError, match="one that Python knows"):
        open_table(tmp_path / "a.csv", encoding="klingon")
    with pytest.raises(InputError, match="one that Python knows"):
        open_table(tmp_path / "a.csv", encoding="base64")
    (tmp_path / "b.csv").write_bytes(TEXT.encode("latin-1"))
    with pytest.raises(InputError, match="cannot be read as CSV"):
        rows_of(open_table(tmp_path / "b.csv", encoding="utf-8"))


def test_a_letter_far_down_the_file_counts(tmp_path):
    """Later than what is looked at first; a letter may also be cut in two there."""
    start = b"a,b\n" + b"x,1\n" * (PIECE // 4)
    (tmp_path / "a.csv").write_bytes(start + "é,2\n".encode("latin-1"))
    with pytest.warns(UserWarning, match="Windows-1252"):
        source = open_table(tmp_path / "a.csv")
    assert rows_of(source)[-1] == {"a": "é", "b": "2"}
    for shift in range(4):
        (tmp_path / "a.csv").write_bytes(start[: PIECE - 3 + shift] + "é€é,2\n".encode())
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            open_table(tmp_path / "a.csv")


@pytest.mark.parametrize(
    "content",
    [
        TEXT.encode() + b"\xff;3\n",  # good UTF-8 but for one byte
        b"a,b\n1,\xe9\n\x00\x01,2\n",
        b"a,b\n1,\x81\n",
        bytes(range(256)) * 4,
    ],
)
def test_what_is_damaged_or_no_text_is_refused(content, tmp_path):
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(InputError, match=r"must be text in UTF-8.*--encoding"):
        open_table(tmp_path / "a.csv")


def test_standard_input_is_a_table_that_is_read_twice(monkeypatch):
    """And its temporary file goes with it."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    source = open_table("-")
    assert source.name == "standard input"
    assert rows_of(source) == rows_of(source) == ROWS
    path = source._parts[0][0].path
    assert path.exists()
    del source
    assert not path.exists()


def book(path, *rows, more=()):
    made = openpyxl.Workbook()
    for row in rows:
        made.active.append(row)
    for name in more:
        made.create_sheet(name)
    made.save(path)
    return path


def test_an_excel_sheet_is_a_table(tmp_path):
    """Numbers, text, booleans, dates and gaps; empty rows and columns around them do not matter."""
    path = book(
        tmp_path / "a.xlsx",
        [],
        ["age", "share", "smokes", "born", "town", "a;b,c"],
        [42, 0.25, True, date(1990, 9, 30), " Köln ", "x\ny"],
        ["#DIV/0!", 3.0, False, datetime(2020, 2, 29, 13, 5), 'say "no"', timedelta(hours=1)],
        [None, None, None, None, None, None, None],
    )
    source = open_table(path)
    assert rows_of(source) == [
        dict(zip(source.schema.names, cells, strict=True))
        for cells in (
            ("42", "0.25", "true", "1990-09-30 00:00:00", "Köln", "x\ny"),
            (None, "3", "false", "2020-02-29 13:05:00", 'say "no"', "3600.0"),
        )
    ]
    assert source.schema.names == ["age", "share", "smokes", "born", "town", "a;b,c"]


def test_of_several_sheets_the_first_is_read_and_named(tmp_path):
    path = book(tmp_path / "a.xlsx", ["x"], [1], more=["other"])
    with pytest.warns(UserWarning, match="has 2 sheets; the first, 'Sheet', is read"):
        assert rows_of(open_table(path)) == [{"x": "1"}]


def test_excel_files_that_are_no_tables_are_refused(tmp_path):
    path = book(tmp_path / "a.xlsx", ["x", "y"], [1, 2, 3])
    with pytest.raises(InputError, match="row 2 has a cell beyond the last named column, 'y'"):
        open_table(path)
    with pytest.raises(InputError, match="Empty"):
        open_table(book(tmp_path / "b.xlsx"))
    content = path.read_bytes()
    for i in range(0, len(content), 199):  # cut short, or with a byte changed
        (tmp_path / "c.xlsx").write_bytes(content[:i])
        with pytest.raises(InputError):
            open_table(tmp_path / "c.xlsx")


def test_without_openpyxl_the_extra_is_named(tmp_path, monkeypatch):
    path = book(tmp_path / "a.xlsx", ["x"], [1])
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(InputError, match=r"extreme-entropy\[excel\]"):
        open_table(path)


def test_a_folder_of_excel_files_is_one_table(tmp_path):
    for i in range(3):
        book(tmp_path / f"{i}.xlsx", ["x"], [i])
    assert [row["x"] for row in rows_of(open_table(tmp_path))] == ["0", "1", "2"]


def test_numbers_from_excel_are_what_they_were(tmp_path, rng):
    values = [*rng.normal(size=50), 1e300, -5e-324, 2**53 - 1, 0.1]
    path = book(tmp_path / "a.xlsx", ["x"], *([float(v)] for v in values))
    read = np.array([float(row["x"]) for row in rows_of(open_table(path))])
    assert read == pytest.approx(values, rel=1e-14, abs=0)  # openpyxl writes 16 digits


def test_blank_rows_inside_an_excel_sheet_are_rows(tmp_path):
    """Predictions stay beside their rows; what follows the last row is no row."""
    blank = [None, None]
    path = book(tmp_path / "a.xlsx", ["x", "y"], [1, 2], blank, blank, [3, 4], blank)
    gap = {"x": None, "y": None}
    first, last = {"x": "1", "y": "2"}, {"x": "3", "y": "4"}
    assert rows_of(open_table(path)) == [first, gap, gap, last]
    one = book(tmp_path / "b.xlsx", ["x"], [1], [None], [2])
    assert rows_of(open_table(one)) == [{"x": "1"}, {"x": None}, {"x": "2"}]


def rezipped(path, change=lambda name, content: content, tamper=lambda content: content):
    """A workbook whose members, or bytes as a whole, are altered; a member that is None is gone."""
    with zipfile.ZipFile(path) as book:
        members = {name: change(name, book.read(name)) for name in book.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        for name, content in members.items():
            if content is not None:
                book.writestr(name, content)
    path.write_bytes(tamper(path.read_bytes()))
    return path


def in_directory(offset, value):
    """Set two bytes of each entry in the central directory of a zip file."""
    return lambda content: re.sub(
        rb"(?s)(PK\x01\x02.{%d}).." % (offset - 4), rb"\g<1>" + value, content
    )


def sheet(content):
    """What replaces the first sheet."""
    head = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
    return lambda name, old: (
        head + content + b"</worksheet>" if name.endswith("sheet1.xml") else old
    )


HOSTILE = {
    "encrypted flag": {"tamper": in_directory(8, b"\x01\x00")},
    "unknown compression": {"tamper": in_directory(10, b"\x63\x00")},
    "no sheet": {"change": lambda n, c: None if "worksheets/" in n else c},
    "no workbook": {"change": lambda n, c: None if n == "xl/workbook.xml" else c},
    "no styles": {"change": lambda n, c: b"" if n == "xl/styles.xml" else c},
    "no list of sheets": {"change": lambda n, c: re.sub(b"<sheets>.*</sheets>", b"", c)},
    "a sheet that is no XML": {"change": lambda n, c: b"<row" if "sheet1" in n else c},
    "a protected workbook": {"tamper": lambda c: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(5000)},
    "a row far away": {
        "change": sheet(b'<sheetData><row r="1"><c r="A1"><v>1</v></c></row>'
                        b'<row r="999999999999"><c><v>1</v></c></row></sheetData>')
    },
    "a shared string that is not there": {
        "change": sheet(b'<sheetData><row r="1"><c r="A1" t="s"><v>99</v></c></row></sheetData>')
    },
    "a number of many digits": {
        "change": sheet(b'<sheetData><row r="1"><c r="A1"><v>%s</v></c></row></sheetData>'
                        % (b"9" * 5000))
    },
    "a reference that is none": {
        "change": sheet(b'<sheetData><row r="x"><c r="??"><v>1</v></c></row></sheetData>')
    },
    "more cells than can be": {
        "change": sheet(b'<sheetData><row r="1">%s</row><row r="99999"><c r="A99999"><v>1</v></c>'
                        b"</row></sheetData>" % (b"<c><v>1</v></c>" * 5000))
    },
}  # fmt: skip


@pytest.mark.parametrize("what", HOSTILE)
def test_an_excel_file_that_cannot_be_read_is_one_sentence(what, tmp_path):
    """Damaged, protected, endless or empty: an InputError with the name of the file."""
    path = rezipped(book(tmp_path / "a.xlsx", ["x", "y"], [1, "a"]), **HOSTILE[what])
    with pytest.raises(InputError, match=r"a\.xlsx") as error:
        open_table(path)
    assert "\n" not in str(error.value)


def test_a_workbook_of_charts_has_no_rows(tmp_path):
    made = openpyxl.Workbook()
    made.create_chartsheet("only")
    made.remove(made.active)
    made.save(tmp_path / "a.xlsx")
    with pytest.raises(InputError, match="must have a sheet with rows; it has none"):
        open_table(tmp_path / "a.xlsx")


def test_a_chart_beside_the_table_does_not_matter(tmp_path):
    """It has a sheet of its own, and is not read."""
    made = openpyxl.Workbook()
    made.create_chartsheet("picture", 0)
    for row in (["x"], [1]):
        made.worksheets[0].append(row)
    made.save(tmp_path / "a.xlsx")
    assert rows_of(open_table(tmp_path / "a.xlsx")) == [{"x": "1"}]


def test_rows_beyond_the_stated_size_of_a_sheet_are_read(tmp_path):
    """Some programs state that of an empty sheet."""
    path = book(tmp_path / "a.xlsx", ["x", "y"], [1, 2], [3, 4])
    stated = lambda name, content: content.replace(b'ref="A1:B3"', b'ref="A1"')  # noqa: E731
    assert len(rows_of(open_table(rezipped(path, stated)))) == 2


def test_one_cell_at_the_far_end_of_a_sheet_is_no_table(tmp_path):
    """Of 17 billion cells, those that the file does not hold are never made."""
    made = openpyxl.Workbook()
    made.active["XFD1048576"] = "x"
    made.save(tmp_path / "a.xlsx")
    with pytest.raises(InputError, match="'' comes 16383 times"):
        open_table(tmp_path / "a.xlsx")


def test_a_member_larger_than_memory_is_refused_before_it_is_read(tmp_path):
    """By the size that the file states, beyond which zipfile reads nothing."""
    path = book(tmp_path / "a.xlsx", ["x"], [1])
    with pytest.raises(InputError, match=r"at most 500 bytes .* Save the sheet as CSV"):
        open_table(path, limits=ReadingLimits(sheet_bytes=500))


def test_an_excel_file_in_a_compression_without_bounds_is_refused(tmp_path):
    """The header of LZMA alone may ask for 4 GiB; Excel writes no such files."""
    path = book(tmp_path / "a.xlsx", ["x"], [1])
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(InputError, match=r"a\.xlsx' cannot be read .*compressed in another way"):
        open_table(path)


def test_every_way_to_damage_a_workbook_is_a_table_or_a_sentence(tmp_path, rng):
    """Random bytes of each member and of the file itself."""
    good = book(tmp_path / "good.xlsx", ["x", "y"], [1, "a"], [2.5, None]).read_bytes()
    path = tmp_path / "a.xlsx"
    for i in range(150):
        content = bytearray(good)
        for at in rng.integers(len(content), size=1 + i % 3):
            content[at] = rng.integers(256)
        path.write_bytes(content)
        with suppress(InputError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows_of(open_table(path))
