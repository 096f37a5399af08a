"""A kind of column is one file and one line in the list: here angles are added so, and learnt."""

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pytest

from extreme_entropy import EEMClassifier, ExtremeEntropyClassifier, load
from extreme_entropy.columns.kind import ColumnKind
from extreme_entropy.columns.kinds import KINDS
from extreme_entropy.columns.number import Number
from extreme_entropy.columns.statistics import ColumnStats
from extreme_entropy.estimators.inputs import check_x
from extreme_entropy.tables.fitting import FitRequest, fit_table
from extreme_entropy.tables.reading import open_table

# -------------------------------------------------------------------- the file


class Angle(Number):
    """Whole degrees from 0 to 359, of which the last is beside the first."""

    name = "angle"
    title = "angles"
    widest = 2

    @classmethod
    def recognise(cls, profile, *, named):
        in_range = 0 <= profile.low <= profile.high < 360
        return cls() if in_range and not named else None

    @classmethod
    def fit(cls, columns, seen):
        return [EncodedAngle(column) for column in columns]


@dataclass(frozen=True, slots=True)
class EncodedAngle:
    """The sine and the cosine of an angle."""

    column: int
    needs_folds: ClassVar[bool] = False

    @property
    def columns(self):
        return np.full(2, self.column)

    def names(self, columns: Sequence, kinds: Sequence[ColumnKind]):
        return [f"{part} of {columns[self.column]}" for part in ("sine", "cosine")]

    def encode(self, X, typical, folds, out):
        x = np.where(np.isnan(X[:, self.column]), typical[self.column], X[:, self.column])
        out[:, 0], out[:, 1] = np.sin(np.deg2rad(x)), np.cos(np.deg2rad(x))

    def stats(self, seen, encoded):
        return ColumnStats.of(encoded)


def onnx_form(g, part, encoding, rows):
    """The same as operators of ONNX."""
    x = rows.numbers(np.array([part.column]), encoding.d)
    x = g("Where", g("IsNaN", x), encoding.typical[[part.column]], x)
    x = g.cast(g("Mul", x, np.pi / 180), np.float32)  # which all runtimes have a sine for
    return g.cast(g.beside([g("Sin", x), g("Cos", x)]), np.float64)


# -------------------------------------------------------------------- the lines


@pytest.fixture
def angles():
    """The line in the list of kinds, and the one in that of ONNX forms."""
    forms = pytest.importorskip("extreme_entropy.export.encoded").FORMS
    KINDS.append(Angle)
    forms[EncodedAngle] = onnx_form
    yield
    KINDS.remove(Angle)
    del forms[EncodedAngle]


# -------------------------------------------------------------------- what follows


def winds(n=600, seed=0):
    """Winds from the north, on both sides of 0°, and others."""
    rng = np.random.default_rng(seed)
    wind = rng.integers(0, 360, n)
    frame = pd.DataFrame({"wind": wind, "x": rng.normal(size=n)})
    return frame, np.cos(np.deg2rad(wind)) + 0.1 * frame["x"].to_numpy() > 0.5


@pytest.mark.parametrize(
    "classifier",
    [EEMClassifier(30, random_state=0), ExtremeEntropyClassifier(n_landmarks=30, random_state=0)],
    ids=["EEM", "default"],
)
def test_a_kind_of_ones_own_is_learnt_from_frames(classifier, angles):
    """It is recognised, encoded, named and explained, in all libraries of data frames."""
    frame, y = winds()
    fitted = classifier.fit(frame, y)
    encoding = fitted.feature_map_.encoding
    assert [kind.name for kind in encoding.kinds] == ["angle", "number"]
    assert encoding.names(["wind", "x"]) == ["x", "sine of wind", "cosine of wind"]
    angle = np.deg2rad(frame["wind"])
    by_hand = np.column_stack([frame["x"], np.sin(angle), np.cos(angle)])
    np.testing.assert_allclose(encoding(check_x(fitted, frame)), by_hand)
    assert fitted.score(frame, y) > 0.95
    assert fitted.explain(frame[:5]).shape == (5, 2)
    np.testing.assert_array_equal(
        fitted.predict_proba(pl.from_pandas(frame)), fitted.predict_proba(frame)
    )


