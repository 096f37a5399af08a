"""`eem-paper reproduce`: the paper's tables reproduced, with a verdict on every cell."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any, Self

import click

from ..datasets.loading import find
from ..errors import DatasetError
from ..experiments.catalogue import PAGES, Experiment, Files, Page
from ..experiments.runner import run
from ..files import whole_file
from ..store import read

ONLY = "Only this one; may be given several times."


class Progress:
    """A bar on stderr with the time left; silent where stderr is no terminal."""

    def __init__(self) -> None:
        self._bar: Any = None

    def __enter__(self) -> Self:
        return self

    def __call__(self, done: int, total: int) -> None:
        if not sys.stderr.isatty():
            return
        if self._bar is None:
            self._bar = click.progressbar(
                length=max(total, 1), label="measuring", file=sys.stderr, show_pos=True
            )
        self._bar.update(done - self._bar.pos)

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.render_finish()


@click.command()
@click.argument("tables", nargs=-1, metavar="TABLE|FIGURE|all...")
@click.option("--dataset", "datasets", multiple=True, metavar="NAME", help=ONLY)
@click.option("--model", "models", multiple=True, metavar="NAME", help=ONLY)
@click.option("--repeats", default=1, show_default=True, help="Repetitions of ten folds.")
@click.option("--folds", type=int, help="Only so many folds of each repetition.")
@click.option("--budget", type=float, metavar="MINUTES", help="Stop after so long.")
@click.option("--jobs", type=int, help="Processes; as many as there are processors.")
@click.option("--out", default="reproduction", show_default=True, help="Where rows and pages go.")
def reproduce(
    tables: tuple[str, ...],
    datasets: tuple[str, ...],
    models: tuple[str, ...],
    repeats: int,
    folds: int | None,
    budget: float | None,
    jobs: int | None,
    out: str,
) -> None:
    """Measure the paper's tables and figures anew, and say of every cell how near we are.

    Rows are kept as they come. Started again, a run goes on where it was stopped.
    """
    pages = {name: PAGES[name] for name in _known(tables, tuple(PAGES), "tables and figures")}
    columns = dict.fromkeys(model for page in pages.values() for model in page.experiment.models)
    chosen = _known(models, tuple(columns), "models")
    path = Path(out) / "rows.jsonl"
    deadline = time.monotonic() + (float("inf") if budget is None else 60 * budget)
    complete = True
    try:
        for experiment, some in _needed(pages, datasets).items():
            here = [model for model in experiment.models if model in chosen]
            plan = experiment.plan(some, here, repeats)
            with Progress() as progress:
                complete &= run(
                    path,
                    (item for item in plan if folds is None or item[0].fold < folds),
                    experiment.work,
                    budget=deadline - time.monotonic(),
                    n_jobs=jobs,
                    watch=progress,
                )
        rows = list(read(path))
    except KeyboardInterrupt as error:
        raise click.ClickException(
            "Interrupted. All finished rows are kept; run the same command again to go on."
        ) from error
    except DatasetError as error:
        raise click.ClickException(
            f"{error}\n  - from the command line: eem-paper data get"
        ) from error
    for name, page in pages.items():
        _show(path.with_name(name), page.render(rows))
    if not complete:
        click.echo("The budget is used up. Run the same command again to go on.", err=True)


def _needed(pages: dict[str, Page], asked: tuple[str, ...]) -> dict[Experiment, list[str]]:
    """Which experiments, each on which data sets."""
    names = [find(name).name for name in asked]
    needed: dict[Experiment, list[str]] = {}
    for page in pages.values():
        held = needed.setdefault(page.experiment, [])
        held += [n for n in page.datasets if n not in held and (n in names or not names)]
    needed = {experiment: some for experiment, some in needed.items() if some}
    if not needed:
        raise click.UsageError(f"None of {', '.join(names)} is in {', '.join(pages)}.")
    return needed


def _show(stem: Path, files: Files) -> None:
    """Write the files of a page; the terminal shows its Markdown, or where its picture is."""
    for ending, content in files.items():
        _write(stem.with_name(stem.name + ending), content)
    text = files.get(".md")
    click.echo(text if isinstance(text, str) else f"{stem.name}: {stem}{next(iter(files))}\n")


def _write(path: Path, content: str | bytes) -> None:
    with whole_file(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def _known(asked: tuple[str, ...], known: tuple[str, ...], what: str) -> list[str]:
    """The names asked for, if they are known; all of them, if none or `all` was asked for."""
    if not asked or asked == ("all",):
        return list(known)
    strange = [name for name in asked if name not in known]
    if strange:
        raise click.UsageError(f"{strange[0]!r} is none of the {what}: {', '.join(known)}.")
    return list(asked)
