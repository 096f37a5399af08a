"""A report on a model of a table, evaluated on the rows of another table."""

from __future__ import annotations

from pathlib import Path

from ..tables.model import LabelledRows, TableModel
from ..tables.reading import Source
from .about import About
from .build import report_on_batches, write_page


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
    dropped = model.columns.dropped.items()

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
            warnings=[
                *facts.warnings,
                *(f"Column {name} was left out: {reason}" for name, reason in dropped),
            ],
        )

    write_page(path, report_on_batches(model.classifier, rows, about))
