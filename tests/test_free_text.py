"""Free text is read: its words are evidence, counted by class and fold, frozen with φ."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from onnxruntime import InferenceSession

from extreme_entropy import ExtremeEntropyClassifier, load
from extreme_entropy.cli.root import root
from extreme_entropy.columns.category import SETTINGS as CATEGORIES
from extreme_entropy.columns.category import Category
from extreme_entropy.columns.cells import Cells, ValueProfile
from extreme_entropy.columns.statistics import N_FOLDS
from extreme_entropy.columns.unused import Identifier
from extreme_entropy.columns.words import FreeText, as_small, spellings, words_of
from extreme_entropy.errors import NumberWarning
from extreme_entropy.features.content import folds_of
from extreme_entropy.tables.model import TableModel
from extreme_entropy.tables.reading import open_table

N = 400
VOCABULARY = ["arrived", "cheap", "good", "Refund", "cup", "12", "naïve", "STRASSE", "iPhone"]


def notes(n=N, seed=0):
    """Sentences and labels; "broken" and "great" tell something about them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    told = np.where(y == 1, "great", "broken")
    texts = [
        " ".join([*rng.choice(VOCABULARY, rng.integers(3, 8)), *([told[i]] if i % 2 else [])])
        + f", no. {seed}{i}x"
        for i in range(n)
    ]
    X = pd.DataFrame({"a": rng.normal(size=n), "note": texts})
    X.loc[::19, "note"] = None
    return X, y


def fitted(X, y, **parameters):
    return ExtremeEntropyClassifier(n_landmarks=30, random_state=0, **parameters).fit(X, y)


def kind_of(classifier, j=1):
    return classifier.feature_map_.encoding.kinds[j]


def encoded_words(classifier):
    return classifier.feature_map_.encoding.parts[-1]


def test_words_that_tell_classes_apart_are_used():
    X, y = notes()
    new, truth = notes(seed=1)
    classifier = fitted(X, y)
    assert isinstance(kind_of(classifier), FreeText)
    told = new["note"].str.contains("great|broken", na=False).to_numpy()
    assert classifier.score(new[told], truth[told]) > 0.8
    assert classifier.feature_importances_[1] > 0.8
    assert classifier.explain(new).shape == new.shape
    assert classifier.n_features_in_ == 2


def test_the_evidence_of_a_text_is_the_mean_log_odds_of_its_words():
    """Counted anew with sets of words; for a row that is learnt, without the labels of its fold."""
    X, y = notes()
    classifier = fitted(X, y)
    phi, kind = classifier.feature_map_, kind_of(classifier)
    texts = X["note"].fillna("").tolist()
    held = [set(words_of(text)) & set(kind.words) for text in texts]
    matrix = np.full((N, phi.encoding.d), np.nan)
    cells = Cells("category", np.arange(N) * 1.0, texts)
    matrix[:, 0] = X["a"]
    coded = kind.code(cells, "note", trained=True)
    matrix[:, 1], matrix[:, 2:] = coded[:, 0], coded[:, 1:]
    folds = folds_of(phi.content(matrix), N_FOLDS)

    def odds(word, rows):
        has = np.array([word in words for words in held])
        n = np.array([np.sum(has & rows & (y == c)) for c in (0, 1)], float)
        whole = np.array(
            [sum(len(held[i]) for i in np.flatnonzero(rows & (y == c))) for c in (0, 1)]
        )
        share = (whole + 1) / (whole + 1).sum()
        return np.log((n + CATEGORIES.smoothing * share) / share) @ [-1, 1]

    every = np.full(N, True)
    by_word = {word: odds(word, every) for word in kind.words}
    expected = [np.mean([by_word[word] for word in words]) if words else 0 for words in held]
    out = np.empty((N, 2))
    encoded_words(classifier).encode(matrix, phi.encoding.typical, None, out)
    np.testing.assert_allclose(out[:, 1], expected, atol=1e-8)
    lengths = np.array([len(words_of(text)) for text in texts], float)
    np.testing.assert_array_equal(out[lengths > 0, 0], lengths[lengths > 0])
    assert (out[lengths == 0, 0] == np.median(lengths[lengths > 0])).all()

    # Rows to be learnt: counts of other folds, brought to the number of all (`log_odds_by_fold`).
    encoded_words(classifier).encode(matrix, phi.encoding.typical, folds, out)
    for fold in range(N_FOLDS):
        changed = y.copy()
        changed[folds == fold] = 1 - changed[folds == fold]
        other = fitted(X, changed)
        second = np.empty((N, 2))
        encoded_words(other).encode(matrix, phi.encoding.typical, folds, second)
        own = (folds == fold) & (lengths > 0)
        assert abs(out[own, 1] - second[own, 1]).max() < 0.05  # through the overall shares alone
        assert abs(out[~own, 1] - second[~own, 1]).max() > 0.1


