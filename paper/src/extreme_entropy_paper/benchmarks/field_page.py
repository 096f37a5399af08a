"""docs/field.md and its pictures, from the rows of `bench field`."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import rankdata, wilcoxon

from ..datasets.field import FIELDS
from ..places import ROOT
from ..store import Row, Run, measured_on, rows_of, runs
from .field_checks import sections
from .field_pictures import accuracy_against_time, mean_ranks
from .markdown import embed

OURS, LIGHTGBM, LOGISTIC = "ours", "LightGBM", "LogisticRegression"
OTHERS = (
    *(LIGHTGBM, "CatBoost", "XGBoost", "HistGradientBoosting", "BalancedRandomForest"),
    LOGISTIC,
)
HALVES = {"open": "The open half", "aside": "The half set aside", "all": "All tables"}
# Measure → its name, its format, and whether more of it is better.
MEASURES = {
    "gmean": ("GMean", ".2f", True),
    "auc": ("AUC", ".2f", True),
    "pr_auc": ("PR-AUC", ".2f", True),
    "log_loss": ("log-loss", ".4f", False),
}
SIZES = {"< 5000": 0, "5000 to 20 000": 5_000, "20 000 and more": 20_000}  # rows, from
BEHIND = 0.5  # points of AUC
MOST_LOSSES = 10
PICTURED = "pr_auc"
FRONT_PAGES = (ROOT / "README.md", ROOT / "docs" / "index.md")
SHOWN = {OURS: "ExtremeEntropyClassifier"}
Means = dict[str, dict[str, float]]  # label → table → mean over splits


def latest() -> list[Run]:
    """Of each table, split and label the newest row."""
    found = runs("field")
    last = {_key(row): i for i, run in enumerate(found) for row in run.rows}
    kept = [
        Run(run.facts, list({_key(r): r for r in run.rows if last[_key(r)] == i}.values()))
        for i, run in enumerate(found)
    ]
    return [run for run in kept if run.rows]


def _key(row: Row) -> tuple[Any, ...]:
    return row["dataset"], row["split"], row["label"]


def of_half(rows: list[Row], half: str) -> list[Row]:
    """The rows of a half by those labels that have all its tables."""
    rows = [row for row in rows if half in ("all", row["half"])]
    tables = {row["dataset"] for row in rows}
    labels = {row["label"] for row in rows}
    whole = {n for n in labels if tables == {r["dataset"] for r in rows if r["label"] == n}}
    return [row for row in rows if row["label"] in whole]


def means(rows: list[Row], measure: str) -> Means:
    """The mean over splits, for each label and table."""
    found: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        found.setdefault(row["label"], {}).setdefault(row["dataset"], []).append(row[measure])
    return {
        label: {table: float(np.mean(values)) for table, values in sorted(tables.items())}
        for label, tables in sorted(found.items(), key=lambda item: _place(item[0]))
    }


def _place(label: str) -> int:
    """Where a label stands: ours first, then the others, in whatever order they were measured."""
    return -1 if _is_ours(label) else OTHERS.index(label)


def _is_ours(label: str) -> bool:
    return label.split(",")[0] == OURS


def _table(heads: list[str], lines: list[list[str]]) -> list[str]:
    shown = ["| " + " | ".join(cells) + " |" for cells in (heads, *lines)]
    return [shown[0], "|---" * len(heads) + "|", *shown[1:], ""]


# ------------------------------------------------------------------ sections


def scores(rows: list[Row]) -> list[str]:
    """Of each label the mean and the mean rank of each measure."""
    heads, columns = ["model"], []
    labels = list(means(rows, "auc"))
    for measure, (title, form, largest) in MEASURES.items():
        found = means(rows, measure)
        values = np.array([list(found[label].values()) for label in labels])
        ranks = rankdata(-values if largest else values, axis=0).mean(axis=1)
        heads += [title, "rank"]
        columns.append([format(value, form) for value in values.mean(axis=1)])
        columns.append([f"{rank:.2f}" for rank in ranks])
    return _table(heads, [list(line) for line in zip(labels, *columns, strict=True)])


def tests(rows: list[Row], own: str) -> list[str]:
    """Ours against each other label: mean difference, tables won and lost, and Wilcoxon's p."""
    lines = []
    for other in means(rows, "auc"):
        if other == own:
            continue
        cells = [other]
        for measure, (_, form, largest) in MEASURES.items():
            found = means(rows, measure)
            lead = np.array([found[own][t] - found[other][t] for t in found[own]])
            won, lost = int((lead > 0).sum()), int((lead < 0).sum())
            if not largest:
                won, lost = lost, won
            p = wilcoxon(lead).pvalue if won + lost else 1.0
            cells.append(f"{lead.mean():+{form}} ({won}:{lost}), {_p(p)}")
        lines.append(cells)
    return _table([f"{own} against", *(title for title, _, _ in MEASURES.values())], lines)


