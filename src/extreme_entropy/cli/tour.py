"""What `eem demo` shows: the main job on a data set that ships with scikit-learn."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click
import numpy as np
import pyarrow as pa
from pyarrow import csv
from sklearn.base import ClassifierMixin
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ..estimators.classifier import ExtremeEntropyClassifier
from ..files import written_whole
from ..metrics import gmean_score
from ..report import About, write_report

SEED = 0
RARE = 40  # malignant tumours kept, so that the demo has a rare class


def show(page: Path, tables: Path | None) -> None:
    """Fit, judge, explain, and write a report and, into a folder, the tables."""
    data = load_breast_cancer()
    y = np.where(data.target == 0, "malignant", "benign")
    rows = [*np.flatnonzero(y == "malignant")[:RARE], *np.flatnonzero(y == "benign")]
    X, X_new, y, y_new = train_test_split(
        data.data[rows], y[rows], test_size=0.5, stratify=y[rows], random_state=SEED
    )
    click.echo(f"Breast cancer, {X.shape[1]} columns. Training rows: {_counts(y)}.")
    click.echo(f"Held out: {_counts(y_new)}.")
    classifier = ExtremeEntropyClassifier(random_state=SEED)
    logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    baselines: dict[str, Any] = {
        "StandardScaler + LogisticRegression": logistic,
        "RandomForestClassifier": RandomForestClassifier(random_state=SEED),
    }
    click.echo(f"\n{'held out':38}{'GMean':>8}{'bal. acc.':>11}{'AUC':>8}{'fit':>9}")
    for name, estimator in {"ExtremeEntropyClassifier()": classifier, **baselines}.items():
        click.echo(_scores(name, estimator, X, y, X_new, y_new))
    columns = [str(name) for name in data.feature_names]
    _explain(classifier, X_new, y_new, columns)
    about = About(
        title="Breast cancer, with malignant tumours made rare",
        data="the tumours held out",
        learnt_from="the other half of them",
        target="diagnosis",
        columns=columns,
        missing=dict.fromkeys(columns, 0),
        commands=["eem demo"],
        seed=SEED,
    )
    write_report(page, classifier, X_new, y_new, about=about)
    if tables is not None:
        for name, rows, labels in (("tumours.csv", X, y), ("new.csv", X_new, y_new)):
            frame = pa.table([*rows.T, labels], [*columns, "diagnosis"])
            with written_whole(tables / name) as file:
                csv.write_csv(frame, file)
        click.echo(f"\nTables for eem fit and eem report: tumours.csv and new.csv in {tables}")
    click.echo(f"\nA report to open in a browser, with a cost slider: {page}")


def _counts(y: Any) -> str:
    labels, counts = np.unique(y, return_counts=True)
    return " and ".join(f"{n} {label}" for label, n in zip(labels, counts, strict=True))


def _scores(name: str, estimator: ClassifierMixin, X: Any, y: Any, X_new: Any, y_new: Any) -> str:
    start = time.perf_counter()
    estimator.fit(X, y)
    seconds = time.perf_counter() - start
    labels = estimator.predict(X_new)
    area = roc_auc_score(y_new == "malignant", estimator.predict_proba(X_new)[:, 1])
    return (
        f"{name:38}{gmean_score(y_new, labels):8.3f}"
        f"{balanced_accuracy_score(y_new, labels):11.3f}{area:8.3f}{seconds:8.2f}s"
    )


def _explain(
    classifier: ExtremeEntropyClassifier, X_new: Any, y_new: Any, columns: list[str]
) -> None:
    most = np.argsort(-classifier.feature_importances_)[:3]
    click.echo(f"\nColumns that matter most: {', '.join(columns[j] for j in most)}.")
    careful = classifier.with_costs({"malignant": 20}, priors="empirical")
    flagged = [int((one.predict(X_new) == "malignant").sum()) for one in (classifier, careful)]
    click.echo(
        f"Rows predicted malignant: {flagged[0]}; if missing one costs 20 times a false alarm, "
        f"{flagged[1]}, without refitting."
    )
    chosen = [np.flatnonzero(y_new == label)[0] for label in classifier.classes_]
    click.echo("\nProbabilities of one tumour of each kind, and what explains them most:")
    for i, p in zip(chosen, classifier.predict_proba(X_new[chosen]), strict=True):
        by_class = ", ".join(f"{q:.4f} {c}" for q, c in zip(p, classifier.classes_, strict=True))
        (contributions,) = classifier.explain(X_new[[i]])
        column = columns[int(abs(contributions).argmax())]
        click.echo(f"  {y_new[i]:10} {by_class}  ({column} {X_new[i, columns.index(column)]:.4g})")
