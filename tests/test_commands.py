"""The commands of `eem` on tables: each kind of file, each bad input, and interruptions."""

import builtins
import codecs
import gzip
import io
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time
from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from sklearn.metrics import brier_score_loss, log_loss

from extreme_entropy.cli.fit_summary import print_fit
from extreme_entropy.cli.predict import rounded
from extreme_entropy.cli.root import root
from extreme_entropy.progress import with_progress
from extreme_entropy.tables.estimate import EstimateSettings
from extreme_entropy.tables.fitting import FitRequest, fit_table
from extreme_entropy.tables.model import TableModel
from extreme_entropy.tables.reading import open_table
from extreme_entropy.tables.writing import write_table

EEM = [sys.executable, "-m", "extreme_entropy"]
QUICK = ("--model", "eem", "--size", "20", "--no-baseline")
KINDS = ("csv", "tsv", "csv.gz", "tsv.gz", "parquet", "feather", "arrow")


def eem(*words, code=0):
    """Run a command in this process; what it printed, and never a traceback."""
    done = CliRunner().invoke(root, [str(word) for word in words], prog_name="eem")
    shown = done.stdout + done.stderr
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == code, shown
    return done


def process(*words, code=0, **options):
    """Run a command as a process."""
    command = [*EEM, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


def people(n=300, seed=0):
    """A table with numbers, gaps, text and a rare class."""
    rng = np.random.default_rng(seed)
    ill = rng.random(n) < 0.2
    age = np.where(rng.random(n) < 0.1, np.nan, rng.normal(40, 9, n) + 20 * ill)
    city = np.where(rng.random(n) < 0.5 + 0.4 * ill, "Bonn", "Rome")
    return pa.table(
        {
            "name": [f"person {i}" for i in range(n)],
            "age": pa.array(age, from_pandas=True),
            "weight": rng.normal(70, 10, n),
            "city": city,
            "ill": np.where(ill, "yes", "no"),
        }
    )


def write(table, path):
    write_table(path, table.to_batches(), table.schema)
    return path


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with a table, new rows, and a model of the table."""
    folder = tmp_path_factory.mktemp("home")
    write(people(), folder / "train.parquet")
    write(people(seed=1), folder / "new.parquet")
    eem("fit", folder / "train.parquet", "--target", "ill", *QUICK, "-o", folder / "m.eem")
    return folder


# ------------------------------------------------------------------------------- what works


def test_the_whole_story(home, tmp_path):
    """Fit, evaluate, predict, merge and forget, as somebody at a terminal would."""
    model, out = tmp_path / "people.eem", tmp_path / "out.csv"
    table = write(people(), tmp_path / "people.csv")
    done = process("fit", table, "--target", "ill", *QUICK, "--cost", "yes=2", "-o", model)
    assert done.stderr == ""  # no bars where there is no terminal
    shown = done.stdout
    for expected in (
        "Rows: 300 with a label in ill",
        'Classes: "no": 242 rows (81 %), "yes": 58 rows (19 %)',
        "Columns: 3 used, as 5 numbers: age, weight, city",
        "Not used: name: text with 300 different values in 300 rows",
        "Missing: age 22 (filled by the median and marked)",
        'Costs: a missed "yes" costs as much as 2 false alarms.',
        "Held out: each fold in turn, 5-fold cross-validation of 300 rows",
        "The model pays. Its mistakes cost ",
        "95 % interval",
        "GMean 0.",
        "The interval is for other rows like these",
        f"Written: {model}",
        f"Next: eem evaluate {model} NEW_ROWS",
    ):
        assert expected in shown, shown
    shown = eem("evaluate", model, home / "new.parquet").stdout
    for expected in (
        "Rows: 300",
        "The model pays.",
        "predicted",
        "GMean",
        "Balanced accuracy",
        "AUC",
        "Brier",
    ):
        assert expected in shown
    shown = process("predict", model, home / "new.parquet", "-o", out).stdout
    assert "Rows: 300" in shown
    assert len(out.read_text().splitlines()) == 301
    part, both, back = (tmp_path / name for name in ("part.eem", "both.eem", "back.eem"))
    eem("fit", home / "new.parquet", "--like", model, "-o", part)
    assert "Rows: 600 from 2 models" in eem("merge", model, part, "-o", both).stdout
    shown = eem("forget", both, home / "new.parquet", "-o", back).stdout
    assert "Forgotten: 300 rows; 300 are left" in shown


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_file_gives_the_same_model_and_predictions(kind, home, tmp_path):
    """Read and written in the kind that the name says, with a column without values."""
    rows = people()
    rows = rows.append_column("gone", pa.array([None] * len(rows), pa.float64()))
    table = write(rows, tmp_path / f"train.{kind}")
    model, out = tmp_path / "m.eem", tmp_path / f"out.{kind}"
    shown = eem("fit", table, "--target", "ill", *QUICK, "-o", model).stdout
    assert "Not used: gone: " in shown
    eem("predict", model, table, "--proba", "-o", out)
    assert sorted(tmp_path.iterdir()) == sorted([table, model, out])
    answers = pa.Table.from_batches(open_table(out).batches())
    assert answers.column_names == ["prediction", "p(no)", "p(yes)"]
    reference = TableModel.load(home / "m.eem")
    X = reference.read(people())
    assert answers["prediction"].to_pylist() == reference.classifier.predict(X).tolist()
    ours = np.array([answers["p(no)"].cast("double"), answers["p(yes)"].cast("double")]).T
    expected = reference.classifier.predict_proba(X)
    text = kind.startswith(("csv", "tsv"))
    assert np.allclose(ours, rounded(expected) if text else expected, rtol=1e-12, atol=1e-12)


def test_folders_of_parts_are_tables(home, tmp_path):
    parts = tmp_path / "parts"
    parts.mkdir()
    for i in range(3):
        write(people().slice(100 * i, 100), parts / f"{i}.csv.gz")
    eem("fit", parts, "--target", "ill", *QUICK, "-o", tmp_path / "m.eem")
    first, second = (TableModel.load(folder / "m.eem") for folder in (home, tmp_path))
    X = first.read(people())
    ours, theirs = (model.classifier.predict_proba(X) for model in (first, second))
    assert np.allclose(ours, theirs, atol=1e-9)


def test_predictions_keep_the_order_of_rows(home, tmp_path):
    """Over many batches: row by row what the classifier says."""
    table = pa.concat_tables([people(seed=seed) for seed in range(200)])
    write(table, tmp_path / "long.csv")
    eem("predict", home / "m.eem", tmp_path / "long.csv", "--proba", "-o", tmp_path / "out.parquet")
    model = TableModel.load(home / "m.eem")
    ours = pq.read_table(tmp_path / "out.parquet")["p(yes)"].to_numpy()
    theirs = model.classifier.predict_proba(model.read(table))[:, 1]
    assert np.allclose(ours, theirs, atol=1e-9)


def test_predictions_go_to_standard_output_as_csv(home):
    words = ("predict", home / "m.eem", home / "new.parquet")
    written = process(*words).stdout
    lines = written.splitlines()
    assert lines[0] == '"prediction"'
    assert len(lines) == 301
    assert set(lines[1:]) == {'"no"', '"yes"'}
    assert eem(*words, "-o", "-").stdout == written


def test_unseen_categories_gaps_and_further_columns_are_no_trouble(home, tmp_path):
    strange = pa.table({"city": ["Atlantis", None], "more": [1, 2], "weight": ["70", "?"]})
    strange = strange.append_column("age", pa.array([None, 50]))
    write(strange, tmp_path / "a.csv")
    eem("predict", home / "m.eem", tmp_path / "a.csv", "--proba", "-o", tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet").num_rows == 2


def test_no_rows_to_predict_are_no_predictions(home, tmp_path):
    (tmp_path / "a.csv").write_text("age,weight,city\n")
    eem("predict", home / "m.eem", tmp_path / "a.csv", "-o", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == '"prediction"\n'


def test_machines_read_json(home, tmp_path):
    """One object on stdout and nothing else, from every command that can print one."""
    table, model = home / "train.parquet", tmp_path / "m.eem"
    fit = ("fit", table, "--target", "ill", *QUICK, "--seed", "3", "--json", "-o", model)
    facts = json.loads(eem(*fit).stdout)
    assert facts["rows"] == 300
    assert facts["class_counts"] == {"no": 242, "yes": 58}
    assert facts["columns"] == ["age", "weight", "city"]
    assert facts["features"][-1] == "city = Rome"
    assert facts["dropped"] == {"name": "text with 300 different values in 300 rows"}
    assert facts["seed"] == 3
    assert facts["command"].startswith("eem fit ")
    assert facts["command"].endswith(f"--json -o {model}")
    assert 0 < facts["estimate"]["low"] < facts["estimate"]["gmean"] < 1
    judged = json.loads(eem("evaluate", model, home / "new.parquet", "--json").stdout)
    assert np.sum(judged["confusion"]) == judged["rows"] == 300
    assert judged["auc"]["low"] < judged["auc"]["value"] < judged["auc"]["high"]
    out = tmp_path / "out.csv"
    told = json.loads(eem("predict", model, home / "new.parquet", "-o", out, "--json").stdout)
    assert sum(told["predicted"].values()) == told["rows"] == 300
    eem("fit", home / "new.parquet", "--like", model, "-o", tmp_path / "part.eem")
    merge = ("merge", model, tmp_path / "part.eem", "-o", tmp_path / "both.eem", "--json")
    assert json.loads(eem(*merge).stdout)["rows"] == 600
    forget = ("forget", tmp_path / "both.eem", table, "-o", tmp_path / "rest.eem", "--json")
    told = json.loads(eem(*forget).stdout)
    assert (told["forgotten"], told["rows"]) == (300, 300)


def test_evaluation_agrees_with_predictions(home, tmp_path):
    """The matrix is counted from what `eem predict` writes."""
    judged = json.loads(eem("evaluate", home / "m.eem", home / "new.parquet", "--json").stdout)
    eem("predict", home / "m.eem", home / "new.parquet", "-o", tmp_path / "out.feather")
    predicted = [
        row["prediction"]
        for b in open_table(tmp_path / "out.feather").batches()
        for row in b.to_pylist()
    ]
    truth = people(seed=1)["ill"].to_pylist()
    for i, true in enumerate(judged["classes"]):
        for j, other in enumerate(judged["classes"]):
            pairs = zip(truth, predicted, strict=True)
            assert judged["confusion"][i][j] == sum(pair == (true, other) for pair in pairs)


def test_parts_merged_are_one_fit_and_forgetting_undoes_it(home, tmp_path):
    """Predictions to 1e-6: merge equals one fit on both, forget takes it back."""
    first, rest, both, back = (tmp_path / f"{name}.eem" for name in "abcd")
    table, new = home / "train.parquet", home / "new.parquet"
    parts = tmp_path / "parts"
    parts.mkdir()
    write(people(), parts / "0.parquet")
    write(people(seed=1), parts / "1.parquet")
    eem("fit", table, "--target", "ill", *QUICK, "-o", first)
    eem("fit", new, "--like", first, "-o", rest)
    eem("merge", first, rest, "-o", both)
    eem("fit", parts, "--like", first, "--target", "ill", "-o", tmp_path / "whole.eem")
    eem("forget", both, new, "-o", back)
    models = {name: TableModel.load(tmp_path / f"{name}.eem") for name in ("a", "c", "whole", "d")}
    X = models["a"].read(people(seed=2))
    p = {name: model.classifier.predict_proba(X) for name, model in models.items()}
    assert np.allclose(p["c"], p["whole"], atol=1e-6)
    assert np.allclose(p["d"], p["a"], atol=1e-6)
    assert not np.allclose(p["c"], p["a"], atol=1e-3)


def test_costs_move_the_decision_and_not_the_probabilities(home, tmp_path):
    model = tmp_path / "m.eem"
    table = home / "train.parquet"
    words = (*QUICK, "--cost", "yes=20", "--cost", "no=1", "-o", model)
    eem("fit", table, "--target", "ill", *words)
    dear, plain = TableModel.load(model).classifier, TableModel.load(home / "m.eem").classifier
    X = TableModel.load(model).read(people(seed=1))
    assert np.array_equal(dear.predict_proba(X), plain.predict_proba(X))
    assert (dear.predict(X) == "yes").sum() > (plain.predict(X) == "yes").sum()


def test_columns_of_the_input_are_copied_to_the_output(home, tmp_path):
    """Those named, or all, before the predictions; used by the model or not."""
    new, out = home / "new.parquet", tmp_path / "out.parquet"
    eem("predict", home / "m.eem", new, "--keep", "name", "--keep", "age", "-o", out)
    answers = pq.read_table(out)
    assert answers.column_names == ["name", "age", "prediction"]
    assert answers.select(["name", "age"]).equals(people(seed=1).select(["name", "age"]))
    eem("predict", home / "m.eem", new, "--keep-all", "--proba", "-o", out)
    answers = pq.read_table(out)
    assert answers.column_names == [*people().column_names, "prediction", "p(no)", "p(yes)"]
    shown = eem("predict", home / "m.eem", out, "--keep-all", code=1).stderr
    assert "has a column 'prediction' too" in shown
    shown = eem("predict", home / "m.eem", new, "--keep", "nam", code=1).stderr
    assert "Did you mean 'name'?" in shown


FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\tx", "\rx", "＝1+1"]
HARMLESS = ["-5", "+3.5e-7", "-1,234.5", "-2,5", "a=b", "'x", "2024-01-02"]


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_cells_that_a_spreadsheet_would_run_are_escaped_on_demand(ending, home, tmp_path):
    """Text, labels and names get an apostrophe; numbers, also those in text, stay numbers."""
    n = 120
    rng = np.random.default_rng(0)
    label = np.arange(n) % 2
    cells = [(FORMULAS + HARMLESS)[i % 14] for i in range(n)]
    table = pa.table(
        {
            "=name": cells,
            "x": -1.0 - label - rng.random(n),
            "y": np.where(label, "=yes", "-no"),
        }
    )
    path, model, out = tmp_path / "a.parquet", tmp_path / "m.eem", tmp_path / f"out.{ending}"
    eem("fit", write(table, path), "--target", "y", *QUICK, "-o", model)
    words = ("predict", model, path, "--keep", "=name", "--keep", "x", "-o", out)
    read = pa_csv.ParseOptions(delimiter="\t" if ending == "tsv" else ",", newlines_in_values=True)
    eem(*words)
    raw = pa_csv.read_csv(out, parse_options=read)
    assert raw["=name"].to_pylist() == cells
    eem(*words, "--escape-formulas")
    answer = pa_csv.read_csv(out, parse_options=read)
    assert answer.column_names == ["'=name", "x", "prediction"]
    assert answer["x"].equals(raw["x"])
    assert set(answer["prediction"].to_pylist()) == {"'=yes", "'-no"}
    expected = ["'" + cell if cell in FORMULAS else cell for cell in cells]
    assert answer["'=name"].to_pylist() == expected
    assert '"\'-no"' in eem("predict", model, path, "--escape-formulas").stdout


def test_formulas_are_escaped_in_text_files_only(home, tmp_path):
    """Other files have types, by which a program knows text from formulas."""
    words = ("predict", home / "m.eem", home / "new.parquet", "--escape-formulas")
    done = eem(*words, "-o", tmp_path / "out.parquet", code=2)
    assert "--escape-formulas is for CSV and TSV" in done.stderr


def test_predictions_have_the_separator_decimal_sign_and_mark_of_their_table(tmp_path):
    """A German table from Excel; the same in another encoding has a mark, plain UTF-8 none."""
    rng = np.random.default_rng(0)
    x = [f"{v:.2f}".replace(".", ",") for v in rng.normal(size=80)]
    lines = [f"{v};{'ja' if float(v.replace(',', '.')) > 0 else 'nein'};größer" for v in x]
    text = "\n".join(["wert;krank;wort", *lines]) + "\n"
    for encoding, mark in (("utf-8-sig", True), ("utf-8", False), ("cp1252", True)):
        table, out = tmp_path / f"{encoding}.csv", tmp_path / "out.csv"
        table.write_bytes(text.encode(encoding))
        model = tmp_path / "m.eem"
        eem("fit", table, "--target", "krank", "--drop", "wort", *QUICK, "-o", model)
        eem("predict", model, table, "--proba", "--keep", "wort", "-o", out)
        written = out.read_bytes()
        assert written.startswith(codecs.BOM_UTF8) == mark
        head, row = written.decode("utf-8-sig").splitlines()[:2]
        assert head == '"wort";"prediction";"p(ja)";"p(nein)"'
        assert re.fullmatch(r'"größer";"\w+";"0,\d+";"0,\d+"', row)
        assert pa_csv.read_csv(
            out, parse_options=pa_csv.ParseOptions(delimiter=";")
        ).num_rows == len(x)


def test_predictions_are_written_to_excel(home, tmp_path):
    """Numbers as numbers, labels and formulas as text; eem reads them again."""
    openpyxl = pytest.importorskip("openpyxl")
    rows = people(seed=1).slice(0, 20)
    notes = ["=1+1", "007", "12.5", "a\x01b", *["x"] * 16]
    table = write(rows.append_column("note", pa.array(notes)), tmp_path / "a.parquet")
    out = tmp_path / "out.xlsx"
    eem("predict", home / "m.eem", table, "--proba", "--keep", "note", "-o", out)
    sheet = list(openpyxl.load_workbook(out).active.iter_rows())
    assert [cell.value for cell in sheet[0]] == ["note", "prediction", "p(no)", "p(yes)"]
    assert [row[0].value for row in sheet[1:5]] == ["=1+1", "007", 12.5, "ab"]
    assert sheet[1][0].data_type == "s"
    assert {cell.data_type for row in sheet[1:] for cell in row[2:]} == {"n"}
    assert sum(batch.num_rows for batch in open_table(out).batches()) == 20


@pytest.mark.parametrize(
    ("p", "expected"),
    [(0.123456789, 0.1235), (0.00012345678, 0.0001235), (0.9998765432, 0.9998765), (1.0, 1.0)],
)
def test_probabilities_have_the_digits_that_matter(p, expected):
    """As many for p as for 1 − p, so that they sum to one."""
    both = rounded(np.array([p, 1 - p]))
    assert both[0] == pytest.approx(expected, abs=1e-15)
    assert both.sum() == pytest.approx(1, abs=1e-12)


def test_a_slim_model_is_small_and_answers_the_same(home, tmp_path):
    slim, out = tmp_path / "slim.eem", [tmp_path / name for name in ("a.csv", "b.csv")]
    shown = eem("fit", home / "train.parquet", "--target", "ill", *QUICK, "--slim", "-o", slim)
    assert f"Written: {slim} (0.0 MB)" in shown.stdout
    assert slim.stat().st_size < (home / "m.eem").stat().st_size
    for model, path in zip((slim, home / "m.eem"), out, strict=True):
        eem("predict", model, home / "new.parquet", "--proba", "-o", path)
    assert out[0].read_bytes() == out[1].read_bytes()
    eem("merge", slim, home / "m.eem", "-o", tmp_path / "no.eem", code=1)


def test_a_large_model_file_comes_with_a_hint(home, tmp_path, monkeypatch):
    monkeypatch.setattr("extreme_entropy.cli.fit_summary.LARGE", 0.001)
    fit = ("fit", home / "train.parquet", "--target", "ill", *QUICK)
    assert "--slim saves it" in eem(*fit, "-o", tmp_path / "a.eem").stdout
    assert "--slim saves it" not in eem(*fit, "--slim", "-o", tmp_path / "a.eem").stdout


def test_a_wide_confusion_matrix_becomes_a_list_of_mistakes(tmp_path, rng):
    """So does a long list of classes; each class has a line of its own."""
    k = 25
    y = np.repeat(np.arange(k), 12)
    table = pa.table({"x": y + rng.normal(size=len(y)), "y": [f"class {c}" for c in y]})
    path, model = write(table, tmp_path / "a.parquet"), tmp_path / "m.eem"
    eem("fit", path, "--target", "y", *QUICK, "-o", model)
    shown = eem("evaluate", model, path).stdout
    assert "and 13 more" in shown
    assert "Most frequent mistakes (--json has the whole confusion matrix):" in shown
    assert '" taken for "class ' in shown
    assert max(map(len, shown.splitlines()[4:])) <= 110
    assert len(re.findall(r'^"class \d+" +12 ', shown, re.M)) == k


def test_a_bar_counts_the_rows_that_are_done_and_not_those_read(home, monkeypatch):
    """Reading ahead does not move it, and only the end is 100 %."""
    screen = io.StringIO()
    screen.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", screen)
    model = TableModel.load(home / "m.eem")
    monkeypatch.setattr(TableModel, "_rows_at_once", lambda self, source: 100)
    seen = []
    for _ in model.batches(open_table(home / "new.parquet"), progress="predicting"):
        time.sleep(0.12)  # tqdm draws ten times a second at most
        seen.append(screen.getvalue())
    assert "100/300" not in seen[0]
    assert "100/300" in seen[1]
    assert "100%" not in seen[-1]
    assert "300/300" in screen.getvalue()


def test_the_notes_of_the_terminal_and_changed_columns_are_in_the_report(home, tmp_path):
    """Rows from elsewhere: a category that nobody knows, a shifted number, and missing values."""
    rows = people(seed=1)
    age = pa.compute.add(rows["age"], 30)
    cities = pa.array(["Oslo"] * 200 + rows["city"].to_pylist()[200:])
    rows = rows.drop(["age", "city"]).append_column("age", age).append_column("city", cities)
    page = tmp_path / "page.html"
    done = eem("report", home / "m.eem", write(rows, tmp_path / "b.parquet"), "-o", page)
    assert "Column 'city' has 200 cells with a category" in done.stderr
    text = page.read_text()
    assert "has 200 cells with a category" in text
    changes = re.search(r'<table id="changes">.*?</table>', text, re.S)[0]
    names = re.findall(r'title="(\w+)"', changes)
    assert set(names[:2]) == {"age", "city"}
    assert changes.count("<strong>strong</strong>") == 2
    assert changes.count("<td>little</td>") == 1
    today = f"{datetime.now().day} {datetime.now():%B %Y}"
    assert f'<time id="made">{today}</time>' in text
    assert "Classifier" not in re.sub(r"<script.*?</script>", "", text, flags=re.S)


def test_the_estimate_of_the_fit_is_kept_apart_from_scores_of_new_rows(home, tmp_path):
    """In a section of its own, which says if the report has other costs."""
    page = tmp_path / "page.html"
    for words, other in (((), False), (("--cost", "yes=40"), True)):
        eem("report", home / "m.eem", home / "new.parquet", "-o", page, *words)
        text = page.read_text()
        section = text[text.index("Held out during the fit") : text.index('id="costs"')]
        assert ("at the costs of the fit, which are not those of this report" in section) == other
        assert "Do not compare them with the\nnumbers above, which are of other rows." in section


def test_priors_change_without_refitting(home, tmp_path):
    """`--priors empirical` is `with_costs(priors="empirical")`, and the same from the fit on."""
    new, out, model = home / "new.parquet", tmp_path / "out.parquet", tmp_path / "m.eem"
    eem("predict", home / "m.eem", new, "--proba", "--priors", "empirical", "-o", out)
    reference = TableModel.load(home / "m.eem")
    X = reference.read(people(seed=1))
    expected = reference.classifier.with_costs(priors="empirical").predict_proba(X)[:, 1]
    assert np.allclose(pq.read_table(out)["p(yes)"], expected, atol=1e-12)
    words = ("--target", "ill", *QUICK, "--cost", "yes=3", "--priors", "empirical", "-o", model)
    shown = eem("fit", home / "train.parquet", *words).stdout
    assert "Priors: classes as frequent as in the table" in shown
    fitted = TableModel.load(model).classifier
    assert np.allclose(fitted.predict_proba(X)[:, 1], expected, atol=1e-12)
    eem("predict", model, new, "--priors", "balanced", "-o", out)  # with the costs of the model
    labels = fitted.with_costs({"yes": 3}, priors="balanced").predict(X)
    assert pq.read_table(out)["prediction"].to_pylist() == labels.tolist()
    eem("fit", new, "--like", model, "-o", tmp_path / "part.eem")
    assert TableModel.load(tmp_path / "part.eem").classifier.priors == "empirical"


def test_without_costs_all_labels_count_alike_and_with_priors_the_likeliest_wins(home, tmp_path):
    """In `fit` and on use; nothing is printed that nobody asked for."""
    model, out, new = tmp_path / "m.eem", tmp_path / "out.parquet", home / "new.parquet"
    words = ("fit", home / "train.parquet", "--target", "ill", *QUICK, "-o", model)
    told = json.loads(eem(*words, "--json").stdout)
    assert (told["priors"], told["costs"]) == ("empirical", "balanced")
    fitted = TableModel.load(model)
    assert (fitted.classifier.priors, fitted.classifier.costs) == ("empirical", "balanced")
    X = fitted.read(people(seed=1))
    p = fitted.classifier.predict_proba(X)
    yes = {
        (): p[:, 1] > 58 / 300,
        ("--priors", "balanced"): p[:, 1] > 58 / 300,
        ("--priors", "empirical"): p[:, 1] > 0.5,
        ("--cost", "yes=3"): 3 * p[:, 1] > p[:, 0],
    }
    for asked, expected in yes.items():
        eem("predict", model, new, *asked, "-o", out)
        assert (np.array(pq.read_table(out)["prediction"]) == "yes").tolist() == expected.tolist()
        assert eem(*words[:-1], tmp_path / "asked.eem", *asked).stderr == ""
        again = TableModel.load(tmp_path / "asked.eem").classifier
        assert (again.predict(X) == "yes").tolist() == expected.tolist()
    shown = eem("evaluate", model, new).stdout
    assert (
        'a missed "yes" costs as much as 4.172 false alarms. --cost changes that' in shown
    )  # 242/58
    assert "classes as frequent as in training *" in shown
    for asked, priors in ((), ""), (("--priors", "balanced"), "Priors: classes equally frequent"):
        shown = eem(*words, *asked).stdout
        assert ("Priors:" in shown) == bool(priors)
        assert priors in shown


@pytest.mark.parametrize(
    ("words", "costs", "priors"),
    [
        (("--cost", "yes=9"), {"yes": 9}, "empirical"),
        (("--cost", "yes=9", "--priors", "balanced"), {"yes": 9}, "balanced"),
        (("--prior", "yes=0.02"), {"yes": 3}, {"yes": 0.02, "no": 0.98}),
        (("--prior", "yes=0.3", "--prior", "no=0.7"), {"yes": 3}, {"yes": 0.3, "no": 0.7}),
        (("--cost", "no=2", "--cost", "yes=4", "--priors", "empirical"), None, "empirical"),
    ],
)
def test_costs_and_priors_change_on_use(words, costs, priors, home, tmp_path):
    """In `predict`, `evaluate` and `report` as `with_costs` has it; those of the model stay."""
    model, out, new = tmp_path / "m.eem", tmp_path / "out.parquet", home / "new.parquet"
    fit = ("fit", home / "train.parquet", "--target", "ill", *QUICK, "--cost", "yes=3")
    eem(*fit, "-o", model)
    fitted = TableModel.load(model)
    expected = fitted.classifier.with_costs(costs or {"no": 2, "yes": 4}, priors=priors)
    X, y = fitted.read(people(seed=1)), np.array(people(seed=1)["ill"])
    eem("predict", model, new, "--proba", *words, "-o", out)
    answers = pq.read_table(out)
    assert answers["prediction"].to_pylist() == expected.predict(X).tolist()
    assert np.allclose(answers["p(yes)"], expected.predict_proba(X)[:, 1], atol=1e-12)
    found = json.loads(eem("evaluate", model, new, *words, "--json").stdout)
    assert found["confusion"][1][1] == ((expected.predict(X) == "yes") & (y == "yes")).sum()
    assert found["costs"] == {"no": 1} | (costs or {"no": 2, "yes": 4})
    page = tmp_path / "page.html"
    eem("report", model, new, *words, "-o", page)
    assert page.read_text().startswith("<!DOCTYPE html>")


def test_given_priors_are_those_of_the_model_from_the_fit_on(home, tmp_path):
    model = tmp_path / "m.eem"
    words = ("--target", "ill", *QUICK, "--prior", "yes=0.02", "-o", model)
    assert "Priors: no 0.98, yes 0.02" in eem("fit", home / "train.parquet", *words).stdout
    told = json.loads(eem("fit", home / "train.parquet", *words, "--json").stdout)
    assert told["priors"] == {"no": 0.98, "yes": 0.02}
    assert TableModel.load(model).classifier.priors == {"no": 0.98, "yes": 0.02}
    shown = eem("evaluate", model, home / "new.parquet").stdout
    assert "classes as frequent as given *" in shown


def test_labels_without_a_prior_share_the_rest(tmp_path):
    """As they are in training, whatever the type of the labels."""
    rng = np.random.default_rng(0)
    y = rng.choice([1, 2, 3], 400, p=[0.6, 0.3, 0.1])
    table = pa.table({"x": rng.normal(size=400) + y, "y": y})
    model = tmp_path / "m.eem"
    words = ("--target", "y", *QUICK, "--prior", "3=0.5", "-o", model)
    eem("fit", write(table, tmp_path / "a.csv"), *words)
    priors, n = TableModel.load(model).classifier.priors, np.bincount(y)
    assert priors[3] == pytest.approx(0.5)
    assert priors[1] / priors[2] == pytest.approx(n[1] / n[2])
    assert sum(priors.values()) == pytest.approx(1)


def test_evaluation_shows_costs_and_both_priors(home, tmp_path):
    """Each number by another route: the classifier's answers and scikit-learn."""
    model = tmp_path / "m.eem"
    words = ("--target", "ill", *QUICK, "--cost", "yes=20", "--priors", "balanced", "-o", model)
    eem("fit", home / "train.parquet", *words)
    found = json.loads(eem("evaluate", model, home / "new.parquet", "--json").stdout)
    fitted, rows = TableModel.load(model), people(seed=1)
    classifier, X, y = fitted.classifier, fitted.read(rows), np.array(rows["ill"])
    costs = np.where(y == "yes", 20, 1)
    assert found["costs"] == {"no": 1, "yes": 20}
    assert found["mean_cost"] == pytest.approx(costs @ (classifier.predict(X) != y) / 300)
    assert found["constant_mean_cost"] == pytest.approx((y == "no").mean())  # all predicted "yes"
    assert found["priors"] == "balanced"
    for priors in ("balanced", "empirical"):
        p = classifier.with_costs(priors=priors).predict_proba(X)
        told = {name: score["value"] for name, score in found["probabilities"][priors].items()}
        assert told["brier"] == pytest.approx(brier_score_loss(y == "yes", p[:, 1]))
        assert told["log_loss"] == pytest.approx(log_loss(y, p))
    share = 58 / 300
    constant = found["probabilities"]["constant"]["brier"]["value"]
    assert constant == pytest.approx(((y == "yes") * (1 - 2 * share) + share**2).mean())
    shown = eem("evaluate", model, home / "new.parquet").stdout
    assert 'Costs: a missed "yes" costs as much as 20 false alarms.' in shown
    assert "equally frequent classes *" in shown
    shown = eem("evaluate", model, home / "new.parquet", "--priors", "empirical").stdout
    assert "classes as frequent as in training *" in shown
    again = json.loads(
        eem("evaluate", model, home / "new.parquet", "--priors", "empirical", "--json").stdout
    )
    assert again["brier"] == found["probabilities"]["empirical"]["brier"]


def test_where_equal_priors_are_worse_than_a_constant_the_evaluation_says_so(tmp_path):
    """A class of 3 % that is hard to find: the Brier score under equal priors is too large."""
    rng = np.random.default_rng(0)
    y = (rng.random(2000) < 0.03).astype(int)
    table = pa.table({"x": rng.normal(size=2000) + 1.5 * y, "y": y})
    write(table.slice(0, 1000), tmp_path / "old.csv")
    write(table.slice(1000), tmp_path / "new.csv")
    eem("fit", tmp_path / "old.csv", "--target", "y", *QUICK, "-o", tmp_path / "m.eem")
    words = ("evaluate", tmp_path / "m.eem", tmp_path / "new.csv")
    assert "worse than a constant" not in eem(*words).stdout
    words += ("--priors", "balanced")
    assert "The probabilities and the decisions are worse than a constant" in eem(*words).stdout
    assert "worse than a constant" not in eem(*words[:-1], "empirical").stdout


def test_rows_that_were_learnt_are_known_again(home, tmp_path):
    """In another file and another order; a file of the same name is pointed out at least."""
    rows = people()
    write(rows.take(pa.array(np.arange(len(rows))[::-1])), tmp_path / "other.csv")
    shown = eem("evaluate", home / "m.eem", tmp_path / "other.csv")
    assert "fitted on these very rows" in shown.stderr
    write(pa.concat_tables([rows, people(seed=1)]), tmp_path / "mixed.csv")
    shown = eem("evaluate", home / "m.eem", tmp_path / "mixed.csv")
    assert "fitted on 50 % of these rows" in shown.stderr
    words = ("evaluate", home / "m.eem", home / "new.parquet", "--json")
    assert json.loads(eem(*words).stdout)["share_of_rows_learnt"] == 0
    write(people(seed=1), tmp_path / "train.parquet")
    shown = eem("evaluate", home / "m.eem", tmp_path / "train.parquet")
    assert "a file of this name" in shown.stderr
    assert eem("evaluate", home / "m.eem", home / "new.parquet").stderr == ""


def test_scores_of_all_classes_are_not_defined_where_one_is_absent(home, tmp_path):
    """The mean cost and the scores of probabilities are."""
    rows = people(seed=1)
    write(rows.filter(pa.compute.equal(rows["ill"], "no")), tmp_path / "well.csv")
    shown = eem("evaluate", home / "m.eem", tmp_path / "well.csv").stdout
    for title in ("GMean", "Balanced accuracy", "AUC"):
        assert f'{title:20}not defined: no rows of "yes"' in shown
    assert 'There are no rows of "yes".' in shown
    found = json.loads(eem("evaluate", home / "m.eem", tmp_path / "well.csv", "--json").stdout)
    assert found["gmean"]["value"] is None


def test_a_fit_points_out_leaks_small_classes_and_what_becomes_of_gaps(home, tmp_path):
    """On stderr, and in the report."""
    rows = people()
    labels = np.array(rows["ill"]).astype(object)
    labels[:5] = "maybe"
    status = np.where(labels == "yes", "closed", "open")
    city = [None if i % 9 == 0 else c for i, c in enumerate(rows["city"].to_pylist())]
    rows = rows.drop(["city", "ill"]).append_column("status", pa.array(status))
    rows = rows.append_column("city", pa.array(city)).append_column("ill", pa.array(labels))
    table, model, page = tmp_path / "a.parquet", tmp_path / "m.eem", tmp_path / "page.html"
    shown = eem("fit", write(rows, table), "--target", "ill", *QUICK, "-o", model)
    assert "Missing: age 22 (filled by the median and marked), city 34 (a category" in shown.stdout
    assert '300 rows, without "maybe"\n' in shown.stdout
    assert "These have fewer: 'maybe' (5)." in shown.stderr
    assert "(AUC over 0.99): 'status'" in shown.stderr
    eem("report", model, write(rows, tmp_path / "b.parquet"), "-o", page)
    assert "(AUC over 0.99): &#39;status&#39;" in page.read_text()


def test_a_part_that_lacks_a_class_can_be_fitted_and_merged(home, tmp_path):
    """Such a part cannot decide yet, and says so."""
    healthy = people(seed=3).filter(pa.compute.equal(people(seed=3)["ill"], "no"))
    write(healthy, tmp_path / "healthy.csv")
    part = tmp_path / "part.eem"
    eem("fit", tmp_path / "healthy.csv", "--like", home / "m.eem", "-o", part)
    shown = eem("predict", part, home / "new.parquet", code=1).stderr
    assert "Every class needs rows" in shown
    eem("merge", home / "m.eem", part, "-o", tmp_path / "both.eem")


def test_the_rest_of_the_columns_may_be_left_out_by_hand(home, tmp_path):
    model = tmp_path / "m.eem"
    table = home / "train.parquet"
    eem("fit", table, "--target", "ill", "--drop", "city", "--drop", "name", *QUICK, "-o", model)
    assert [column.name for column in TableModel.load(model).columns.used] == ["age", "weight"]


def test_a_baseline_stands_beside_the_estimate(home, tmp_path):
    """Printed, in JSON, and saved with the model; `--no-baseline` leaves it out."""
    model, quick = tmp_path / "m.eem", ("--model", "eem", "--size", "20")
    fit = ("fit", home / "train.parquet", "--target", "ill", *quick, "-o", model)
    shown = eem(*fit).stdout
    assert "\n  Gradient boosting " in shown
    assert " gradient boosting" in re.search(r"\n(The model costs .*|There is no .*)\n", shown)[1]
    told = json.loads(eem(*fit, "--json").stdout)["estimate"]["baseline"]
    assert told["name"] == "gradient boosting"
    assert 0 < told["low"] < told["gmean"] < told["high"] < 1
    saved = TableModel.load(model).facts.estimate.baseline
    assert (saved.gmean, saved.low, saved.high) == (told["gmean"], told["low"], told["high"])
    assert f"; gradient boosting {saved.gmean:.3f} ({saved.low:.3f} to {saved.high:.3f})" in shown
    assert "boosting" not in eem(*fit, "--no-baseline").stdout


def test_columns_that_are_not_used_are_counted_where_they_are_many(home, tmp_path):
    """`--verbose` and `--json` name each, with the reason."""
    rows = people()
    for j in range(72):
        rows = rows.append_column(f"empty {j}", pa.nulls(300, pa.float64()))
    table = write(rows, tmp_path / "a.parquet")
    fit = ("fit", table, "--target", "ill", *QUICK, "-o", tmp_path / "m.eem")
    shown = eem(*fit).stdout
    (line,) = [line for line in shown.splitlines() if line.startswith("Not used")]
    assert line == (
        "Not used: 73 columns, such as empty 0, empty 1, empty 2 (--verbose lists them, and why)"
    )
    shown = eem(*fit, "--verbose").stdout
    assert shown.count("Not used: empty ") == 72
    assert "  age: numbers, 22 missing\n" in shown
    assert "  city: text\n" in shown
    assert len(json.loads(eem(*fit, "--json").stdout)["dropped"]) == 73


def test_the_estimate_says_what_it_was_made_on(tmp_path, capsys):
    """A sample, by time or not, of which groups; or why there is none."""
    days = np.datetime64("2020-01-01") + np.random.default_rng(0).permutation(300)
    rows = people().append_column("day", pa.array(days))
    table, model = write(rows, tmp_path / "a.parquet"), tmp_path / "m.eem"
    fit = ("fit", table, "--target", "ill", *QUICK, "-o", model)

    def shown_of_a_sample(**options):
        settings = EstimateSettings(rows=200)
        request = FitRequest("ill", model="eem", size=20, settings=settings, **options)
        print_fit(fit_table(open_table(table), request), model, verbose=False)
        return capsys.readouterr().out

    shown = shown_of_a_sample()
    assert "5-fold cross-validation of a sample of 200 of the 300 rows\n" in shown
    assert "held out at random, not by time. --time day holds out the last ones." in shown
    shown = eem(*fit, "--time", "day").stdout
    assert "Held out: the rows last in day" in shown
    assert "for later rows of the same kind. The model learns from day, too." in shown
    shown = shown_of_a_sample(group="city")
    assert "Not used: city: it is the --group" in shown
    assert "2-fold cross-validation that keeps rows of one city together, of a sample" in shown
    few = write(rows.take(pa.array(np.r_[0:9])), tmp_path / "few.parquet")
    shown = eem("fit", few, "--target", "ill", *QUICK, "-o", model).stdout
    assert "Not estimated how good it is, since two classes need 8 rows or more" in shown
    eem(*fit)
    shown = eem("fit", table, "--like", model, "-o", tmp_path / "b.eem").stdout
    assert "Not estimated how good it is, since a model made with --like is a part" in shown


def test_a_part_of_categories_unknown_to_the_first_model_is_pointed_out(tmp_path):
    """Once, in the words of the command."""
    first, rows = tmp_path / "first.eem", people()
    other = rows.set_column(3, "city", pa.array(np.where(np.arange(300) % 2, "Oslo", "Lima")))
    table = write(rows, tmp_path / "rows.parquet")
    eem("fit", table, "--target", "ill", *QUICK, "-o", first)
    words = "--like", first, "-o", tmp_path / "part.eem"
    shown = eem("fit", write(other, tmp_path / "other.parquet"), *words)
    assert (shown.stdout + shown.stderr).count("categories that the model does not know") == 1
    shown = eem("fit", table, *words)
    assert "does not know" not in shown.stdout + shown.stderr


def test_gaps_are_described_by_what_becomes_of_them(tmp_path):
    """Numbers, dates and text each have their own way."""
    day = [None if i % 7 == 0 else datetime(2020, 1, 1 + i % 28) for i in range(300)]
    city = [None if i % 9 == 0 else c for i, c in enumerate(people()["city"].to_pylist())]
    rows = people().drop(["city"]).append_column("day", pa.array(day))
    rows = rows.append_column("city", pa.array(city))
    words = ("--target", "ill", *QUICK, "-o", tmp_path / "m.eem")
    shown = eem("fit", write(rows, tmp_path / "a.parquet"), *words).stdout
    assert (
        "Missing: age 22 (filled by the median and marked), day 43 (filled by the median), "
        "city 34 (a category of its own)\n"
    ) in shown


def test_a_table_from_standard_input_is_fitted_and_predicted(home, tmp_path):
    table, model = write(people(), tmp_path / "a.csv"), tmp_path / "m.eem"
    with table.open("rb") as file:
        shown = process("fit", "-", "--target", "ill", *QUICK, "-o", model, stdin=file).stdout
    assert "Rows: 300 with a label in ill" in shown
    assert TableModel.load(model).facts.source == "standard input"
    with table.open("rb") as file:
        answers = process("predict", model, "-", "--keep", "name", stdin=file).stdout
    assert answers.count("\n") == 301
    assert answers == process("predict", model, table, "--keep", "name").stdout
    done = process("predict", model, "-", stdin=subprocess.DEVNULL, code=1)
    assert "Standard input must be a table; it is a device" in done.stderr


def test_text_in_another_encoding_is_fitted_with_a_note(tmp_path):
    rows = people().to_pylist()
    lines = ["age;stadt;ill", *(f"{r['weight']:.1f};Köln {r['city']};{r['ill']}" for r in rows)]
    path, model = tmp_path / "a.csv", tmp_path / "m.eem"
    path.write_bytes("\n".join(lines).encode("latin-1"))
    shown = eem("fit", path, "--target", "ill", *QUICK, "-o", model)
    assert "is not UTF-8; it is read as Windows-1252" in shown.stderr
    words = ("predict", model, path, "--keep", "stadt", "-o", tmp_path / "out.parquet")
    assert eem(*words, "--encoding", "latin-1").stderr == ""
    assert set(pq.read_table(tmp_path / "out.parquet")["stadt"].to_pylist()) == {
        "Köln Bonn",
        "Köln Rome",
    }


def test_notes_speak_of_options_and_not_of_python(tmp_path):
    """Where the library would name its parameters: no information, and a class of few rows."""
    table = pa.table({"x": [0.0, 1.0] * 40, "y": ["a", "a", "b", "b"] * 20})
    path, model = write(table, tmp_path / "a.csv"), tmp_path / "m.eem"
    said = eem("fit", path, "--target", "y", *QUICK, "-o", model).stderr
    said += eem("predict", model, path, "-o", tmp_path / "out.csv").stderr
    assert said.count("The columns do not separate two of the classes") >= 1
    table = pa.table({"x": np.arange(30.0) % 7, "y": ["a"] * 28 + ["b"] * 2})
    said += eem(
        "fit", write(table, tmp_path / "b.csv"), "--target", "y", *QUICK, "-o", model
    ).stderr
    for word in ("activation", "decision=", "categorical_features", "partial_fit", "`"):
        assert word not in said


def test_an_option_may_stand_before_the_table(home, tmp_path):
    """Each takes one value, so the word after it is the table."""
    words = ("--target", "ill", *QUICK, "-o", tmp_path / "m.eem")
    eem("fit", "--drop", "city", "--cost", "yes=2", home / "train.parquet", *words)
    model = TableModel.load(tmp_path / "m.eem")
    assert model.columns.dropped["city"] == "left out by --drop"
    assert model.facts.costs == {"yes": 2}


def test_a_header_is_parsed_once_and_each_pass_opens_the_table_once(tmp_path, monkeypatch):
    """Two passes over a CSV file, and one more look at its first line."""
    table = write(people(), tmp_path / "people.csv")
    opened = []
    for module, name in ((builtins, "open"), (pa, "OSFile")):
        open_file = getattr(module, name)

        def counted(path, *rest, open_file=open_file, **options):
            opened.extend([open_file] * (str(path) == str(table)))
            return open_file(path, *rest, **options)

        monkeypatch.setattr(module, name, counted)
    eem("fit", table, "--target", "ill", *QUICK, "-o", tmp_path / "m.eem")
    assert len(opened) == 3


def test_hostile_names_are_shown_and_harmless(tmp_path):
    """Markup, newlines, emoji and terminal codes in names of columns and labels."""
    names = ["<script>alert(1)</script>", "new\nline", "😀", "\x1b[31mred", "ta=rget"]
    rng = np.random.default_rng(0)
    table = pa.table({name: rng.normal(size=60) for name in names[:4]})
    labels = np.where(rng.random(60) < 0.5, "a=b", "<b>")
    table = table.append_column(names[4], pa.array(labels))
    path = write(table, tmp_path / "a.csv")
    words = ("--target", "ta=rget", "--cost", "a=b=2", *QUICK)
    shown = eem("fit", path, *words, "-o", tmp_path / "m.eem").stdout
    assert "<script>alert(1)</script>, 'new\\nline', 😀, '\\x1b[31mred'" in shown
    assert "\x1b" not in shown
    assert 'a missed "a=b" costs as much as 2 false alarms' in shown
    eem("predict", tmp_path / "m.eem", path, "--proba", "-o", tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet").column_names[1:] == ["p(<b>)", "p(a=b)"]


# ------------------------------------------------------------------------------- what does not


def broken(folder):
    """Files that cannot be fitted, with the words of the message."""
    good = b"x,z,ill\n" + b"".join(
        b"%d,%d,%s\n" % (i % 7, i % 5, b"no yes".split()[i % 2]) for i in range(40)
    )
    files = {
        "empty.csv": (b"", "Empty CSV file"),
        "header.csv": (b"x,z,ill\n", "it has no rows"),
        "ragged.csv": (good + b"1,2\n", "Row #42: Expected 3 columns, got 2: 1,2"),
        "twins.csv": (b"x,x,ill\n1,2,no\n", "must have different names; 'x' comes 2 times"),
        "one.csv": (b"x,z,ill\n1,2,no\n3,4,no\n", "two classes or more; all 2 rows"),
        "unlabelled.csv": (b"x,z,ill\n1,2,\n3,4,\n", "all 2 lack it"),
        "useless.csv": (b"x,z,ill\n1,,no\n1,,yes\n", "none is left"),
        "text.parquet": (good, "cannot be read as Parquet"),
        "text.feather": (good, "cannot be read as Arrow"),
        "cut.csv.gz": (gzip.compress(good * 50)[:150], "cannot be read as CSV"),
        "plain.csv.gz": (good, "cannot be read as CSV"),
        "damaged.csv": (good + "é,é,no\n".encode() + b"\xff,2,no\n", "must be text in UTF-8"),
        "table.xlsx": (good, "cannot be read as an Excel file"),
        "table.ods": (good, "ends in none of .csv"),
        "numbers.csv": (b"x,ill\n" + b"".join(b"1,%d.5\n" % i for i in range(60)), "at most 50"),
    }
    for name, (content, _) in files.items():
        (folder / name).write_bytes(content)
    (folder / "nothing").mkdir()
    (folder / "nothing" / "README.md").write_text("no table")
    return {name: message for name, (_, message) in files.items()} | {
        "nothing": "must hold tables; it has none",
        "missing.csv": "There is no file",
    }


def test_bad_tables_are_refused_in_one_line_and_nothing_is_written(tmp_path):
    """Each with exit code 1 and the file's or column's name; the folder stays as it was."""
    messages = broken(tmp_path)
    before = sorted(tmp_path.iterdir())
    for name, message in messages.items():
        words = ("fit", tmp_path / name, "--target", "ill", *QUICK, "-o", tmp_path / "m.eem")
        shown = eem(*words, code=1)
        assert shown.stdout == ""
        assert shown.stderr.count("\n") == 1, shown.stderr
        assert shown.stderr.startswith("Error: ")
        assert message in shown.stderr, (name, shown.stderr)
    assert sorted(tmp_path.iterdir()) == before


def test_a_bad_table_is_refused_by_a_process_too(tmp_path):
    """One line, exit code 1, and the folder stays as it was."""
    messages = broken(tmp_path)
    before = sorted(tmp_path.iterdir())
    words = ("--target", "ill", *QUICK, "-o", tmp_path / "m.eem")
    done = process("fit", tmp_path / "ragged.csv", *words, code=1)
    assert messages["ragged.csv"] in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert sorted(tmp_path.iterdir()) == before


def test_wrong_words_are_refused(home, tmp_path):
    """Exit code 1 where the data say no, 2 where the command is wrong."""
    table, out, no = home / "train.parquet", tmp_path / "m.eem", tmp_path / "no"
    fit = ("fit", table, "--target", "ill", *QUICK)
    for words, code, message in (
        (("fit", table, "--target", "il", "-o", out), 1, "Did you mean 'ill'?"),
        (("fit", table, "--target", "ILL", "-o", out), 1, "Did you mean 'ill'?"),
        (("fit", table, "--target", "qqqq", "-o", out), 1, "It has 'name', 'age'"),
        (("predict", table, home / "m.eem"), 2, "The model comes first, then the table"),
        (("forget", table, home / "m.eem", "-o", out), 2, "The model comes first"),
        (("--target", "ill", "fit", table), 2, "The command comes first, then its options"),
        (("fitt", table), 2, "Did you mean 'fit'?"),
        ((*fit, "--drop", "name", "age", "-o", out), 2, "repeat the option to give more"),
        ((*fit, "--drop", "cityy", "-o", out), 1, "Did you mean 'city'?"),
        ((*fit, "--drop", "ill", "-o", out), 1, "must not be among the columns to leave out"),
        ((*fit, "--cost", "maybe=2", "-o", out), 1, "'maybe' is none. The labels are 'no', 'yes'"),
        ((*fit, "--cost", "yes=0", "-o", out), 2, "positive number"),
        ((*fit, "--cost", "yes=-1", "-o", out), 2, "positive number"),
        ((*fit, "--cost", "yes=dear", "-o", out), 2, "positive number"),
        ((*fit, "--cost", "yes=nan", "-o", out), 2, "positive number"),
        ((*fit, "--cost", "yes", "-o", out), 2, "LABEL=COST"),
        ((*fit, "--prior", "yes=2", "-o", out), 2, "LABEL=SHARE between 0 and 1"),
        ((*fit, "--prior", "maybe=0.1", "-o", out), 1, "'maybe' is none. The labels are"),
        ((*fit, "--prior", "yes=.9", "--prior", "no=.9", "-o", out), 1, "these sum to 1.8"),
        ((*fit, "--prior", "yes=.1", "--priors", "balanced", "-o", out), 2, "not both"),
        (("predict", home / "m.eem", table, "--cost", "maybe=2"), 1, "'maybe' is none"),
        ((*fit, "--time", "age", "--group", "city", "-o", out), 2, "not both"),
        ((*fit, "--date", "cty", "-o", out), 1, "Did you mean 'city'?"),
        (("report", home / "m.eem", table, "-o", tmp_path / "r.pdf"), 1, "must end in .html"),
        ((*fit, "--size", "0", "-o", out), 2, "--size"),
        ((*fit,), 2, "Missing option '-o'"),
        (("fit", table, "-o", out), 2, "--target COLUMN"),
        (("fit", table, "--like", home / "m.eem", "--size", "3", "-o", out), 2, "--like takes"),
        (
            ("fit", table, "--like", home / "m.eem", "--target", "age", "-o", out),
            2,
            "has the target",
        ),
        (("merge", home / "m.eem", "-o", out), 2, "two models"),
        (("predict", home / "m.eem", table, "--json"), 2, "-o TABLE"),
        ((*fit, "-o", no / "m.eem"), 1, "there is no folder"),
        ((*fit, "-o", tmp_path), 1, "is a folder"),
        ((*fit, "-o", table / "m.eem"), 1, "there is no folder"),
        (("predict", home / "m.eem", table, "-o", tmp_path / "out.txt"), 1, "ends in none of"),
        (("predict", table, table), 1, "cannot be read as a saved model"),
        (("predict", tmp_path / "m.eem", table), 1, "There is no file"),
        (("evaluate", home / "m.eem", home / "m.eem"), 1, "ends in none of"),
        (("evaluate", home / "m.eem", table, table), 2, "unexpected extra argument"),
        (("predict", home / "m.eem", table, "-o", no / "out.csv"), 1, "there is no folder"),
        (("report", home / "m.eem", table, "-o", no / "page.html"), 1, "there is no folder"),
        (("forget", home / "m.eem", table, "-o", no / "m.eem"), 1, "there is no folder"),
        (("forget", home / "m.eem", home / "new.parquet", "-o", out), 1, "never learnt"),
    ):
        done = eem(*words, code=code)
        shown = done.stderr
        assert message in shown, (words, shown)
        assert done.stdout == ""
        if code == 1:
            assert shown.count("\n") == 1, shown
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_to_is_found_before_the_work(home):
    """/proc takes no files from anybody."""
    if not os.path.isdir("/proc/self"):
        pytest.skip("this system has no folder that refuses files even from an administrator")
    shown = eem("fit", home / "none.csv", "--target", "x", "-o", "/proc/m.eem", code=1).stderr
    assert "'/proc/m.eem' cannot be written" in shown


def test_tables_that_do_not_suit_a_model_are_refused_by_column(home, tmp_path):
    """A column that is missing, holds words for numbers, or labels never seen."""
    model = home / "m.eem"
    out = ("-o", tmp_path / "out.csv")
    write(people().drop_columns(["age"]), tmp_path / "less.csv")
    assert "lacks 'age'" in eem("predict", model, tmp_path / "less.csv", *out, code=1).stderr
    age = [*map(str, range(299)), "old"]
    words = people().set_column(1, "age", pa.array(age))
    write(words, tmp_path / "words.csv")
    shown = eem("predict", model, tmp_path / "words.csv", *out, code=1).stderr
    assert "Column 'age' must hold numbers, as in training; it holds 'old'" in shown
    write(people().drop_columns(["ill"]), tmp_path / "unlabelled.csv")
    shown = eem("evaluate", model, tmp_path / "unlabelled.csv", code=1).stderr
    assert "must have a column 'ill'" in shown
    labels = people().set_column(4, "ill", pa.array(["maybe"] * 300))
    write(labels, tmp_path / "labels.csv")
    shown = eem("evaluate", model, tmp_path / "labels.csv", code=1).stderr
    assert "must be among 'no', 'yes'; there is also 'maybe'" in shown
    assert not (tmp_path / "out.csv").exists()
    assert not list(tmp_path.glob(".*"))


def test_models_fitted_apart_cannot_be_merged(home, tmp_path):
    other = tmp_path / "other.eem"
    eem("fit", home / "new.parquet", "--target", "ill", *QUICK, "-o", other)
    shown = eem("merge", home / "m.eem", other, "-o", tmp_path / "both.eem", code=1).stderr
    assert "--like OTHER" in shown
    assert not (tmp_path / "both.eem").exists()


# ------------------------------------------------------------------------------- as processes


def test_a_bar_is_shown_on_a_terminal(home, tmp_path):
    """Rows, share and time left go to stderr where that is a terminal."""
    terminal, screen = pty.openpty()
    words = ("fit", home / "train.parquet", "--target", "ill", *QUICK, "-o", tmp_path / "m.eem")
    process_ = subprocess.Popen([*EEM, *map(str, words)], stdout=subprocess.PIPE, stderr=screen)
    os.close(screen)
    shown = b""
    while True:
        try:
            read = os.read(terminal, 4096)
        except OSError:  # Linux says so when the other end is closed
            break
        if not read:
            break
        shown += read
    os.close(terminal)
    assert process_.wait() == 0
    process_.stdout.close()
    text = shown.decode()
    for expected in ("reading columns", "estimating", "adding up rows", "100%", "300/300"):
        assert expected in text


@pytest.mark.parametrize("known", [True, False])
def test_a_bar_moves_with_the_rows(known, monkeypatch):
    """By their number where it is known, otherwise by the share of the file that is read."""
    screen = io.StringIO()
    screen.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", screen)
    taken = 0

    def batches():
        nonlocal taken
        for _ in range(4):
            taken += 1
            time.sleep(0.12)  # tqdm draws ten times a second at most
            yield np.zeros(100)

    how = {"total": 400} if known else {"share": lambda: taken / 4}
    shown = with_progress(batches(), label="learning", unit=" rows", amount=len, **how)
    assert sum(map(len, shown)) == 400
    for expected in ("learning", " 25%", " 50%", " 75%", "100%", "200/400", "400/400"):
        assert expected in screen.getvalue()


@pytest.fixture(scope="module")
def long_table(tmp_path_factory):
    """A table that takes long enough to predict to be interrupted."""
    path = tmp_path_factory.mktemp("long") / "long.parquet"
    table = pa.concat_tables([people(seed=0)] * 2000)
    pq.write_table(table, path)
    return path


def listen():
    """Shells start background jobs deaf to SIGINT, and children inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_command_leaves_what_was_there(number, home, long_table, tmp_path):
    """In mid-write: the old file stays whole, and only a kill leaves the part beside it."""
    out = tmp_path / "out.csv"
    out.write_text("before")
    words = ("predict", home / "m.eem", long_table, "--proba", "-o", out)
    child = subprocess.Popen(
        [*EEM, *map(str, words)], stderr=subprocess.PIPE, text=True, preexec_fn=listen
    )
    deadline = time.monotonic() + 60
    while not any(part.stat().st_size for part in tmp_path.glob(".out.csv.*.part")):
        assert child.poll() is None, child.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.005)
    child.send_signal(number)
    _, said = child.communicate()
    assert out.read_text() == "before"
    if number == signal.SIGKILL:
        assert child.returncode == -signal.SIGKILL
    else:
        assert child.returncode == 1
        assert said == "Error: Interrupted; no file was written or changed.\n"
        assert [file.name for file in tmp_path.iterdir()] == ["out.csv"]


def test_a_closed_pipe_is_no_traceback(home, long_table):
    """As in `eem predict … | head -1`."""
    words = ("predict", home / "m.eem", long_table)
    child = subprocess.Popen(
        [*EEM, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == '"prediction"\n'
    child.stdout.close()
    said = child.stderr.read()
    child.stderr.close()
    assert child.wait() == 1
    assert said == ""


PEAK = """
import os, subprocess, sys
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(child.pid, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss)
"""


def peak_megabytes(*words):
    """Peak resident memory of a command, started by a small process: it inherits the starter's."""
    command = [sys.executable, "-c", PEAK, *EEM, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    code, kilobytes = map(int, done.stdout.split())
    assert code == 0, done.stderr
    return kilobytes / 1024


def test_memory_does_not_grow_with_the_table(tmp_path):
    """Ten times the rows, in one row group, take less memory in addition than their own size."""
    rng = np.random.default_rng(0)
    peaks = []
    for n in (40_000, 400_000):
        X = rng.normal(size=(n, 20))
        table = pa.table({f"x{j}": X[:, j] for j in range(20)} | {"ill": (X[:, 0] > 2).astype(int)})
        path = tmp_path / f"{n}.parquet"
        pq.write_table(table, path)
        words = ("fit", path, "--target", "ill", *QUICK, "-o", tmp_path / "m.eem")
        peaks.append(peak_megabytes(*words))
    assert peaks[1] < 1000
    assert peaks[1] - peaks[0] < 360_000 * 21 * 8 / 2**20


def test_memory_of_an_evaluation_does_not_grow_with_the_table(tmp_path, rng):
    """Forty times the rows take less memory in addition than their labels and probabilities."""
    model = tmp_path / "m.eem"
    X = rng.normal(size=(2000, 2))
    write_rows(tmp_path / "train.parquet", X)
    eem("fit", tmp_path / "train.parquet", "--target", "ill", *QUICK, "-o", model)
    peaks = []
    for n in (100_000, 4_000_000):
        write_rows(tmp_path / f"{n}.parquet", np.resize(X, (n, 2)))
        peaks.append(peak_megabytes("evaluate", model, tmp_path / f"{n}.parquet"))
    assert peaks[1] - peaks[0] < 4_000_000 * 5 * 8 / 2**20


def write_rows(path, X):
    """A table in row groups of which few are read at a time."""
    columns = {f"x{j}": X[:, j] for j in range(X.shape[1])}
    ill = (X[:, 0] + X[:, 1] > 1.5).astype(int)
    pq.write_table(pa.table({**columns, "ill": ill}), path, row_group_size=50_000)


def test_completion_knows_the_commands_and_options():
    """What click offers the shell; see docs/guide/command.md."""
    line = {"COMP_WORDS": "eem fit --ta", "COMP_CWORD": "2", "_EEM_COMPLETE": "bash_complete"}
    done = CliRunner().invoke(root, env=line, prog_name="eem")
    assert done.stdout.strip() == "plain,--target"


@pytest.mark.parametrize("words", [["--help"], ["fit", "--help"], ["report", "-h"], None])
def test_help_and_completion_wait_for_no_library(words):
    """They are the ones that people wait for: no numpy, no scikit-learn, no pyarrow."""
    script = f"""
import os, sys
from click.testing import CliRunner
from extreme_entropy.cli.root import COMMANDS, root
line = {{"COMP_WORDS": "eem fit --ta", "COMP_CWORD": "2", "_EEM_COMPLETE": "bash_complete"}}
words = {words!r}
done = CliRunner().invoke(root, words, env={{}} if words else line, prog_name="eem")
assert ("Usage: eem" if words else "--target") in done.stdout, done.stdout
assert not {{"numpy", "scipy", "sklearn", "pyarrow", "matplotlib"}} & set(sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_help_names_every_command():
    shown = eem("--help").stdout
    for name in ("fit", "predict", "evaluate", "export", "merge", "forget", "demo"):
        assert f"  {name} " in shown
        assert "Usage: eem " in eem(name, "--help").stdout
    assert "..." not in shown.split("Commands:")[1]  # whole descriptions


def test_without_pyarrow_the_command_names_the_extra():
    hide = "import sys; sys.modules['pyarrow'] = None; from extreme_entropy.cli import main; main()"
    command = [sys.executable, "-c", hide, "evaluate", "m.eem", "new.csv"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "Error: Tables need pyarrow: pip install 'extreme-entropy[cli]'\n"


def test_forgetting_a_whole_class_says_what_the_model_needs(home, tmp_path):
    """It cannot be evaluated, so that is not advised."""
    ill = people().filter(pa.compute.equal(people()["ill"], "yes"))
    table, out = write(ill, tmp_path / "ill.parquet"), tmp_path / "rest.eem"
    shown = eem("forget", home / "m.eem", table, "-o", out).stdout
    assert "No rows of yes are left" in shown
    assert f"--like {out}" in shown
    assert "eem evaluate" not in shown


def test_forced_forgetting_of_strange_rows_is_pointed_out(home, tmp_path):
    words = ("forget", home / "m.eem", write(people(5, 7), tmp_path / "new.csv"), "--force")
    done = eem(*words, "-o", tmp_path / "rest.eem")
    assert "Note: At least 5 of these rows were not found among those learnt" in done.stderr


def test_a_part_keeps_the_costs_and_priors_of_the_model_it_is_like(home, tmp_path):
    model, part = tmp_path / "m.eem", tmp_path / "part.eem"
    fit = ("fit", home / "train.parquet", "--target", "ill", *QUICK, "--cost", "yes=7")
    eem(*fit, "-o", model)
    assert (
        'Costs: a missed "yes" costs as much as 7 false alarms.'
        in eem("fit", home / "new.parquet", "--like", model, "-o", part).stdout
    )
    assert TableModel.load(part).classifier.costs == {"yes": 7}
    assert TableModel.load(part).classifier.priors == "empirical"


def test_a_model_is_merged_once(home, tmp_path):
    same = (home / "m.eem", home / "." / "m.eem")
    done = eem("merge", *same, "-o", tmp_path / "both.eem", code=2)
    assert "each model once" in done.stderr
    assert not (tmp_path / "both.eem").exists()


@pytest.mark.parametrize("command", ["evaluate", "predict", "report"])
def test_cells_that_cannot_be_read_as_in_the_fit_are_counted(command, tmp_path):
    """A column named by --number or --date takes them for missing, and says so each time."""
    rng = np.random.default_rng(0)
    ages = rng.normal(40, 9, 200).round(1)
    lines = [f"{age},{'yes' if age > 45 else 'no'}" for age in ages]
    (tmp_path / "train.csv").write_text("\n".join(["age,ill", *lines]))
    words = ("--target", "ill", "--number", "age", *QUICK)
    fitted = eem("fit", tmp_path / "train.csv", *words, "-o", tmp_path / "m.eem")
    assert "cannot be read" not in fitted.stderr
    (tmp_path / "new.csv").write_text("\n".join(["age,ill", *lines[:50], "forty,no", ",yes"]))
    out = tmp_path / ("page.html" if command == "report" else "out.csv")
    words = () if command == "evaluate" else ("-o", out)
    done = eem(command, tmp_path / "m.eem", tmp_path / "new.csv", *words)
    assert "missing: 1 cell of column 'age' that cannot be read as numbers." in done.stderr


@pytest.mark.parametrize("command", ["evaluate", "predict", "report"])
def test_categories_that_the_model_does_not_know_are_counted(command, tmp_path):
    """Also where a column has many; missing cells and known categories are not among them."""
    rng = np.random.default_rng(0)
    towns, plans = rng.integers(0, 60, 600), rng.choice(["a", "b", ""], 600)
    lines = [f"town {t},{p},{'yes' if t % 3 else 'no'}" for t, p in zip(towns, plans, strict=True)]
    (tmp_path / "train.csv").write_text("\n".join(["town,plan,ill", *lines]))
    eem("fit", tmp_path / "train.csv", "--target", "ill", *QUICK, "-o", tmp_path / "m.eem")
    more = ["town 99,a,no", "town 100,z,yes", ",b,no"]
    (tmp_path / "new.csv").write_text("\n".join(["town,plan,ill", *lines[:50], *more]))
    out = tmp_path / ("page.html" if command == "report" else "out.csv")
    words = () if command == "evaluate" else ("-o", out)
    done = eem(command, tmp_path / "m.eem", tmp_path / "new.csv", *words)
    assert "Note: Column 'town' has 2 cells with a category that the model does not" in done.stderr
    assert "Column 'plan' has 1 cell with a category that the model does not know" in done.stderr
    assert "such as 'town 99'" in done.stderr
    known = eem(command, tmp_path / "m.eem", tmp_path / "train.csv", *words)
    assert "does not know" not in known.stderr


@pytest.mark.parametrize("command", ["fit", "predict", "forget"])
def test_the_table_that_is_read_is_not_replaced(command, home, tmp_path):
    (tmp_path / "rows.csv").write_text("age,ill\n1,yes\n2,no\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / "rows.csv")
    words = ["--target", "ill"] if command == "fit" else [home / "m.eem"]
    given = [*words, tmp_path / "rows.csv"] if command != "fit" else [tmp_path / "rows.csv", *words]
    done = eem(command, *given, "-o", tmp_path / "link.csv", code=1)
    assert "must be another file than the table that is read" in done.stderr
    assert (tmp_path / "rows.csv").read_text().startswith("age,ill")


def test_rows_that_two_models_have_learnt_are_not_counted_twice_unless_forced(home, tmp_path):
    shutil.copy(home / "m.eem", tmp_path / "b.eem")
    words = ["merge", home / "m.eem", tmp_path / "b.eem", "-o", tmp_path / "all.eem"]
    done = eem(*words, code=1)
    assert f"100 % of the rows of {str(tmp_path / 'b.eem')!r}" in done.stderr
    assert "use --force" in done.stderr
    assert not (tmp_path / "all.eem").exists()
    note = eem(*words, "--force").stderr
    assert note.startswith("Note: 100 % of the rows of ")
    assert note.endswith("they count twice.\n")
    rows = TableModel.load(home / "m.eem").facts.rows
    assert TableModel.load(tmp_path / "all.eem").facts.rows == 2 * rows
    eem("merge", home / "m.eem", home / "m.eem", "-o", tmp_path / "all.eem", "--force")
    assert TableModel.load(tmp_path / "all.eem").facts.rows == 2 * rows


def test_a_label_has_one_cost(home):
    table = home / "new.parquet"
    done = eem("evaluate", home / "m.eem", table, "--cost", "yes=5", "--cost", "yes=3", code=2)
    assert "'yes' was given two" in done.stderr
