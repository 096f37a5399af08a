"""`eem demo`: the main job on a data set that ships with scikit-learn."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click
import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ..estimators.eem import EEMClassifier
from ..metrics import gmean_score
from ..report import About, write_report
from ..selection.eem_cv import EEMClassifierCV
from .output import TABLE, check_place

SEED = 0
RARE = 40  # malignant tumours kept, so that the demo has a rare class


@click.command()
@click.option(
    "--out",
    type=TABLE,
    default=Path("eem-demo-report.html"),
    show_default=True,
    metavar="PAGE",
    help="Where to write the report.",
)
def demo(out: Path) -> None:
    """Fit a machine on breast-cancer data with a rare class, show what it gives, and report."""
    check_place(out)
    X, y = _tumours()
    X, X_new, y, y_new = train_test_split(X, y, test_size=0.5, stratify=y, random_state=SEED)
    click.echo(f"Breast cancer, {X.shape[1]} columns. To learn from: {_counts(y)}.")
    click.echo(f"Held out: {_counts(y_new)}.")
    machine = EEMClassifier(random_state=SEED)
    rivals: dict[str, Any] = {
        "EEMClassifier()": machine,
        "StandardScaler + LogisticRegression": make_pipeline(
            StandardScaler(), LogisticRegression(max_iter=1000)
        ),
        "RandomForestClassifier": RandomForestClassifier(random_state=SEED),
    }
    click.echo(f"\n{'held out':38}{'GMean':>8}{'bal. acc.':>11}{'AUC':>8}{'fit':>9}")
    for name, rival in rivals.items():
        click.echo(_row(name, rival, X, y, X_new, y_new))
    _explain(machine, X_new, y_new)
    _report(out, X, y, X_new, y_new)


def _tumours() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    X, y = load_breast_cancer(return_X_y=True)
    y = np.where(y == 0, "malignant", "benign")
    kept = np.concatenate([np.flatnonzero(y == "malignant")[:RARE], np.flatnonzero(y == "benign")])
    return X[kept], y[kept]


def _counts(y: Any) -> str:
    labels, counts = np.unique(y, return_counts=True)
    return " and ".join(f"{n} {label}" for label, n in zip(labels, counts, strict=True))


def _row(name: str, rival: ClassifierMixin, X: Any, y: Any, X_new: Any, y_new: Any) -> str:
    start = time.perf_counter()
    rival.fit(X, y)
    seconds = time.perf_counter() - start
    labels = rival.predict(X_new)
    area = roc_auc_score(y_new == "malignant", rival.predict_proba(X_new)[:, 1])
    return (
        f"{name:38}{gmean_score(y_new, labels):8.3f}"
        f"{balanced_accuracy_score(y_new, labels):11.3f}{area:8.3f}{seconds:8.2f}s"
    )


def _explain(machine: EEMClassifier, X_new: Any, y_new: Any) -> None:
    def points(values: Any) -> str:
        return ", ".join(f"{value:.2f}" for value in values)

    click.echo(
        f"\nThe machine: {machine.n_hidden} neurons, class means on its line at "
        f"{points(machine.means_)} (variances {points(machine.variances_)}), "
        f"divergence {machine.divergence_:.2f}."
    )
    click.echo(f"The decision changes at {points(machine.thresholds_)} on that line.")
    dear = machine.with_costs({"malignant": 20})
    click.echo(
        "If missing a malignant tumour costs 20 times a false alarm: "
        f"at {points(dear.thresholds_)}, without refitting."
    )
    chosen = [np.flatnonzero(y_new == label)[0] for label in machine.classes_]
    click.echo("\nProbabilities of one tumour of each kind:")
    for i, p in zip(chosen, machine.predict_proba(X_new[chosen]), strict=True):
        told = ", ".join(f"{q:.4f} {c}" for q, c in zip(p, machine.classes_, strict=True))
        click.echo(f"  {y_new[i]:10} {told}")


def _report(out: Path, X: Any, y: Any, X_new: Any, y_new: Any) -> None:
    """A page about a machine that chooses its own size."""
    columns = [str(name) for name in load_breast_cancer().feature_names]
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
    chooser = EEMClassifierCV(n_hidden=(50, 100, 250, 500), random_state=SEED).fit(X, y)
    write_report(out, chooser, X_new, y_new, about=about)
    click.echo(f"\nA report to open in a browser, with costs to play with: {out}")
