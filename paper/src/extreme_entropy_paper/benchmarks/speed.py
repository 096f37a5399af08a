"""How far ahead of what a user would pick instead? Time, memory and GMean of ours and of baselines.

Run it on an idle computer: BLAS threads that wait for a core another process holds can make a
baseline many times slower. Rows say how many cores were busy elsewhere.

Needs Linux, and the data to be here. Each model has a fresh process to itself, and one that takes
longer than the limit or more than the memory is stopped and shown as such. All see the same
stratified split, 80 % for training. Part of the whole (fewer data sets, models or rows, or another
size) goes to rows/speed-part.jsonl and leaves the page as it is.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import click
import numpy as np
from sklearn.model_selection import train_test_split

from extreme_entropy import gmean_score

from ..baselines import Given, make
from ..places import DOCS
from ..store import Row, add_run, measured_on, newest, rows_of
from .measure import megabytes
from .samples import paper_rows

Array = np.ndarray[Any, Any]

DATASETS = {"mammography": 500, "webpages": 500, "protein_homology": 500, "forest_cover": 1000}  # h
SEED, THREADS = 0, 2
SLOW = 20.0  # seconds of fit and predict beyond which once is enough
DISTURBED = 0.25  # cores busy with other things from which on a row says so
LOADING = 300.0  # seconds a process may take before its model starts
COUNTS = ("rows", "test_rows")
COLUMNS = (
    *("dataset", "model", "h", *COUNTS, "fits", "fit_seconds", "predict_seconds"),
    *("before_mb", "peak_mb", "gmean", "cores_elsewhere", "outcome", "warned", "limit_seconds"),
)
OURS = "EEM, paper's rbf"  # whose time is the unit
SINGLE = f"{OURS}, float32"
MODELS = (
    *(OURS, SINGLE, "EEM-default", "EEKM-default", "LedoitWolf+pinv", "WELM by pinv"),
    *("hpelm, weighted", "Nystroem+LDA", "Nystroem+LogisticRegression", "SVC, balanced"),
    *("HistGradientBoosting", "LightGBM, balanced", "BalancedRandomForest"),
)


@dataclass(frozen=True, slots=True)
class Task:
    """What one process measures."""

    dataset: str
    model: str
    h: int
    rows: int | None  # of the data set that are kept, training and test together
    repeats: int

    def new(self, rows: int) -> Any:
        """The model, not yet fitted."""
        return make(self.model.removesuffix(", float32"), Given(rows, SEED, self.h, THREADS))


def load(task: Task) -> list[Array]:
    """X of training and test, y of training and test."""
    X, y = paper_rows(task.dataset)
    X = X.astype(np.float32 if task.model == SINGLE else np.float64, copy=False)
    if task.rows is not None and task.rows < len(y):
        X, _, y, _ = train_test_split(X, y, train_size=task.rows, stratify=y, random_state=SEED)
    parts: list[Array] = train_test_split(X, y, test_size=0.2, stratify=y, random_state=SEED)
    return parts


def timed(work: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    """Seconds, and what the work returned."""
    start = time.perf_counter()
    result = work(*arguments)
    return time.perf_counter() - start, result


def elsewhere_seconds() -> float:
    """Processor time that went to anything but this process, since the computer started."""
    user, nice, system, _, _, irq, softirq, steal = (
        int(ticks) for ticks in Path("/proc/stat").read_text().split(maxsplit=9)[1:9]
    )
    ticks = user + nice + system + irq + softirq + steal
    return ticks / os.sysconf("SC_CLK_TCK") - time.process_time()


def figures(task: Task) -> Iterator[Row]:
    """Columns of the task's row, as soon as each is known."""
    X, X_test, y, y_test = load(task)
    model = task.new(len(y))  # imports happen here, before memory is looked at
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = megabytes("VmRSS")
    yield {"rows": len(y), "test_rows": len(y_test), "before_mb": round(before)}
    start, elsewhere = time.perf_counter(), elsewhere_seconds()
    fit_seconds, _ = timed(model.fit, X, y)
    yield {"fits": 1, "fit_seconds": round(fit_seconds, 4)}
    predict_seconds, labels = timed(model.predict, X_test)
    yield {
        "predict_seconds": round(predict_seconds, 4),
        "peak_mb": round(megabytes("VmHWM") - before),
        "gmean": round(100 * gmean_score(y_test, labels), 2),
    }
    once = fit_seconds + predict_seconds > SLOW
    for fits in range(2, 1 if once else task.repeats + 1):
        model = task.new(len(y))
        fit_seconds = min(fit_seconds, timed(model.fit, X, y)[0])
        predict_seconds = min(predict_seconds, timed(model.predict, X_test)[0])
        yield {
            "fits": fits,
            "fit_seconds": round(fit_seconds, 4),
            "predict_seconds": round(predict_seconds, 4),
        }
    lost = (elsewhere_seconds() - elsewhere) / (time.perf_counter() - start)
    yield {"cores_elsewhere": round(max(lost, 0.0), 2)}