def _p(value: float) -> str:
    return (
        "p < 0.0001" if value < 1e-4 else f"p = {value:.4f}" if value < 0.1 else f"p = {value:.2f}"
    )


def times(rows: list[Row], measure: str) -> list[str]:
    """Times over LightGBM's, by the size of a table: mean and median of the tables' ratios."""
    found = means(rows, measure)
    size = {row["dataset"]: row["rows"] for row in rows}
    within = {
        name: [t for t in found[LIGHTGBM] if size[t] >= least and _class(size[t]) == name]
        for name, least in SIZES.items()
    }
    named = {name: tables for name, tables in within.items() if tables}
    lines = []
    for label, seconds in found.items():
        cells = [label]
        for tables in (*named.values(), list(size)):
            ratios = [_over(seconds[t], found[LIGHTGBM][t]) for t in tables]
            cells.append(f"{np.mean(ratios):.2f}, {np.median(ratios):.2f}")
        lines.append(cells)
    counts = [f"{name} rows ({len(tables)})" for name, tables in named.items()]
    return _table(["model", *counts, f"all ({len(size)})"], lines)


def _class(rows: int) -> str:
    return [name for name, least in SIZES.items() if rows >= least][-1]


def _over(seconds: float, other: float) -> float:
    return max(seconds, 1e-5) / max(other, 1e-5)  # what the clock can tell


def behind_logistic(rows: list[Row], own: str) -> list[str]:
    """Tables on which ours is more than half a point of AUC behind logistic regression."""
    auc = means(rows, "auc")
    lead = {t: auc[own][t] - auc[LOGISTIC][t] for t in auc[own]}
    named = [
        f"{t} {lead[t]:+.2f} ({auc[own][t]:.2f} against {auc[LOGISTIC][t]:.2f})"
        for t in sorted(lead, key=lambda t: lead[t])
        if lead[t] < -BEHIND
    ]
    return [
        f"**{own}** is more than {BEHIND:g} points of AUC behind logistic regression on "
        f"{len(named)} of {len(lead)} tables: {', '.join(named) or 'none'}.",
        "",
    ]


def losses(rows: list[Row], own: str) -> list[str]:
    """The largest losses of PR-AUC to the best of the others, which is chosen in hindsight."""
    found = means(rows, "pr_auc")
    others = [label for label in found if not _is_ours(label)]
    best = {t: max((found[label][t], label) for label in others) for t in found[own]}
    lead = {t: found[own][t] - best[t][0] for t in best}
    worst = [t for t in sorted(lead, key=lambda t: lead[t]) if lead[t] < 0][:MOST_LOSSES]
    named = [f"{t} {lead[t]:+.2f} ({best[t][1]} {best[t][0]:.2f})" for t in worst]
    return [f"Its largest losses of PR-AUC to the best of the others: {', '.join(named)}.", ""]


def section(rows: list[Row], title: str) -> list[str]:
    """All that is said about some tables."""
    labels = list(means(rows, "auc"))
    own = [label for label in labels if _is_ours(label)]
    count = len({row["dataset"] for row in rows})
    lines = [f"## {title}", "", f"{count} tables; scores in percent, but for the log-loss.", ""]
    lines += scores(rows)
    for label in own:
        lines += tests(rows, label)
        if LOGISTIC in labels:
            lines += behind_logistic(rows, label)
        if len(labels) > len(own):
            lines += losses(rows, label)
    if LIGHTGBM in labels:
        lines += ["Time of a fit over LightGBM's, mean and median of the tables:", ""]
        lines += [*times(rows, "fit_seconds"), "Time of `predict_proba` over LightGBM's:", ""]
        lines += times(rows, "predict_seconds")
    return lines


def by_table(rows: list[Row]) -> list[str]:
    """What each table is, and its PR-AUC by every label."""
    found = means(rows, "pr_auc")
    first = {row["dataset"]: row for row in reversed(rows)}
    lines = []
    for name in sorted(first, key=lambda name: first[name]["rows"]):
        row, field = first[name], FIELDS[name]
        share = f"{100 * row['positives'] / row['rows']:.1f}"
        values = {label: f"{cells[name]:.1f}" for label, cells in found.items() if name in cells}
        best = max(values.values(), key=float)
        shown = [f"**{v}**" if (v := values.get(label, "")) == best else v for label in found]
        cells = [name, f"`{field.source}`", f"`{field.positive}`".replace("|", "\\|")]
        lines.append([*cells, str(row["rows"]), str(row["columns"]), share, *shown])
    heads = ["table", "source", "positive", "rows", "columns", "% positive", *found]
    return ["## PR-AUC of each table", "", *_table(heads, lines)]


def page(rows: list[Row]) -> list[str]:
    """The lines of docs/field.md."""
    lines = [*INTRODUCTION.splitlines(), ""]
    halves = {row["half"] for row in rows}
    for half, title in HALVES.items():
        if half in halves or (half == "all" and len(halves) > 1):
            lines += section(of_half(rows, half), title)
    return [*lines, *sections(), *by_table(rows)]


