"""Checks on mixed tables of the open half: calibration, importances, and what a seed changes.

Of tables with at least eight columns, three of them text and three numbers, up to 8000 rows.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from scipy.stats import spearmanr
from sklearn.inspection import permutation_importance
from sklearn.metrics import average_precision_score, log_loss
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from extreme_entropy import ExtremeEntropyClassifier

from ..datasets.field import load_field
from ..store import Row, Run, rows_of, runs
from .markdown import cell
from .tables import TEST, rows_at_most

Array = np.ndarray[Any, Any]

MIXED = (
    *("wife-insured", "bad-credit", "phone-churn", "loan-rate", "suicides", "newborn-weight"),
    *("disability", "inactive", "childless", "college", "kakadu", "saratoga", "guzzlers", "swings"),
)
MOST_ROWS = 8000
SPLITS = 3
SEEDS = 6
BINS = 10
REPEATS = 10  # of a permutation importance
TINY = 1e-12


def calibration_error(y: Array, p: Array, bins: int = BINS) -> float:
    """The expected calibration error: |mean probability − frequency| over bins of equal size."""
    parts = np.array_split(np.argsort(p, kind="stable"), bins)
    gaps = [abs(p[part].mean() - y[part].mean()) * len(part) for part in parts if len(part)]
    return float(sum(gaps) / len(y))


def checked(name: str, checks: Sequence[str], models: dict[str, Any]) -> Iterator[Row]:
    """The rows of a table for some checks; `models` make predictions of a split."""
    X, y = rows_at_most(*load_field(name), MOST_ROWS)
    about = {"dataset": name, "rows": len(y), "columns": X.shape[1]}
    for split in range(SPLITS):
        parts = train_test_split(X, y, test_size=TEST, stratify=y, random_state=split)
        for model, predict in models.items() if "calibration" in checks else ():
            p = predict(split, *parts[:3])
            yield {
                **{"check": "calibration", **about, "split": split, "model": model},
                "calibration_error": round(calibration_error(parts[3], p), 5),
                "log_loss": round(log_loss(parts[3], np.clip(p, TINY, 1 - TINY)), 5),
            }
        if "importances" in checks:
            yield {"check": "importances", **about, "split": split, **agreement(split, *parts)}
    if "seeds" in checks:
        yield {"check": "seeds", **about, **of_seeds(*parts)}


def ours(seed: int, X: Any, y: Array) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of identifiers, and few rows in a class
        return ExtremeEntropyClassifier(random_state=seed).fit(X, y)


def agreement(seed: int, X: Any, X_test: Any, y: Array, y_test: Array) -> Row:
    """Rank correlations of importances, and of mean |explain|, with permutation importance."""
    classifier = ours(seed, X, y)
    theirs = permutation_importance(
        classifier, X_test, y_test, scoring="neg_log_loss", n_repeats=REPEATS, random_state=seed
    ).importances_mean
    contributions = abs(classifier.explain(X_test[:300])).mean(axis=0)
    half = np.arange(len(y_test)) % 2 == 0
    halves = [
        permutation_importance(
            *(classifier, X_test[part], y_test[part]),
            **{"scoring": "neg_log_loss", "n_repeats": REPEATS, "random_state": seed},
        ).importances_mean
        for part in (half, ~half)
    ]
    return {
        "importances": _correlation(classifier.feature_importances_, theirs),
        "explanations": _correlation(contributions, theirs),
        "halves": _correlation(*halves),
    }


def _correlation(a: Array, b: Array) -> float:
    return round(float(spearmanr(a, b).statistic), 4)


def of_seeds(X: Any, X_test: Any, y: Array, y_test: Array) -> Row:
    """How far probabilities of two seeds, or of means of three, are apart; and their scores."""
    with threadpool_limits(1):
        start = time.process_time()
        fitted = [ours(seed, X, y) for seed in range(SEEDS)]
        seconds = time.process_time() - start
    p = np.array([classifier.predict_proba(X_test)[:, 1] for classifier in fitted])
    triples = np.array([p[list(chosen)].mean(axis=0) for chosen in combinations(range(SEEDS), 3)])
    pairs = [(p[i], p[j]) for i, j in combinations(range(SEEDS), 2)]
    opposite = [(triples[i], triples[-1 - i]) for i in range(len(triples) // 2)]
    row: Row = {"fit_seconds": round(seconds / SEEDS, 4)}
    for drawn, apart in ((1, pairs), (3, opposite)):
        gaps = np.concatenate([abs(a - b) for a, b in apart])
        row[f"mean_{drawn}"] = round(float(gaps.mean()), 5)
        row[f"p99_{drawn}"] = round(float(np.quantile(gaps, 0.99)), 5)
        row[f"largest_{drawn}"] = round(float(gaps.max()), 5)
    for drawn, means in ((1, p), (3, triples), (SEEDS, p.mean(axis=0)[np.newaxis])):
        losses = [log_loss(y_test, np.clip(q, TINY, 1 - TINY)) for q in means]
        areas = [average_precision_score(y_test, q) for q in means]
        row[f"log_loss_{drawn}"] = round(float(np.mean(losses)), 5)
        row[f"pr_auc_{drawn}"] = round(100 * float(np.mean(areas)), 3)
    return row


# ------------------------------------------------------------------ the page


def sections() -> list[str]:
    """What docs/field.md says of the newest rows; nothing where there are none."""
    rows = {check: latest(check) for check in PARTS}
    if not all(rows.values()):
        return []
    parts = [line for check, part in PARTS.items() for line in part(rows_of(rows[check]))]
    measured = {
        f"- {check}: commit {run.facts['commit']}, {run.facts['run'][:10]}": None
        for check in PARTS
        for run in rows[check]
    }
    return [*INTRODUCTION.splitlines(), "", *measured, "", *parts]


def latest(check: str) -> list[Run]:
    """The newest rows of a check, for each table."""
    of_check = [
        Run(run.facts, [row for row in run.rows if row["check"] == check])
        for run in runs("field_checks")
    ]
    last = {row["dataset"]: i for i, run in enumerate(of_check) for row in run.rows}
    kept = [
        Run(run.facts, [row for row in run.rows if last[row["dataset"]] == i])
        for i, run in enumerate(of_check)
    ]
    return [run for run in kept if run.rows]


def _lines(heads: list[str], lines: dict[str, list[str]]) -> list[str]:
    shown = [f"| {name} | " + " | ".join(cells) + " |" for name, cells in lines.items()]
    return ["| " + " | ".join(["table", *heads]) + " |", "|---" * (len(heads) + 1) + "|", *shown]


def _means(rows: list[Row], by: str, *measures: str) -> dict[str, list[float]]:
    """The means of measures over the rows of each table, then over tables."""
    found: dict[str, list[float]] = {}
    for name in dict.fromkeys(row[by] for row in rows):
        of_name = [row for row in rows if row[by] == name]
        found[name] = [float(np.mean([row[m] for row in of_name])) for m in measures]
    return {**found, "**mean**": np.mean([*found.values()], axis=0).tolist()}


def calibration(rows: list[Row]) -> list[str]:
    models = list(dict.fromkeys(row["model"] for row in rows))
    by_model = {
        model: _means([r for r in rows if r["model"] == model], "dataset", "calibration_error")
        for model in models
    }
    lines = {
        name: [cell(100 * by_model[model][name][0], ".2f") for model in models]
        for name in by_model[models[0]]
    }
    return ["### Expected calibration error in percent", "", *_lines(models, lines), ""]


def importances(rows: list[Row]) -> list[str]:
    found = _means(rows, "dataset", "importances", "explanations", "halves")
    lines = {name: [cell(value, ".2f") for value in values] for name, values in found.items()}
    heads = ["`feature_importances_`", "mean of absolute `explain`", "two halves of the rows"]
    title = "### Rank correlation with held-out permutation importance"
    return [title, "", *_lines(heads, lines), ""]


def seeds(rows: list[Row]) -> list[str]:
    apart = _means(rows, "dataset", *(f"{m}_{n}" for n in (1, 3) for m in ("mean", "p99")))
    scores = _means(
        rows, "dataset", *(f"{m}_{n}" for m in ("log_loss", "pr_auc") for n in (1, 3, 6))
    )
    lines = {
        name: [
            *(cell(value, ".3f") for value in apart[name]),
            *(cell(value, form) for value, form in zip(scores[name], FORMS, strict=True)),
        ]
        for name in apart
    }
    heads = ["mean", "99 %", "mean, of 3", "99 %, of 3"]
    heads += [f"{title} of {n}" for title in ("log-loss", "PR-AUC") for n in (1, 3, SEEDS)]
    return ["### What another seed changes", "", *_lines(heads, lines), ""]


PARTS = {"calibration": calibration, "importances": importances, "seeds": seeds}
FORMS = (".4f", ".4f", ".4f", ".2f", ".2f", ".2f")

INTRODUCTION = f"""## Calibration, importances and seeds on mixed tables

*From `paper/rows/field_checks.jsonl`.* Tables of the open half with at least eight columns, three
of them text and three numbers, up to {MOST_ROWS} rows; {SPLITS} stratified splits as above, all
parameters defaults. The expected calibration error is |mean probability − frequency|, averaged over
{BINS} bins of equally many held-out rows. Permutation importance is the growth of the log-loss on
held-out rows, over {REPEATS} shuffles; "two halves" is its rank correlation with itself on two
halves of these rows, which says how much of it is chance. Seeds: the absolute difference of single
probabilities between two of {SEEDS} values of `random_state`, its mean and its 99th percentile,
and the same between means of three seeds each; then scores of one seed, and of means of 3 and
{SEEDS}."""
