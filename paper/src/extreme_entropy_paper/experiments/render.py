"""Tables side by side with the paper, as Markdown, HTML and LaTeX."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from statistics import median

from .claims import TITLES, datasets_of, models_of
from .explanations import explain
from .verdicts import Cell, counts

MANY = 20  # cells that are counted rather than named
MARKS = {
    "within 1 point": "=",
    "within the printed spread": "≈",
    "differs": "≠",
    "not run": "",
    "not claimed": "+",
    "faster": "",
    "slower": "",
}
# What LaTeX reads otherwise, and signs its common fonts lack.
LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "≈": r"$\approx$",
    "≠": r"$\neq$",
    "–": "--",
    ">": "$>$",
    "σ": r"$\sigma$",
}


@dataclass(frozen=True, slots=True)
class PageTable:
    """A table in words, before it has a format."""

    title: str
    legend: str
    columns: list[str]
    rows: list[list[str]]  # the first word of each is its name
    summary: list[str]


def table_of(table: str, found: list[Cell]) -> PageTable:
    """One table: each cell ours / the paper's, with a mark for the verdict."""
    by_place = {(cell.claim.dataset, cell.claim.model): cell for cell in found}
    models = models_of(table)
    return PageTable(
        TITLES[table],
        "Each cell: ours / the paper's. " + _legend(table),
        models,
        [
            [dataset, *(_shown(by_place[dataset, model]) for model in models)]
            for dataset in datasets_of(table)
        ],
        summary_of(table, found),
    )


def markdown(table: PageTable) -> str:
    """For reading in a repository."""
    lines = [
        f"## {table.title}",
        "",
        table.legend,
        "",
        "| | " + " | ".join(table.columns) + " |",
        "|---|" + "--:|" * len(table.columns),
        *("| " + " | ".join(row) + " |" for row in table.rows),
        "",
        *(f"- {words}" for words in table.summary),
        "",
    ]
    return "\n".join(lines)


def html(table: PageTable) -> str:
    """One page that needs nothing else."""

    def line(words: list[str], tag: str) -> str:
        first, *others = map(escape, words)
        cells = "".join(f"<{tag}>{word}</{tag}>" for word in others)
        return f"<tr><th scope='row'>{first}</th>{cells}</tr>"

    title = escape(table.title)
    body = "\n".join(line(row, "td") for row in table.rows)
    summary = "\n".join(f"<li>{escape(words)}</li>" for words in table.summary)
    return f"""<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; font-family: system-ui, sans-serif }}
body {{ margin: 2rem auto; max-width: 75rem; padding: 0 1rem }}
div {{ overflow-x: auto }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums }}
th, td {{ padding: .3rem .6rem; border-bottom: 1px solid #8886; white-space: nowrap }}
td {{ text-align: right }} th[scope=row] {{ text-align: left }}
</style></head>
<body><h1>{title}</h1>
<p>{escape(table.legend)}</p>
<div><table>
<thead>{line(["", *table.columns], "th scope='col'").replace("</th scope='col'>", "</th>")}</thead>
<tbody>
{body}
</tbody></table></div>
<ul>
{summary}
</ul>
</body></html>
"""


def latex(table: PageTable) -> str:
    """For a paper; needs the package booktabs."""

    def words(text: str) -> str:
        return "".join(LATEX.get(sign, sign) for sign in text)

    lines = [
        r"\begin{table}",
        rf"\caption{{{words(table.title)}. {words(table.legend)}}}",
        rf"\begin{{tabular}}{{l{'r' * len(table.columns)}}}",
        r"\toprule",
        " & ".join(["", *map(words, table.columns)]) + r" \\",
        r"\midrule",
        *(" & ".join(map(words, row)) + r" \\" for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
        "",
    ]
    return "\n".join(lines)


FORMATS: dict[str, Callable[[PageTable], str]] = {".md": markdown, ".html": html, ".tex": latex}


def _legend(table: str) -> str:
    if table.endswith("times"):
        return "Seconds of one fit with the best setting; the paper's computer was another."
    return "= within 1 point, ≈ within the printed spread, ≠ differs, + the paper has none."


def _shown(cell: Cell) -> str:
    digits = 2 if cell.claim.table.endswith("times") else 1
    theirs = "–" if cell.claim.value is None else f"{cell.claim.value:g}"
    theirs = f"> {theirs}" if cell.claim.over else theirs
    ours = "–" if cell.value is None else f"{cell.value:.{digits}f}"
    return f"{ours} / {theirs} {MARKS[cell.verdict]}".rstrip()


def summary_of(table: str, found: list[Cell]) -> list[str]:
    run = [cell for cell in found if cell.value is not None]
    lines = [
        f"{len(run)} of {len(found)} cells run, {_folds(run)}: "
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
    return [*lines, *_explanations(found)]


def _folds(run: list[Cell]) -> str:
    """On how many folds: of most cells, and of those with fewer."""
    numbers = Counter(cell.folds for cell in run)
    if not numbers:
        return "none"
    parts = [f"{count} on {folds} folds" for folds, count in sorted(numbers.items(), reverse=True)]
    return ", ".join(parts)


def _explanations(found: list[Cell]) -> list[str]:
    """Why cells differ or were not run, those with the same reason together."""
    together: dict[tuple[str, str], list[str]] = {}
    for cell in found:
        if cell.verdict in ("differs", "not run"):
            about = cell.verdict.capitalize(), cell.reason or explain(cell.claim)
            place = f"{cell.claim.model} on {cell.claim.dataset}"
            together.setdefault(about, []).append(place)
    return [
        f"{verdict}: {', '.join(places) if len(places) <= MANY else f'{len(places)} cells'}: {why}."
        for (verdict, why), places in together.items()
    ]