def work(pipe: Connection, task: Task) -> None:
    """The process of one task: sends columns, and at last an outcome."""
    os.setsid()  # a group of its own, to be ended as one
    os.dup2(2, 1)  # what models print is not part of the table
    Path("/proc/self/oom_score_adj").write_text("1000")  # if memory runs out, this process goes
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            for columns in figures(task):
                pipe.send(columns)
            outcome = "done"
        except MemoryError:
            outcome = "memory"
        except Exception as error:
            outcome = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    warned = sorted({warning.category.__name__ for warning in caught})
    pipe.send({"outcome": outcome, "warned": warned})


def supervise(task: Task, limit: float, memory: float) -> Row:
    """The row of a task, whatever becomes of its process. Each step may take `limit` seconds."""
    row: Row = dict.fromkeys(COLUMNS)
    row |= {"dataset": task.dataset, "model": task.model, "h": task.h}
    row["limit_seconds"] = limit
    context = multiprocessing.get_context("spawn")
    news, pipe = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(pipe, task))
    process.start()
    pipe.close()
    try:
        follow(process, news, row, limit, memory)
    finally:
        end(process)
    return row


def follow(process: Any, news: Connection, row: Row, limit: float, mb: float) -> None:
    """Fill the row with what the process sends, until its outcome is known or settled here."""
    deadline = time.monotonic() + LOADING
    while not row["outcome"]:
        if news.poll(0.05):
            try:
                row |= news.recv()
            except EOFError:
                process.join()
                killed = process.exitcode == -signal.SIGKILL  # by the kernel, out of memory
                row["outcome"] = "memory" if killed else f"exit code {process.exitcode}"
            deadline = time.monotonic() + limit
            continue
        peak = megabytes("VmHWM", process.pid)
        started, scored = row["before_mb"] is not None, row["gmean"] is not None
        if started and not scored:
            row["peak_mb"] = round(max(peak - row["before_mb"], 0))
        if started and peak > mb:
            row["outcome"] = "memory"
        elif time.monotonic() > deadline:
            # Late in a repetition: what was measured before it stands.
            row["outcome"] = "done" if scored else f"> {limit:g} s"


def end(process: Any) -> None:
    """End a task's process and all it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:  # over, or not yet a group of its own
        process.kill()
    process.join()


def run(tasks: list[Task], limit: float, memory: float, name: str) -> None:
    """Measure, print each row as it comes, and write what there is even if interrupted."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped: the rows so far are written"))
    measured: list[Row] = []
    try:
        for task in tasks:
            measured.append(supervise(task, limit, memory))
            shown = ("dataset", "model", "fit_seconds", "predict_seconds", "peak_mb", "gmean")
            cells = [str(measured[-1][column]) for column in shown]
            click.echo("  ".join([*cells, measured[-1]["outcome"]]))
    finally:
        if measured:
            add_run(name, measured)


def number(value: float) -> str:
    """A count in full; a measure with three digits, or all before the point."""
    if isinstance(value, float) and value < 100:
        return f"{value:.{3 if value < 1 else 2 if value < 10 else 1}f}"
    return f"{value:,.0f}".replace(",", "\u202f")


def cells(row: Row, unit: float | None) -> list[str]:
    """Model, fit, ratio to our fit, predict, memory, GMean; or why there is none."""
    fit, predict, peak = (row[key] for key in ("fit_seconds", "predict_seconds", "peak_mb"))
    stopped = "" if row["outcome"] == "done" else row["outcome"].replace("|", "/")
    late = stopped.startswith(">")
    fitted = fit is not None
    sign, least = ("", fit) if fitted else ("> ", row["limit_seconds"] if late else None)
    return [
        row["model"],
        number(float(fit)) if fitted else stopped,
        f"{sign}{number(float(least) / unit)}" if unit and least is not None else "",
        number(float(predict)) if predict is not None else stopped if fitted else "",
        f"{'> ' if stopped else ''}{number(peak)}" if peak is not None else "",
        f"{row['gmean']:.1f}" if row["gmean"] is not None else "",
    ]


