"""Labels are what the file says: one spelling in counts, costs, predictions and reports."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from extreme_entropy import EEMClassifier
from extreme_entropy.cli.root import root
from extreme_entropy.errors import InputError
from extreme_entropy.tables.fitting import FitRequest, fit_table
from extreme_entropy.tables.reading import open_table

QUICK = ("--model", "eem", "--size", "10", "--no-baseline")


def eem(*words, code=0):
    """Run a command in this process; what it printed, and never a traceback."""
    done = CliRunner().invoke(root, [str(word) for word in words], prog_name="eem")
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == code, done.output
    return done


def numbers(n=60):
    """Two columns, and whether a row is of the second class."""
    rng = np.random.default_rng(0)
    second = np.arange(n) % 3 == 0
    return rng.normal(size=n) + second, rng.normal(size=n), second


def text_table(path, first, second):
    """A CSV file whose target holds these two cells."""
    x, z, chosen = numbers()
    lines = [f"{a},{b},{second if c else first}\n" for a, b, c in zip(x, z, chosen, strict=True)]
    path.write_text("x,z,y\n" + "".join(lines))
    return path


def typed_table(path, first, second, kind=None):
    """A Parquet file whose target holds these two values."""
    x, z, chosen = numbers()
    y = pa.array([second if c else first for c in chosen], kind)
    pq.write_table(pa.table({"x": x, "z": z, "y": y}), path)
    return path


SPELLINGS = [
    ("None", "NA"),
    ("?", "nan"),
    ("01", "02"),
    ("1.0", "2.0"),
    ("1", "01"),
    ("1", "1.0"),
    ("+1", "-1"),
    ("0", "-0"),
    ("TRUE", "FALSE"),
    ("true", "false"),
    ("True", "TRUE"),
    ("yes", "1"),
    ("1", "2"),
    ("1e3", "1000"),
    (str(2**53), str(2**53 + 1)),
    (str(2**63 - 1), str(-(2**63))),
    (str(2**64 - 1), str(2**64 - 2)),
    (str(10**30), str(10**30 + 1)),
    ("ä", "ö"),
    ("1_000", "2"),
]


@pytest.mark.parametrize("labels", SPELLINGS)
def test_a_label_of_text_is_spelt_as_in_the_file_everywhere(labels, tmp_path):
    """Counts, costs, predictions, names of probabilities, evaluation and report."""
    table, model = text_table(tmp_path / "a.csv", *labels), tmp_path / "m.eem"
    words = ("--target", "y", *QUICK, "--cost", f"{labels[0]}=5", "--json")
    facts = json.loads(eem("fit", table, *words, "-o", model).stdout)
    assert facts["class_counts"] == {labels[0]: 40, labels[1]: 20}
    assert facts["costs"] == {labels[0]: 5}
    eem("predict", model, table, "--proba", "-o", tmp_path / "out.csv")
    header, *rows = (tmp_path / "out.csv").read_text().splitlines()
    assert {name[3:-2] for name in header.split(",")[1:]} == set(labels)
    assert {row.split(",")[0].strip('"') for row in rows} <= set(labels)
    shown = json.loads(eem("evaluate", model, table, "--json").stdout)
    assert set(shown["classes"]) == set(labels)
    assert np.sum(shown["confusion"]) == 60
    if labels in SPELLINGS[::5]:  # the slowest of the commands
        eem("report", model, table, "-o", tmp_path / "a.html")
        page = (tmp_path / "a.html").read_text()
        assert all(label in page for label in labels)


@pytest.mark.parametrize(
    ("labels", "kind", "names"),
    [
        ((1, 2**64 - 1), pa.uint64(), {"1", str(2**64 - 1)}),
        ((2**53, 2**53 + 1), pa.int64(), {str(2**53), str(2**53 + 1)}),
        ((1.0, 2.0), pa.float64(), {"1", "2"}),
        ((1.0, 2.0), pa.float16(), {"1", "2"}),
        ((False, True), pa.bool_(), {"false", "true"}),
        (("NA", "None"), pa.string(), {"NA", "None"}),
        (("", "nan"), pa.large_string(), {"", "nan"}),
        ((b"a", b"b"), pa.binary(), {"a", "b"}),
        ((0, 1), pa.date32(), {"1970-01-01", "1970-01-02"}),
    ],
)
def test_a_typed_label_has_one_spelling_too(labels, kind, names, tmp_path):
    """Whole numbers of any type are spelt without a point."""
    table, model = typed_table(tmp_path / "a.parquet", *labels, kind), tmp_path / "m.eem"
    facts = json.loads(eem("fit", table, "--target", "y", *QUICK, "--json", "-o", model).stdout)
    assert set(facts["class_counts"]) == names
    eem("predict", model, table, "--proba", "-o", tmp_path / "out.csv")
    header, *rows = (tmp_path / "out.csv").read_text().splitlines()
    assert {name[3:-2] for name in header.split(",")[1:]} == names
    assert {row.split(",")[0].strip('"') for row in rows} <= names
    assert set(json.loads(eem("evaluate", model, table, "--json").stdout)["classes"]) == names


@pytest.mark.parametrize("word", ["TRUE", "True", "true"])
def test_the_cost_of_a_boolean_may_be_given_in_any_case(word, tmp_path):
    table = typed_table(tmp_path / "a.parquet", False, True)
    words = ("--target", "y", *QUICK, "--cost", f"{word}=5", "--json")
    facts = json.loads(eem("fit", table, *words, "-o", tmp_path / "m.eem").stdout)
    assert facts["costs"] == {"true": 5}
    shown = eem("evaluate", tmp_path / "m.eem", text_table(tmp_path / "a.csv", "False", "True"))
    assert "Rows: 60" in shown.stdout  # as pandas writes booleans


def test_only_an_empty_cell_of_the_target_is_missing_and_words_of_gaps_are_pointed_out(tmp_path):
    """NA is a class in the target and a gap elsewhere."""
    path = tmp_path / "a.csv"
    cells = ["NA,1,a", "2,1,", "3,2,NA", "4,2,a", "5,1,NA", "6,2,  "]
    path.write_text("x,z,y\n" + "\n".join(cells * 5) + "\n")
    with pytest.warns(UserWarning, match="'NA' .* is a label"):
        model = fit_table(open_table(path), FitRequest("y", model="eem", size=5))
    assert model.facts.class_counts == {"NA": 10, "a": 10}
    assert model.facts.rows_without_label == 10
    assert model.facts.missing == {"x": 5}


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (([1], [2]), pa.list_(pa.int64())),
        (({"a": 1}, {"a": 2}), pa.struct({"a": pa.int64()})),
        (([("a", 1)], [("b", 2)]), pa.map_(pa.string(), pa.int64())),
        ((1.5, 2.0), pa.float64()),
        ((1e300, 2.0), pa.float64()),
        ((b"\xff", b"a"), pa.binary()),
        (("a", "a\0"), pa.string()),
    ],
)
def test_values_that_are_no_labels_are_refused_in_one_line(labels, kind, tmp_path):
    table = typed_table(tmp_path / "a.parquet", *labels, kind)
    shown = eem("fit", table, "--target", "y", *QUICK, "-o", tmp_path / "m.eem", code=1).stderr
    assert "'y' must" in shown
    assert shown.count("\n") == 1
    good = typed_table(tmp_path / "b.parquet", "a", "b")
    eem("fit", good, "--target", "y", *QUICK, "-o", tmp_path / "m.eem")
    assert "'y' must" in eem("evaluate", tmp_path / "m.eem", table, code=1).stderr


def test_whole_numbers_of_two_types_are_the_same_labels(rng):
    """As floats, 2⁵³ and the number after it would be one."""
    X = rng.normal(size=(60, 2))
    large = np.array([2**53, 2**53 + 1], dtype=np.uint64)[np.arange(60) % 3 // 2]
    classifier = EEMClassifier(10, random_state=0).fit(X, large)
    classifier.partial_fit(X, large.astype(np.int64))
    assert classifier.summary_.counts.sum(axis=1).tolist() == [80, 40]
    with pytest.raises(InputError, match="Labels must be among the classes"):
        classifier.partial_fit(X, -large.astype(np.int64))