def test_rows_learnt_in_parts_merged_and_forgotten_are_those_of_one_fit():
    X, y = notes()
    more, labels = notes(200, seed=1)
    first = fitted(X, y)
    whole = first.twin().fit(pd.concat([X, more]), np.r_[y, labels])
    parts = first.twin().fit(X, y).partial_fit(more, labels)
    merged = first.twin().fit(X, y).merge(first.twin().fit(more, labels))
    for classifier in (parts, merged):
        np.testing.assert_allclose(
            classifier.predict_proba(more), whole.predict_proba(more), atol=1e-10
        )
    parts.forget(more, labels)
    kept = first.twin().fit(X, y)
    np.testing.assert_allclose(parts.predict_proba(X), kept.predict_proba(X), atol=1e-10)


def test_frames_of_all_libraries_and_batches_give_the_same_model():
    X, y = notes()
    expected = fitted(X, y).predict_proba(X)
    for frame in (pl.from_pandas(X), pa.Table.from_pandas(X)):
        np.testing.assert_array_equal(fitted(frame, y).predict_proba(frame), expected)
    batches = [(X[s], y[s]) for s in (slice(0, 150), slice(150, 400))]
    learner = ExtremeEntropyClassifier(n_landmarks=30, random_state=0).fit_batches(batches)
    np.testing.assert_allclose(learner.predict_proba(X), expected, atol=1e-10)


def test_a_saved_model_reads_text_as_before(tmp_path):
    X, y = notes()
    classifier = fitted(X, y)
    path = tmp_path / "notes.eem"
    classifier.save(path)
    again = load(path)
    np.testing.assert_array_equal(again.predict_proba(X), classifier.predict_proba(X))
    assert kind_of(again) == kind_of(classifier)


def test_onnx_reads_text_as_python_does(tmp_path):
    X, y = notes()
    classifier = fitted(X, y)
    classifier.to_onnx(tmp_path / "notes.onnx")
    session = InferenceSession(tmp_path / "notes.onnx")
    new = pd.DataFrame({"a": np.zeros(6), "note": [
        None, "", "!!", "GREAT Great great iPhone IPHONE iphone 12", "nothing known",
        " ".join(VOCABULARY * 3) + " Broken strasse",
    ]})  # fmt: skip
    new = pd.concat([new, notes(seed=2)[0]], ignore_index=True)
    inputs = {"a": new[["a"]].to_numpy(), "note": new[["note"]].fillna("").to_numpy(object)}
    np.testing.assert_allclose(
        session.run(None, inputs)[1], classifier.predict_proba(new), atol=1e-9
    )


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([f"{i:08x}-{i * i:06x}" for i in range(N)], Identifier),
        ([f"user {i}" for i in range(N)], Identifier),
        (["the red door", "a blue door", "no door at all"] * 100, Category),
    ],
)
@pytest.mark.filterwarnings("ignore::extreme_entropy.errors.IdentifierWarning")
def test_codes_names_and_repeated_text_are_no_free_text(cells, kind):
    X = pd.DataFrame({"a": np.arange(len(cells)) % 7 * 1.0, "note": cells})
    classifier = fitted(X, np.arange(len(cells)) % 2)
    assert isinstance(kind_of(classifier), kind)