def render() -> str:
    """docs/field.md from the newest rows."""
    found = latest()
    labels = [
        f"- {label}: commit {run.facts['commit']}"
        for run in found
        for label in sorted({row["label"] for row in run.rows if row["model"] == OURS})
    ]
    return "\n".join([*page(rows_of(found)), *measured_on(found)[:-1], *dict.fromkeys(labels), ""])


def front_table() -> list[str]:
    """The table of the front pages: means over all tables that every model was measured on."""
    rows = [row for row in rows_of(latest()) if row["label"] in (OURS, row["model"])]
    rows = of_half(rows, "all")
    scored = {measure: means(rows, measure) for measure in (*MEASURES, "fit_seconds")}
    n = len({row["dataset"] for row in rows})
    titles = [title if form == ".4f" else f"{title}, %" for title, form, _ in MEASURES.values()]
    heads = [f"mean of {n} tables", *titles, "fit time ÷ LightGBM's"]
    lines = ["| " + " | ".join(heads) + " |", "|---" + "|--:" * (len(heads) - 1) + "|"]
    base = scored["fit_seconds"][LIGHTGBM]
    for label in scored["auc"]:
        cells = [f"**{SHOWN[OURS]}**" if label == OURS else label]
        for measure, (_, form, _) in MEASURES.items():
            form = ".3f" if form == ".4f" else ".1f"
            cells.append(format(np.mean([*scored[measure][label].values()]), form))
        seconds = scored["fit_seconds"][label]
        cells.append(f"{np.mean([_over(seconds[t], base[t]) for t in base]):.1f}")
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def with_table(page: str) -> str:
    """A page with the table of the field made anew."""
    return embed(page, "field", front_table())


# ------------------------------------------------------------------ pictures


def pictures(rows: list[Row] | None = None) -> dict[str, str]:
    """File ↦ picture, of the models as they are now, by all tables that have rows."""
    rows = of_half(rows_of(latest()) if rows is None else rows, "all")
    current = [row for row in rows if row["label"] in (OURS, row["model"])]
    score, seconds = means(current, PICTURED), means(current, "fit_seconds")
    if LIGHTGBM not in score:
        return {}
    title, _, _ = MEASURES[PICTURED]
    shown = {label: SHOWN.get(label, label) for label in score}
    base = seconds[LIGHTGBM]
    points = {
        shown[label]: (
            float(np.mean([_over(seconds[label][t], base[t]) for t in base])),
            float(np.mean([*score[label].values()])),
        )
        for label in score
    }
    by_table = {shown[label]: [*score[label].values()] for label in score}
    return {
        "field.svg": accuracy_against_time(points, SHOWN[OURS], title, len(base)),
        "field-ranks.svg": mean_ranks(by_table, SHOWN[OURS], title),
    }


INTRODUCTION = """# A field of tables

*Made by `eem-paper bench field` from `paper/rows/field.jsonl`; do not edit by hand.*

**Tables.** Python packages ship these tables of two classes (`datasets/field.py`); the largest has
85 000 rows. They were chosen by hand before any classifier was run on them: of 206 tables with a
plausible target, 65 were left out, mostly narrow ones, repeated measurements, and tables much like
others. No single column separates the classes. Labels may still leak: in monica, "nk" (not known)
mostly means that the person had died. In some tables, such as german-hospital, union-women,
lectures, storms and graduates-earn, rows of one person, storm or school are on both sides of a
split.

**Splits.** Models are fitted on 70 % of the rows and predict 30 %: three stratified splits for
tables below 2000 rows, one for larger tables.

**Models.** All parameters are defaults (CatBoost has 300 trees). `ExtremeEntropyClassifier()` gets
the frame as it is. For the others, text becomes categories and dates become numbers
([how](tables.md)); CatBoost gets categories as text, BalancedRandomForest gets numbers and medians,
and LogisticRegression gets dummies and standardised columns.

**Scores.** Rows are labelled at the share of positives in training, which ours and
BalancedRandomForest do in their `predict`. PR-AUC is the average precision. Log-loss is that of the
probabilities, ours with `priors="empirical"`; those of BalancedRandomForest are for classes of
equal size. Times are of one thread, without the preparation of the frame, which ours does itself;
each fit is timed once. Wilcoxon's tests compare the means of tables. They are two-sided and not
corrected for their number; in brackets are the numbers of tables won and lost.

**Two halves.** A hash of its name puts each table into one of two halves. The half set aside will
be measured when nothing is to be changed any more; until then it has no rows. Settings were changed
after looking at the open half, so ours may look better there than on your tables.

![Mean PR-AUC against the mean time of a fit](field.svg)

![Mean ranks in PR-AUC, with Nemenyi's critical difference](field-ranks.svg)"""
