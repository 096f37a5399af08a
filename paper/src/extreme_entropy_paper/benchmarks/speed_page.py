"""docs/speed.md, from the newest rows of several benchmarks."""

from __future__ import annotations

import click

from ..places import DOCS
from ..store import measured_on, newest, rows_of
from .markdown import cell


def limit_table() -> list[str]:
    """Our fit over the bare products, activations and ?syrk."""
    runs = newest("limit")
    measured = rows_of(runs)
    count = f"{measured[0]['rows']:,}".replace(",", " ")
    return [
        "## How close to the limit?",
        "",
        f"Forest-cover shape, {count} × 54. The limit is the product with the weights, the",
        "exponential and HᵀH, bare, with the same threads. The default does",
        "more than that: it ranks values, keeps five folds apart, and tries four ridges.",
        "",
        "| h | precision | model | limit, s | fit, s | ratio | peak beyond X, MB |",
        "|--:|---|---|--:|--:|--:|--:|",
        *(
            f"| {r['h']} | {r['dtype']} | {r['model']} | {r['limit_seconds']:.2f} | "
            f"{r['fit_seconds']:.2f} | {r['ratio']:.2f} | {r['peak_mb_beyond_x']} |"
            for r in measured
        ),
        "",
        *measured_on(runs, level=3),
    ]


def growth_table() -> list[str]:
    """Time and memory against rows and hidden size."""
    runs = newest("growth")
    measured = rows_of(runs)
    first = measured[0]
    return [
        "## How does the cost grow?",
        "",
        "Default classifier, 20 columns, streamed through `fit_batches`. Time grows like "
        f"rows^{first['exponent_of_rows']:.3f} and h^{first['exponent_of_h']:.3f} "
        "over what is shown.",
        "",
        "| rows | h | fit, s | peak, MB |",
        "|--:|--:|--:|--:|",
        *(
            f"| {r['rows']:,} | {r['h']} | {r['fit_seconds']:.2f} | {r['peak_mb']} |"
            for r in measured
        ),
        "",
        *measured_on(runs, level=3),
    ]


def latency_table() -> list[str]:
    """Predictions and imports."""
    runs = newest("latency")
    measured = rows_of(runs)
    return [
        "## What does a prediction cost, and an import?",
        "",
        "54 columns, h = 500. The limit is the bare product and exponential.",
        "",
        "| what | model | ms | × LogisticRegression (or sklearn.linear_model) | × limit |",
        "|---|---|--:|--:|--:|",
        *(
            f"| {r['what']} | {cell(r['model'])} "
            f"| {r['milliseconds']:{'.3f' if r['model'] else '.0f'}} "
            f"| {r['x_logistic']:.2f} | {cell(r['x_limit'], '.2f')} |"
            for r in measured
        ),
        "",
        *measured_on(runs, level=3),
    ]


def one_pass_table() -> list[str]:
    """All folds and sizes beside one fit and beside GridSearchCV."""
    runs = newest("one_pass")
    measured = rows_of(runs)
    sizes = ", ".join(map(str, measured[0]["sizes"]))
    return [
        "## What do all folds and sizes cost?",
        "",
        f"`EEMClassifierCV` with ten folds and sizes {sizes} on",
        f"protein homology, {measured[0]['rows']:,} × 74, beside one plain fit of the largest",
        "size and `GridSearchCV` over the same folds and sizes, all with the same threads.",
        "",
        "| model | plain fit, s | all folds and sizes, s | × fit | GridSearchCV, s | × ours "
        "| winner, theirs | GMean, theirs | peak, MB |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
        *(
            f"| {r['model']} | {r['fit_seconds']:.2f} | {r['cv_seconds']:.2f} "
            f"| {r['cv_x_fit']:.2f} | {r['grid_seconds']:.2f} | {r['grid_x_cv']:.1f} "
            f"| {r['winner']}, {r['grid_winner']} "
            f"| {r['gmean']:.2f}, {r['grid_gmean']:.2f} | {r['peak_mb']} |"
            for r in measured
        ),
        "",
        *measured_on(runs, level=3),
    ]