def test_a_column_that_the_user_calls_categorical_stays_one():
    X, y = notes()
    classifier = fitted(X, y, categorical_features=["note"])
    assert isinstance(kind_of(classifier), Category)


def fitted_by_command(folder, table, *options):
    table.to_csv(folder / "a.csv", index=False)
    words = ["fit", folder / "a.csv", "--target", "y", "--no-baseline", *options]
    result = CliRunner().invoke(root, list(map(str, [*words, "-o", folder / "m.eem"])))
    assert result.exit_code == 0, result.output
    return TableModel.load(folder / "m.eem")


@pytest.mark.parametrize("options", [(), ("--text", "note")])
def test_files_and_frames_give_the_same_model_to_the_last_bit(options, tmp_path):
    """As `read_csv` returns them: with text, dates, numbers with signs, and gaps."""
    X, y = notes()
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(N) * 37 % 300, "D")
    table = X.assign(
        day=days.strftime("%d.%m.%Y"),
        price=[f"${1000 + i * 7919 % 5003:,}" for i in range(N)],
        size=["?" if i % 50 == 3 else str(i * 31 % 17) for i in range(N)],
        town=[f"town {i % 5}" for i in range(N)],
        y=y,
    )
    model = fitted_by_command(tmp_path, table, *options)
    frame = pd.read_csv(tmp_path / "a.csv").drop(columns="y")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NumberWarning)
        empty = (
            ExtremeEntropyClassifier(**model.classifier.get_params()).partial_fit(frame, y).twin()
        )
    ours = empty.partial_fit(frame, y)
    assert [type(kind).__name__ for kind in ours.feature_map_.encoding.table_kinds] == [
        *("Number", "FreeText", "TextDate", "TextNumber", "TextNumber", "Category")
    ]
    [batch] = open_table(tmp_path / "a.csv").batches()
    theirs = model.classifier.predict_proba(model.read(batch))
    np.testing.assert_array_equal(ours.predict_proba(frame), theirs)


def test_the_option_text_makes_words_of_a_cell_count(tmp_path):
    """Two words a cell would be a name, which is left out."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N)
    first = np.where(rng.random(N) < 0.9, np.where(y == 1, "dr", "mr"), "ms")
    table = pd.DataFrame({"a": rng.normal(size=N), "name": first, "y": y})
    table["name"] += [f" {i}x" for i in range(N)]
    assert "name" in fitted_by_command(tmp_path, table).columns.dropped
    model = fitted_by_command(tmp_path, table, "--text", "name")
    kind = kind_of(model.classifier)
    assert isinstance(kind, FreeText)
    assert {"dr", "mr"} <= {*kind.words}
    codes = table.assign(name=[f"{i % 30:03}" for i in range(N)])
    assert isinstance(
        kind_of(fitted_by_command(tmp_path, codes, "--text", "name").classifier), Category
    )


def test_only_words_of_some_rows_but_not_of_nearly_all_are_known():
    texts = {f"always here {'rare' if i < 2 else ''} w{i % 2} x {i}": 1 for i in range(100)}
    texts |= {f"{text} five": 1 for text in list(texts)[:5]}
    kind = FreeText.recognise(
        ValueProfile(frozenset(["category"]), len(texts), texts, is_text=True), named=False
    )
    assert kind is not None
    assert "five" in kind.words
    assert {"always", "here", "rare", "x"}.isdisjoint(kind.words)


@given(st.text(max_size=20))
def test_each_word_in_small_letters_has_its_spellings(text):
    for word in map(as_small, words_of(text)):
        assert as_small(word) == word
        assert word in spellings(word)
        assert {as_small(form) for form in spellings(word)} == {word}
