"""A report on a model of a table: the rows of another table, and what the model knows of itself."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..tables.model import TableModel
from ..tables.reading import Source
from .about import About, present_versions
from .writing import require_extra

Batches = Iterable[Any]


class Rows:
    """Labelled rows of a table, encoded batch by batch, and what was missing in them."""

    def __init__(
        self, model: TableModel, source: Source, watch: Callable[[Batches], Batches] = iter
    ) -> None:
        self._model, self._source, self._watch = model, source, watch
        self._columns = model.require(source)
        self.missing = Counter(dict.fromkeys(self._columns, 0))
        self.left_out = 0

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        for batch in self._watch(self._source.batches(self._columns)):
            there = self._model.labelled(batch)
            self.left_out += batch.num_rows - there.num_rows
            if there.num_rows:
                self.missing.update({n: there.column(n).null_count for n in self._columns})
                yield self._model.encode(there), self._model.labels(there)


def report_on_table(
    model: TableModel,
    source: Source,
    *,
    title: str = "",
    command: str = "",
    watch: Callable[[Batches], Batches] = iter,
) -> str:
    """The page about a model, judged on the rows of a table."""
    require_extra()
    from .evidence import collect
    from .page import render

    rows = Rows(model, source, watch)
    evidence = collect(model.classifier, rows)
    facts = model.facts
    about = About(
        title=title,
        data=Path(source.name).name,
        learnt_from=Path(str(facts.get("source", ""))).name,
        target=model.target,
        columns=[column.name for column in model.columns.used],
        missing=dict(rows.missing),
        left_out=rows.left_out,
        commands=[words for words in (_words(facts.get("command")), command) if words],
        versions=facts.get("versions") or present_versions(),
        seed=facts.get("seed"),
        warnings=[*facts.get("warnings", ()), *_dropped(facts.get("dropped") or {})],
        path=facts.get("path") or (),
    )
    return render(model.classifier, evidence, about)


def _words(command: Any) -> str:
    """A command line, which may be kept as a list of words."""
    return command if isinstance(command, str) else shlex.join(map(str, command or ()))


def _dropped(dropped: Mapping[str, Any]) -> list[str]:
    return [f"Column {name} was left out: {reason}" for name, reason in dropped.items()]