def test_a_kind_of_ones_own_is_learnt_from_batches_and_files(angles, tmp_path):
    """Sums of batches are those of one fit, and a file is read as the frame is."""
    frame, y = winds()
    new = EEMClassifier(30, random_state=0)
    batches = [(frame[i : i + 100], y[i : i + 100]) for i in range(0, 600, 100)]
    expected = EEMClassifier(30, random_state=0).fit(frame, y).predict_proba(frame)
    np.testing.assert_allclose(new.fit_batches(batches).predict_proba(frame), expected, atol=1e-8)
    more = frame.assign(coast=np.where(frame["x"] > 0, "east", "west"), y=np.where(y, "n", "s"))
    more.to_csv(tmp_path / "a.csv", index=False)
    model = fit_table(open_table(tmp_path / "a.csv"), FitRequest("y", model="eem", size=30))
    categories = ["coast = east", "coast = west"]
    assert model.feature_names == ["x", *categories, "sine of wind", "cosine of wind"]


def test_a_kind_of_ones_own_goes_to_onnx(angles, tmp_path):
    """By one line in the list of forms."""
    runtime = pytest.importorskip("onnxruntime")
    frame, y = winds()
    classifier = EEMClassifier(30, random_state=0).fit(frame, y)
    classifier.to_onnx(tmp_path / "model.onnx")
    session = runtime.InferenceSession(tmp_path / "model.onnx")
    _, p = session.run(None, {"X": frame.to_numpy(float)})
    np.testing.assert_allclose(p, classifier.predict_proba(frame), atol=1e-3)


def test_without_its_line_an_angle_is_a_number():
    """Which 0° and 359° are far apart as."""
    frame, y = winds()
    fitted = EEMClassifier(30, random_state=0).fit(frame, y)
    assert fitted.feature_map_.encoding.names(["wind", "x"]) == ["wind", "x"]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.filterwarnings("ignore::extreme_entropy.errors.IdentifierWarning")
@pytest.mark.filterwarnings("ignore::extreme_entropy.errors.NumberWarning")
def test_columns_of_all_kinds_can_stand_in_any_order(seed):
    """A model of such a frame is saved, loaded, explained, and gives the same answers."""
    rng = np.random.default_rng(seed)
    n = 120
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 700, n), "D")
    words = rng.choice(["late", "early", "broken", "fine", "parcel", "again"], (n, 5))
    columns = {
        "number": rng.normal(size=n),
        "gaps": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
        "flag": rng.random(n) < 0.5,
        "day": days,
        "day in text": days.strftime("%Y-%m-%d"),
        "price in text": [f"${value:.2f}" for value in rng.normal(size=n)],
        "for how long": pd.to_timedelta(rng.integers(1, 99, n), "h"),
        "few": rng.choice(["a", "b", "c"], n),
        "many": [f"shop {i}" for i in rng.integers(0, 40, n)],
        "note": [f"{' '.join(row)} {i}" for i, row in enumerate(words)],
        "empty": np.full(n, np.nan),
        "key": [f"id{i:04}" for i in range(n)],
    }
    names = rng.permutation(list(columns))
    X, y = pd.DataFrame({name: columns[name] for name in names}), rng.integers(0, 2, n)
    classifier = ExtremeEntropyClassifier(n_landmarks=10, random_state=0).fit(X, y)
    file = BytesIO()
    classifier.save(file)
    again = load(file.getvalue())
    np.testing.assert_array_equal(again.predict_proba(X), classifier.predict_proba(X))
    assert classifier.explain(X).shape == X.shape
    assert classifier.feature_importances_[list(names).index("empty")] == 0
