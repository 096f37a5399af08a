"""Tables side by side with the paper, as Markdown."""

from __future__ import annotations

from statistics import median

from .claims import TITLES, datasets_of, models_of
from .verdicts import Cell, counts, whole_repeats

MARKS = {
    "within 1 point": "=",
    "within the printed spread": "≈",
    "differs": "≠",
    "not run": "",
    "not claimed": "+",
    "faster": "",
    "slower": "",
}


def table_page(table: str, found: list[Cell]) -> str:
    """One table: each cell ours / the paper's, with a mark for the verdict."""
    by_place = {(cell.claim.dataset, cell.claim.model): cell for cell in found}
    models = models_of(table)
    lines = [
        f"## {TITLES[table]}",
        "",
        "Each cell: ours / the paper's. " + _legend(table),
        "",
        "| | " + " | ".join(models) + " |",
        "|---|" + "--:|" * len(models),
    ]
    for dataset in datasets_of(table):
        shown = (_shown(by_place[dataset, model]) for model in models)
        lines.append(f"| {dataset} | " + " | ".join(shown) + " |")
    return "\n".join([*lines, "", *_summary(table, found), ""])


def _legend(table: str) -> str:
    if table.endswith("times"):
        return "Seconds of one fit with the best setting; the paper's machine was another."
    return "= within 1 point, ≈ within the printed spread, ≠ differs, + the paper has none."


def _shown(cell: Cell) -> str:
    digits = 2 if cell.claim.table.endswith("times") else 1
    theirs = "–" if cell.claim.value is None else f"{cell.claim.value:g}"
    theirs = f"> {theirs}" if cell.claim.over else theirs
    ours = "–" if cell.value is None else f"{cell.value:.{digits}f}"
    return f"{ours} / {theirs} {MARKS[cell.verdict]}".rstrip()


def _summary(table: str, found: list[Cell]) -> list[str]:
    run = [cell for cell in found if cell.value is not None]
    reasons = dict.fromkeys(cell.reason for cell in found if cell.reason)
    lines = [
        f"{len(run)} of {len(found)} cells run, each on {whole_repeats(found)} or more whole "
        "repetitions of ten folds: "
        + ", ".join(f"{count} {verdict}" for verdict, count in counts(found).items())
        + "."
    ]
    if not table.endswith("times"):
        for name in ("EEM and EEKM", "WELM, LS-SVM and SVM"):
            ours = name.startswith("EEM")
            gaps = [
                abs(cell.value - cell.claim.value)
                for cell in run
                if cell.claim.model.startswith("EE") == ours
                and cell.claim.value is not None
                and cell.value is not None
            ]
            if gaps:
                lines.append(f"Median difference of {name}: {median(gaps):.1f} points.")
    return [*lines, *(f"Not run: {reason}." for reason in reasons)]
