"""Small models of each file version, their predictions, and the fields that files then had.

    python tests/golden_models.py

writes those of the current version anew, to `tests/golden`. `tests/test_golden.py` says when.
"""

import json
import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
import pandas as pd

from extreme_entropy import EEKMClassifier, EEMClassifier, ExtremeEntropyClassifier
from extreme_entropy.estimators.schema import PARTS, Fitted
from extreme_entropy.persistence import VERSION

FOLDER = Path(__file__).parent / "golden"
ALL = ["a", "b", "when", "kind"]
MODELS = {
    "eem": (EEMClassifier(3, scale="minmax", random_state=0), ALL),
    "eekm": (EEKMClassifier(4, kernel="laplacian", scale="standard", random_state=0), ["a", "b"]),
    "classifier": (
        ExtremeEntropyClassifier(n_leaves=2, n_landmarks=4, random_state=0),
        ["a", "kind"],
    ),
}


def rows(n=60):
    """A table with gaps, dates and categories, of numbers that no generator must draw again."""
    i = np.arange(n)
    a, b = (i * 0.6180339887) % 1, np.floor((i * 0.4142135623) % 1 * 3)
    skewed = np.exp(20 * a)  # whose quantiles are knots, not a thousand bins
    frame = pd.DataFrame({"a": np.where(i % 11 == 0, np.nan, skewed), "b": b})
    frame["when"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(i * 31, unit="h")
    frame["kind"] = np.array(["x", "y", "z"])[i * 7 % 3]
    return frame, np.array(["no", "yes"])[(a + 0.2 * b + 0.3 * (i * 7 % 3 == 1) > 0.8).astype(int)]


def stored_fields():
    """The fields of each class that a file may hold, and their types as they are written down."""
    return {
        part.__name__: {field.name: field.type for field in fields(part)}
        for part in sorted([*PARTS.values(), Fitted], key=lambda part: part.__name__)
    }


def main():
    X, y = rows()
    predictions = {}
    for name, (model, columns) in MODELS.items():
        sums = name != "classifier"  # which is small without
        model.fit(X[columns], y).save(FOLDER / f"{VERSION}-{name}.eem", sums=sums)
        predictions[name] = model.predict_proba(X[columns])[:, 1].tolist()
    text = json.dumps({"fields": stored_fields(), "predictions": predictions}, indent=1)
    (FOLDER / f"{VERSION}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
