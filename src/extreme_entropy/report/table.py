"""A report on a model of a table, evaluated on the rows of another table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..tables.model import LabelledRows, TableModel
from ..tables.reading import Source
from .about import About
from .build import report_on_batches, write_page
from .classifiers import reported


def write_table_report(
    path: str | Path,
    model: TableModel,
    source: Source,
    *,
    title: str = "",
    command: str = "",
    progress: bool = False,
) -> None:
    """Write the page about a model, evaluated on the rows of a table."""
    rows = LabelledRows(model, source, "report on", progress="reading" if progress else None)
    facts = model.facts

    def about() -> About:
        return About(
            title=title,
            data=Path(source.name).name,
            learnt_from=Path(facts.source).name,
            target=model.target,
            columns=[column.name for column in model.columns.used],
            missing=rows.missing,
            left_out=rows.rows_without_label,
            commands=[words for words in (facts.command, command) if words],
            versions=facts.versions,
            seed=facts.seed,
            warnings=[*facts.warnings, *left_out(model.columns.dropped)],
            estimate=facts.estimate,
            baseline=facts.estimate.baseline if facts.estimate else None,
        )

    write_page(path, report_on_batches(reported(model.classifier), rows, about))


def left_out(dropped: Mapping[str, str]) -> list[str]:
    """Sentences on columns that were not used, but for those that the user took out."""
    return [
        f"Column {name} was left out: {reason}"
        for name, reason in dropped.items()
        if not reason.startswith("left out by --drop")
    ]
