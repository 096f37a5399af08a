"""`eem-paper bench`: the benchmarks, one module each."""

from __future__ import annotations

import click

from .root import LazyGroup


@click.group(
    cls=LazyGroup,
    package="extreme_entropy_paper.benchmarks",
    modules=(
        *("quick", "limit", "growth", "latency", "one_pass", "entropy", "command", "calls"),
        *("cluster", "streaming", "speed", "defaults", "multiclass", "speed_page"),
        *("relevance_cost", "tables", "large", "more_rows", "front_page", "onnx", "sizes"),
        *("boosting", "unchanged", "thread_calls", "field", "several"),
    ),
)
def bench() -> None:
    """Measure speed, memory and scores; rows go to paper/rows, pages are made from them."""
