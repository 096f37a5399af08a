"""docs/speed.md and the README's table, from the newest rows in results/.

python benchmarks/page.py
"""

from __future__ import annotations

from pathlib import Path

import rows

ROOT = Path(__file__).parent.parent
BEGIN, END = "<!-- speed: made by benchmarks/page.py -->", "<!-- end of speed -->"


def limit_table() -> list[str]:
    """Our fit over the bare products, activations and ?syrk."""
    measured = rows.read("limit")
    count = f"{int(measured[0]['rows']):,}".replace(",", " ")
    return [
        "## How close to the limit?",
        "",
        f"Forest-cover shape, {count} × 54. The limit is the product with the weights, the",
        "exponential and HᵀH, bare, with the same chunks and threads. The default machine does",
        "more than that: it ranks values, keeps five folds apart, and tries four ridges.",
        "",
        "| h | precision | machine | limit, s | fit, s | ratio | peak beyond X, MB |",
        "|--:|---|---|--:|--:|--:|--:|",
        *(
            f"| {r['h']} | {r['dtype']} | {r['machine']} | {float(r['limit_seconds']):.2f} | "
            f"{float(r['fit_seconds']):.2f} | {float(r['ratio']):.2f} | {r['peak_mb_beyond_x']} |"
            for r in measured
        ),
        "",
        *rows.measured_on(measured, level=3),
    ]


def growth_table() -> list[str]:
    """Time and memory against rows and hidden size."""
    measured = rows.read("growth")
    first = measured[0]
    return [
        "## How does the cost grow?",
        "",
        "Default machine, 20 columns, streamed through `fit_batches`. Time grows like "
        f"rows^{first['exponent_of_rows']} and h^{first['exponent_of_h']} over what is shown.",
        "",
        "| rows | h | fit, s | peak, MB |",
        "|--:|--:|--:|--:|",
        *(
            f"| {int(r['rows']):,} | {r['h']} | {float(r['fit_seconds']):.2f} | {r['peak_mb']} |"
            for r in measured
        ),
        "",
        *rows.measured_on(measured, level=3),
    ]


def latency_table() -> list[str]:
    """Predictions and imports."""
    measured = rows.read("latency")
    return [
        "## What does a prediction cost, and an import?",
        "",
        "54 columns, h = 500. The limit is the bare product and exponential.",
        "",
        "| what | model | ms | × LogisticRegression (or sklearn.linear_model) | × limit |",
        "|---|---|--:|--:|--:|",
        *(
            f"| {r['what']} | {r['model']} | {r['milliseconds']} | {r['x_logistic']} "
            f"| {r['x_limit']} |"
            for r in measured
        ),
        "",
        *rows.measured_on(measured, level=3),
    ]


def one_pass_table() -> list[str]:
    """All folds and sizes beside one fit and beside GridSearchCV."""
    measured = rows.read("one_pass")
    return [
        "## What do all folds and sizes cost?",
        "",
        f"`EEMClassifierCV` with ten folds and sizes {measured[0]['sizes'].replace(' ', ', ')} on",
        f"protein homology, {int(measured[0]['rows']):,} × 74, beside one plain fit of the largest",
        "size and `GridSearchCV` over the same folds and sizes, all with the same threads.",
        "",
        "| machine | plain fit, s | all folds and sizes, s | × fit | GridSearchCV, s | × ours "
        "| winner, theirs | GMean, theirs | peak, MB |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
        *(
            f"| {r['machine']} | {r['fit_seconds']} | {r['cv_seconds']} | {r['cv_x_fit']} "
            f"| {r['grid_seconds']} | {r['grid_x_cv']} | {r['winner']}, {r['grid_winner']} "
            f"| {r['gmean']}, {r['grid_gmean']} | {r['peak_mb']} |"
            for r in measured
        ),
        "",
        *rows.measured_on(measured, level=3),
    ]


def entropy_table() -> list[str]:
    """The divergence of kernel densities."""
    measured = rows.read("entropy")
    return [
        "## What does the divergence of two samples cost?",
        "",
        "`kde_divergence` on one thread, and its error relative to the exact double sum where that",
        "was computed.",
        "",
        "| samples | points a side | D | ms | peak, MB | relative error |",
        "|---|--:|--:|--:|--:|--:|",
        *(
            f"| {r['shape']} | {int(r['points_a_side']):,} | {r['divergence']} "
            f"| {r['milliseconds']} | {r['peak_mb']} | {r['relative_error']} |"
            for r in measured
        ),
        "",
        *rows.measured_on(measured, level=3),
    ]


def readme_table() -> list[str]:
    """Forest cover beside rivals, and where it was measured."""
    measured = [
        row for row in rows.read("rivals", by="dataset") if row["dataset"] == "forest_cover"
    ]
    unit = float(measured[0]["fit_seconds"])
    lines = [
        f"| forest cover, {int(measured[0]['rows']):,} × 54, h = {measured[0]['h']} "
        "| fit, s | × | GMean, % |",
        "|---|--:|--:|--:|",
    ]
    for row in measured:
        late = not row["fit_seconds"]
        shown = row["outcome"] if late else f"{float(row['fit_seconds']):.1f}"
        if float(row["cores_elsewhere"] or 0) > 0.25:
            shown += " (machine was busy)"
        ratio = "" if late else f"{float(row['fit_seconds']) / unit:.1f}"
        score = f"{float(row['gmean']):.1f}" if row["gmean"] else ""
        lines.append(f"| {row['model']} | {shown} | {ratio} | {score} |")
    facts = rows.facts(measured)
    return [
        *lines,
        "",
        f"Measured on {facts['machine']}, {facts['date']}, commit {facts['commit']}.",
    ]


def speed_page() -> str:
    """docs/speed.md."""
    page = [
        "# Speed",
        "",
        "*Made by `python benchmarks/page.py` from `benchmarks/results/`; do not edit by hand.",
        "`make bench` measures; times are compared only within one run.*",
        "",
        "Beside other classifiers: [speed beside rivals](speed-rivals.md).",
        "",
        *limit_table(),
        *growth_table(),
        *latency_table(),
        *one_pass_table(),
        *entropy_table(),
    ]
    return "\n".join(page)


def with_table(readme: str) -> str:
    """The README with its table made anew."""
    before, rest = readme.split(BEGIN)
    after = rest.split(END)[1]
    return before + "\n".join([BEGIN, "", *readme_table(), "", END]) + after


def main() -> None:
    (ROOT / "docs" / "speed.md").write_text(speed_page())
    readme = ROOT / "README.md"
    readme.write_text(with_table(readme.read_text()))


if __name__ == "__main__":
    main()
