"""`eem reproduce`: the paper's tables measured anew, with a verdict on every cell."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Self

import click

from ..datasets.loading import find
from ..errors import DatasetError, ExtremeEntropyError
from ..experiments.claims import SCORES, TABLES, datasets_of
from ..experiments.protocol import MODELS
from ..experiments.render import FORMATS, markdown, table_of
from ..experiments.runner import run
from ..experiments.store import read
from ..experiments.verdicts import cells, gather
from .several import Several


class Progress:
    """A bar on stderr with the time left; silent where stderr is no terminal."""

    def __init__(self) -> None:
        self._bar: Any = None

    def __enter__(self) -> Self:
        return self

    def __call__(self, done: int, total: int) -> None:
        if self._bar is None:
            self._bar = click.progressbar(
                length=max(total, 1), label="measuring", file=sys.stderr, show_pos=True
            )
            self._bar.is_hidden = not sys.stderr.isatty()
        self._bar.update(done - self._bar.pos)

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.render_finish()


@click.command()
@click.argument("tables", nargs=-1, metavar="TABLE...")
@click.option("--datasets", cls=Several, metavar="NAME...", help="Only these data sets.")
@click.option("--models", cls=Several, metavar="NAME...", help="Only these columns.")
@click.option("--repeats", default=1, show_default=True, help="Repetitions of ten folds.")
@click.option("--budget", type=float, metavar="MINUTES", help="Stop after so long.")
@click.option("--jobs", type=int, help="Processes; as many as there are processors.")
@click.option("--out", default="reproduction", show_default=True, help="Where rows and pages go.")
def reproduce(
    tables: tuple[str, ...],
    datasets: tuple[str, ...],
    models: tuple[str, ...],
    repeats: int,
    budget: float | None,
    jobs: int | None,
    out: str,
) -> None:
    """Measure the paper's tables anew: uci, unbalanced, big, gaussian, kde, and their times.

    Rows are kept as they come. Started again, a run goes on where it was stopped.
    """
    wanted = _tables(tables)
    chosen = _known(models, MODELS, "columns of the paper's tables")
    path = Path(out) / "rows.jsonl"
    try:
        names = [find(name).name for name in datasets]
        todo = dict.fromkeys(SCORES.get(table, table) for table in wanted)
        needed = list(dict.fromkeys(name for table in todo for name in datasets_of(table)))
        some = [name for name in needed if name in names or not names]
        if not some:
            raise click.UsageError(f"None of {', '.join(names)} is in {', '.join(wanted)}.")
        with Progress() as progress:
            complete = run(
                path,
                some,
                chosen or MODELS,
                repeats=repeats,
                budget=float("inf") if budget is None else 60 * budget,
                n_jobs=jobs,
                watch=progress,
            )
        trials = gather(read(path))
    except DatasetError as error:
        raise click.ClickException(f"{error}\n  - from the command line: eem data get") from error
    except ExtremeEntropyError as error:
        raise click.ClickException(str(error)) from error
    for name in wanted:
        table = table_of(name, cells(name, trials))
        for ending, write in FORMATS.items():
            _write(path.with_name(name + ending), write(table))
        click.echo(markdown(table))
    if not complete:
        click.echo("The budget is used up. Run the same command again to go on.", err=True)


def _write(path: Path, text: str) -> None:
    """Whole or not at all."""
    beside = path.with_name(path.name + ".part")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def _tables(asked: tuple[str, ...]) -> list[str]:
    if not asked or asked == ("all",):
        return list(TABLES)
    return _known(asked, tuple(TABLES), "tables")


def _known(asked: tuple[str, ...], known: tuple[str, ...], what: str) -> list[str]:
    strange = [name for name in asked if name not in known]
    if strange:
        raise click.UsageError(f"{strange[0]!r} is none of the {what}: {', '.join(known)}.")
    return list(asked)