def entropy_table() -> list[str]:
    """The divergence of kernel densities."""
    runs = newest("entropy")
    measured = rows_of(runs)
    return [
        "## What does the divergence of two samples cost?",
        "",
        "`kde_divergence` on one thread, and its error relative to the exact double sum where that",
        "was computed.",
        "",
        "| samples | points a side | D | ms | peak, MB | relative error |",
        "|---|--:|--:|--:|--:|--:|",
        *(
            f"| {r['shape']} | {r['points_a_side']:,} | {r['divergence']:.6g} "
            f"| {r['milliseconds']:.1f} | {r['peak_mb']} | {cell(r['relative_error'], '.1e')} |"
            for r in measured
        ),
        "",
        *measured_on(runs, level=3),
    ]


def calls_table() -> list[str]:
    """Functions and files on the way of rows, run by run."""
    runs = newest("calls", by="commit")
    return [
        "## How many functions does a row pass?",
        "",
        "Named functions and files of the library that a call passes through, the deepest nesting",
        "of its own functions, and how often a row is hashed, a column scanned and a CSV header",
        "parsed, on scikit-learn's breast cancer data (`eem-paper bench calls`).",
        "",
        "| commit | call | functions | files | depth | calls | hashes of a row | scans of a column "
        "| headers parsed |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|",
        *(
            f"| {r['commit']} | {r['call']} | {r['functions']} | {r['files']} | {r['depth']} "
            f"| {r['calls']} | {r['row_hashes']:.1f} | {r['column_scans']:.1f} "
            f"| {r['header_parses']} |"
            for r in rows_of(runs)
        ),
        "",
    ]


def threads_table() -> list[str]:
    """Calls in worker threads and processes over the same calls in the main thread."""
    runs = newest("thread_calls")
    measured = rows_of(runs)
    places = list(dict.fromkeys(r["place"] for r in measured))
    by_call: dict[tuple[str, str], list[str]] = {}
    for r in measured:
        shown = f"{r['x_main']:.2f}" if r["place"] != places[0] else f"{r['milliseconds']:.2f}"
        by_call.setdefault((r["model"], r["call"]), []).append(shown)
    return [
        "## Are calls slower outside the main thread?",
        "",
        "3000 × 10 made-up rows, best of several (`eem-paper bench thread-calls`). The main",
        "thread's times are in milliseconds, the others are multiples of them. In the last",
        "three columns two calls run at the same time, each with its own classifier, and the",
        "slower one counts. Times in loky's processes do not include sending the rows. These",
        "processes share no lock, so a multiple near 2 there means that the computer could not",
        "run two calls side by side at the time (other work, or cores that share hardware).",
        "Where that is so, the two columns of threads do not show what threads themselves cost.",
        "Calls that take a few milliseconds spend most of them in Python's interpreter, which runs",
        "one thread at a time: two of them at once take up to three times as long. Calls with more",
        "rows run side by side.",
        "",
        f"| model | call | {places[0]}, ms | {' | '.join(places[1:])} |",
        "|---|---|" + "--:|" * len(places),
        *(f"| {' | '.join([*of, *shown])} |" for of, shown in by_call.items()),
        "",
        *measured_on(runs, level=3),
    ]


def page() -> str:
    """docs/speed.md."""
    lines = [
        "# Speed",
        "",
        "*Made by `eem-paper bench speed-page` from `paper/rows/`; do not edit by hand.",
        "`make -C paper bench` measures; times are compared only within one run.*",
        "",
        "Other classifiers: [speed compared](speed-baselines.md).",
        "",
        *limit_table(),
        *growth_table(),
        *latency_table(),
        *one_pass_table(),
        *entropy_table(),
        *calls_table(),
        *threads_table(),
    ]
    return "\n".join(lines)


@click.command("speed-page")
def speed_page() -> None:
    """Make docs/speed.md from the rows."""
    (DOCS / "speed.md").write_text(page())