def section(measured: list[Row]) -> list[str]:
    """Lines about one data set."""
    first = measured[0]
    sizes = [next((number(r[key]) for r in measured if r[key] is not None), "?") for key in COUNTS]
    times = {row["model"]: row["fit_seconds"] for row in measured}
    unit = times.get(OURS)
    disturbed = [
        f"{row['model']} ({row['cores_elsewhere']:.2f})"
        for row in measured
        if (row["cores_elsewhere"] or 0) > DISTURBED
    ]
    warned = [f"{row['model']} ({' '.join(row['warned'])})" for row in measured if row["warned"]]
    return [
        f"## {first['dataset'].replace('_', ' ').capitalize()}",
        "",
        f"{sizes[0]} rows to train, {sizes[1]} to test, h = {first['h']}.",
        "",
        "| model | fit, s | × ours | predict, s | peak, MB | GMean, % |",
        "|---|--:|--:|--:|--:|--:|",
        *(f"| {' | '.join(cells(row, unit))} |" for row in measured),
        "",
        *([f"Gave warnings: {'; '.join(warned)}.", ""] if warned else []),
        *([f"Cores busy with other things: {'; '.join(disturbed)}.", ""] if disturbed else []),
    ]


def render() -> str:
    """docs/speed-baselines.md from the newest rows of each data set."""
    runs = newest("speed", by="dataset")
    measured = rows_of(runs)
    lines = [*INTRODUCTION.splitlines(), ""]
    for dataset in dict.fromkeys(row["dataset"] for row in measured):
        lines += section([row for row in measured if row["dataset"] == dataset])
    return "\n".join([*lines, *measured_on(runs)])


INTRODUCTION = f"""# Speed compared with other classifiers

*Made by `eem-paper bench speed` from `paper/rows/speed.jsonl`; do not edit by hand.*

One stratified split for all, 80 % for training. Nothing is tuned; classes are balanced wherever a
model has a parameter for it. Fit and predict are the best of a few repetitions, or the only one
where they take over {SLOW:g} s. "× ours" is the fit over that of `{OURS}`. Peak memory is
what fit and predict add to the process with the data loaded. A model over the limit of time or
memory was stopped: the sign > is followed by what it had used by then.

Ours, LightGBM and the forest use {THREADS} threads; the others use the defaults of their
libraries. Ours limits BLAS to one thread in each of its own; nothing is changed for the others.
`LedoitWolf+pinv`, WELM and hpelm have the same neurons as `{OURS}`. The first of
them is the same model, put together from parts of scikit-learn and NumPy. Threads that wait in a
busy loop, as those of OpenMP and BLAS do, are much slower on a computer that is shared with other
programs, as the one below is; this affects the times of HistGradientBoosting."""


@click.command()
@click.option("--render", "only_render", is_flag=True, help="Only make the page from the rows.")
@click.option("--dataset", "datasets", multiple=True, type=click.Choice(list(DATASETS)))
@click.option("--model", "names", multiple=True, type=click.Choice(MODELS))
@click.option("--limit", default=600.0, show_default=True, help="Seconds for a fit or a predict.")
@click.option("--memory", default=16.0, show_default=True, help="GB a process may hold.")
@click.option("--repeats", default=3, show_default=True, help="Of what is fast.")
@click.option("--size", type=int, help="h; 1000 on forest_cover and 500 elsewhere.")
@click.option("--rows", type=int, help="Keep so many of each data set.")
def speed(
    only_render: bool,
    datasets: tuple[str, ...],
    names: tuple[str, ...],
    limit: float,
    memory: float,
    repeats: int,
    size: int | None,
    rows: int | None,
) -> None:
    """Time, memory and GMean of ours and of baselines; docs/speed-baselines.md, hours."""
    whole = not (datasets or names or rows or size)
    if not only_render:
        tasks = [
            Task(dataset, model, size or h, rows, repeats)
            for dataset, h in DATASETS.items()
            for model in MODELS
            if dataset in (datasets or DATASETS) and model in (names or MODELS)
        ]
        run(tasks, limit, memory * 1024, "speed" if whole else "speed-part")
    if whole:
        (DOCS / "speed-baselines.md").write_text(render())
