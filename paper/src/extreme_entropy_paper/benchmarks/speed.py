"""How far ahead of what a user would pick instead? Time, memory and GMean of ours and of rivals.

    python benchmarks/rivals.py            all four data sets (hours), then docs/speed-rivals.md
    python benchmarks/rivals.py --datasets mammography webpages --limit 60        a quick look
    python benchmarks/rivals.py --render   the page again from the rows

Run it on an idle machine: BLAS threads that wait for a core another process holds can make a rival
many times slower. Rows say how many cores were busy elsewhere.

Needs the extra `bench`, Linux, and EXTREME_ENTROPY_DATA, a folder with the data as NAME.npz (X, y).
Each model has a fresh process to itself, and one that takes longer than the limit or more than the
memory is stopped and shown as such. All see the same stratified split, 80 % for training. Part of
the whole (fewer data sets, models or rows, or another h) goes to results/rivals-part.csv and leaves
the page as it is, unless --out says otherwise.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Self

import numpy as np
import rows
from sklearn.covariance import LedoitWolf
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.utils import check_random_state

from extreme_entropy import EEKMClassifier, EEMClassifier, gmean_score

Array = np.ndarray[Any, Any]

DATASETS = {"mammography": 500, "webpages": 500, "protein_homology": 500, "forest_cover": 1000}  # h
SEED, JOBS = 0, 2
SLOW = 20.0  # seconds of fit and predict beyond which once is enough
DISTURBED = 0.25  # cores busy with other things from which on a row says so
LOADING = 300.0  # seconds a process may take before its model starts
COUNTS = ("rows", "test_rows")
COLUMNS = (
    *("dataset", "model", "h", *COUNTS, "fits", "fit_seconds", "predict_seconds"),
    *("before_mb", "peak_mb", "gmean", "cores_elsewhere", "outcome", "warned", "limit_seconds"),
)
PAGE = Path(__file__).parent.parent / "docs" / "speed-rivals.md"


class OnPaperNeurons:
    """What the three plain machines share: [0, 1] scaling and the paper's rbf neurons."""

    def __init__(self, h: int) -> None:
        self.h = h

    def draw(self, X: Array, y: Array) -> Array:
        """Scaled rows, after the classes, the scaling and the neurons are settled."""
        self.classes = np.unique(y)
        self.scaler = MinMaxScaler()
        # As EEMClassifier draws them: ours and theirs have the very same neurons.
        seed = check_random_state(SEED).randint(2**31 - 1)
        drawn = np.random.default_rng(seed).random((self.h, X.shape[1] + 1))
        self.centres, self.widths = drawn[:, :-1], drawn[:, -1]
        return self.scaler.fit_transform(X)

    def hidden(self, Z: Array) -> Array:
        """exp(−b‖w−z‖²)."""
        H = euclidean_distances(Z, self.centres, squared=True)
        H *= -self.widths
        return np.exp(H, out=H)


class LedoitWolfPinv(OnPaperNeurons):
    """The paper's machine from ready parts: β = (Σ₋+Σ₊)⁺(m₊−m₋), then N(βᵀm±, βᵀΣ±β)."""

    def fit(self, X: Array, y: Array) -> Self:
        Z = self.draw(X, y)
        fits = [
            LedoitWolf(store_precision=False).fit(self.hidden(Z[y == label]))
            for label in self.classes
        ]
        means, covariances = [f.location_ for f in fits], [f.covariance_ for f in fits]
        self.beta = np.linalg.pinv(sum(covariances)) @ (means[1] - means[0])
        self.means = np.array([self.beta @ mean for mean in means])
        self.variances = np.array([self.beta @ cov @ self.beta for cov in covariances])
        return self

    def predict(self, X: Array) -> Array:
        line = self.hidden(self.scaler.transform(X)) @ self.beta
        surprise = (line[:, None] - self.means) ** 2 / self.variances + np.log(self.variances)
        return self.classes[surprise.argmin(axis=1)]  # −2 ln density, less what both share


class WeightedPinv(OnPaperNeurons):
    """Weighted ELM: β = (BH)⁺BT with B² = 1 / size of the row's class and T = ±1."""

    def fit(self, X: Array, y: Array) -> Self:
        H = self.hidden(self.draw(X, y))
        positive = y == self.classes[1]
        weights = 1 / np.sqrt(np.where(positive, positive.sum(), (~positive).sum()))
        H *= weights[:, None]
        self.beta = np.linalg.pinv(H) @ np.where(positive, weights, -weights)
        return self

    def predict(self, X: Array) -> Array:
        positive = self.hidden(self.scaler.transform(X)) @ self.beta > 0
        return self.classes[positive.astype(int)]


class Hpelm(OnPaperNeurons):
    """hpelm's weighted classification. Its rbf_l2 neuron is exp(−‖w−z‖²/B)."""

    def __init__(self, h: int) -> None:
        from hpelm import ELM

        super().__init__(h)
        self.make = ELM

    def fit(self, X: Array, y: Array) -> Self:
        Z = self.draw(X, y)
        self.elm = self.make(Z.shape[1], 2)
        self.elm.add_neurons(self.h, "rbf_l2", self.centres.T, 1 / self.widths)
        self.elm.train(Z, (y[:, None] == self.classes).astype(float), "wc")
        return self

    def predict(self, X: Array) -> Array:
        return self.classes[self.elm.predict(self.scaler.transform(X)).argmax(axis=1)]


def standardised(*steps: Any) -> Any:
    return make_pipeline(StandardScaler(), *steps)


def nystroem(h: int) -> Any:
    return Nystroem(n_components=h, random_state=SEED)


def lda() -> Any:
    return LinearDiscriminantAnalysis(solver="lsqr", priors=[0.5, 0.5], shrinkage="auto")


def boosted_trees() -> Any:
    return HistGradientBoostingClassifier(class_weight="balanced", random_state=SEED)


def lightgbm() -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(class_weight="balanced", n_jobs=JOBS, random_state=SEED, verbose=-1)


def balanced_forest() -> Any:
    from imblearn.ensemble import BalancedRandomForestClassifier

    return BalancedRandomForestClassifier(n_jobs=JOBS, random_state=SEED)


def paper(h: int) -> Any:
    return EEMClassifier.paper("rbf", h, n_jobs=JOBS, random_state=SEED)


OURS = "EEM, paper's rbf"  # whose time is the unit
SINGLE = f"{OURS}, float32"
MODELS: dict[str, Callable[[int], Any]] = {  # from h to an unfitted model
    OURS: paper,
    SINGLE: paper,
    "EEM default": lambda h: EEMClassifier(h, n_jobs=JOBS, random_state=SEED),
    "EEKM default": lambda h: EEKMClassifier(h, n_jobs=JOBS, random_state=SEED),
    "LedoitWolf + pinv": LedoitWolfPinv,
    "WELM by pinv": WeightedPinv,
    "hpelm, weighted": Hpelm,
    "Nystroem + LDA": lambda h: standardised(nystroem(h), lda()),
    "Nystroem + LogisticRegression": lambda h: standardised(
        nystroem(h), LogisticRegression(class_weight="balanced")
    ),
    "SVC": lambda h: standardised(SVC(class_weight="balanced")),
    "HistGradientBoosting": lambda h: boosted_trees(),
    "LightGBM": lambda h: lightgbm(),
    "BalancedRandomForest": lambda h: balanced_forest(),
}


@dataclass(frozen=True, slots=True)
class Task:
    """What one process measures."""

    dataset: str
    model: str
    h: int
    rows: int | None  # of the data set that are kept, training and test together
    repeats: int


def load(task: Task) -> list[Array]:
    """X of training and test, y of training and test."""
    with np.load(Path(os.environ["EXTREME_ENTROPY_DATA"]) / f"{task.dataset}.npz") as arrays:
        X, y = arrays["X"], arrays["y"]
    X = X.astype(np.float32 if task.model == SINGLE else np.float64, copy=False)
    if task.rows is not None and task.rows < len(y):
        X, _, y, _ = train_test_split(X, y, train_size=task.rows, stratify=y, random_state=SEED)
    return train_test_split(X, y, test_size=0.2, stratify=y, random_state=SEED)


def timed(work: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    """Seconds, and what the work returned."""
    start = time.perf_counter()
    result = work(*arguments)
    return time.perf_counter() - start, result


def megabytes(field: str, pid: int | str = "self") -> float:
    """VmRSS or its peak, VmHWM, of a process; 0 once the process is gone."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) / 1024
    return 0.0


def elsewhere_seconds() -> float:
    """Processor time that went to anything but this process, since the machine started."""
    user, nice, system, _, _, irq, softirq, steal = (
        int(ticks) for ticks in Path("/proc/stat").read_text().split(maxsplit=9)[1:9]
    )
    ticks = user + nice + system + irq + softirq + steal
    return ticks / os.sysconf("SC_CLK_TCK") - time.process_time()


def figures(task: Task) -> Iterator[dict[str, Any]]:
    """Columns of the task's row, as soon as each is known."""
    X, X_test, y, y_test = load(task)
    model = MODELS[task.model](task.h)  # imports happen here, before memory is looked at
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = megabytes("VmRSS")
    yield {"rows": len(y), "test_rows": len(y_test), "before_mb": f"{before:.0f}"}
    start, elsewhere = time.perf_counter(), elsewhere_seconds()
    fit_seconds, _ = timed(model.fit, X, y)
    yield {"fits": 1, "fit_seconds": f"{fit_seconds:.4f}"}
    predict_seconds, labels = timed(model.predict, X_test)
    yield {
        "predict_seconds": f"{predict_seconds:.4f}",
        "peak_mb": f"{megabytes('VmHWM') - before:.0f}",
        "gmean": f"{100 * gmean_score(y_test, labels):.2f}",
    }
    once = fit_seconds + predict_seconds > SLOW
    for fits in range(2, 1 if once else task.repeats + 1):
        model = MODELS[task.model](task.h)
        fit_seconds = min(fit_seconds, timed(model.fit, X, y)[0])
        predict_seconds = min(predict_seconds, timed(model.predict, X_test)[0])
        yield {
            "fits": fits,
            "fit_seconds": f"{fit_seconds:.4f}",
            "predict_seconds": f"{predict_seconds:.4f}",
        }
    lost = (elsewhere_seconds() - elsewhere) / (time.perf_counter() - start)
    yield {"cores_elsewhere": f"{max(lost, 0):.2f}"}


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
    pipe.send({"outcome": outcome, "warned": " ".join(warned)})


def supervise(task: Task, limit: float, memory: float) -> dict[str, Any]:
    """The row of a task, whatever becomes of its process. Each step may take `limit` seconds."""
    row: dict[str, Any] = dict.fromkeys(COLUMNS, "")
    row |= {"dataset": task.dataset, "model": task.model, "h": task.h}
    row["limit_seconds"] = f"{limit:g}"
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


def follow(process: Any, news: Connection, row: dict[str, Any], limit: float, mb: float) -> None:
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
        if not row["gmean"] and row["before_mb"]:
            row["peak_mb"] = f"{max(peak - float(row['before_mb']), 0):.0f}"
        if row["before_mb"] and peak > mb:
            row["outcome"] = "memory"
        elif time.monotonic() > deadline:
            # Late in a repetition: what was measured before it stands.
            row["outcome"] = "done" if row["gmean"] else f"> {limit:g} s"


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
    measured: list[dict[str, Any]] = []
    try:
        for task in tasks:
            row = supervise(task, limit, memory)
            measured.append(row)
            cells = [row["fit_seconds"], row["predict_seconds"], row["peak_mb"], row["gmean"]]
            print(
                f"{task.dataset:17} {task.model:30} "
                + " ".join(f"{cell:>9}" for cell in cells)
                + f"  {row['outcome']}",
                flush=True,
            )
    finally:
        if measured:
            rows.append(name, measured)


def number(value: float) -> str:
    """A count in full; a measure with three digits, or all before the point."""
    if isinstance(value, float) and value < 100:
        return f"{value:.{3 if value < 1 else 2 if value < 10 else 1}f}"
    return f"{value:,.0f}".replace(",", "\u202f")


def cells(row: dict[str, str], unit: float | None) -> list[str]:
    """Model, fit, ratio to our fit, predict, memory, GMean; or why there is none."""
    fit, predict, peak = (row[key] for key in ("fit_seconds", "predict_seconds", "peak_mb"))
    stopped = "" if row["outcome"] == "done" else row["outcome"].replace("|", "/")
    late = stopped.startswith(">")
    sign, least = ("", fit) if fit else ("> ", row["limit_seconds"] if late else "")
    return [
        row["model"],
        number(float(fit)) if fit else stopped,
        f"{sign}{number(float(least) / unit)}" if unit and least else "",
        number(float(predict)) if predict else stopped if fit else "",
        f"{'> ' if stopped else ''}{number(round(float(peak)))}" if peak else "",
        f"{float(row['gmean']):.1f}" if row["gmean"] else "",
    ]


def section(measured: list[dict[str, str]]) -> list[str]:
    """Lines about one data set."""
    first = measured[0]
    sizes = [next((number(int(r[key])) for r in measured if r[key]), "?") for key in COUNTS]
    times = {row["model"]: row["fit_seconds"] for row in measured}
    unit = float(times[OURS]) if times.get(OURS) else None
    disturbed = [
        f"{row['model']} ({row['cores_elsewhere']})"
        for row in measured
        if float(row["cores_elsewhere"] or 0) > DISTURBED
    ]
    told = [f"{row['model']} ({row['warned']})" for row in measured if row["warned"]]
    return [
        f"## {first['dataset'].replace('_', ' ').capitalize()}",
        "",
        f"{sizes[0]} rows to train, {sizes[1]} to test, h = {first['h']}.",
        "",
        "| model | fit, s | × ours | predict, s | peak, MB | GMean, % |",
        "|---|--:|--:|--:|--:|--:|",
        *(f"| {' | '.join(cells(row, unit))} |" for row in measured),
        "",
        *([f"Gave warnings: {'; '.join(told)}.", ""] if told else []),
        *([f"Cores busy with other things: {'; '.join(disturbed)}.", ""] if disturbed else []),
    ]


def render(measured: list[dict[str, str]]) -> str:
    """docs/speed-rivals.md from the rows."""
    lines = [*INTRODUCTION.splitlines(), ""]
    for dataset in dict.fromkeys(row["dataset"] for row in measured):
        lines += section([row for row in measured if row["dataset"] == dataset])
    return "\n".join([*lines, *rows.measured_on(measured)])


INTRODUCTION = f"""# Speed beside what you would pick instead

*Made by `python benchmarks/rivals.py` from `benchmarks/results/rivals.csv`; do not edit by hand.*

One stratified split for all, 80 % for training. Nothing is tuned; classes are balanced wherever a
model can be told to. Fit and predict are the best of a few repetitions, or the only one where they
take over {SLOW:g} s. "× ours" is the fit over that of `{OURS}`. Peak memory is what fit and
predict add to the process with the data loaded. A model over the limit of time or memory was
stopped: what it had taken by then follows the sign >.

Ours, LightGBM and the forest are given {JOBS} threads; the others take what their libraries take by
themselves. Ours holds BLAS to one thread in each of its own; nobody else's is touched.
`LedoitWolf + pinv`, WELM and hpelm have the very same neurons as `{OURS}`. The first of
them is the same machine, put together from the parts of scikit-learn and NumPy. Threads that wait
by spinning, as those of OpenMP and BLAS do, are slowed many times over on a machine shared with
others, as the one below is: take the times of HistGradientBoosting with that in mind."""


def whole(options: argparse.Namespace) -> bool:
    """Whether the run answers the whole question."""
    return not (options.datasets or options.models or options.rows or options.hidden)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--render", action="store_true", help="only render from the rows")
    parser.add_argument("--datasets", nargs="*", choices=DATASETS, metavar="NAME")
    parser.add_argument("--models", nargs="*", choices=MODELS, metavar="NAME")
    parser.add_argument("--limit", type=float, default=600, help="seconds for a fit or a predict")
    parser.add_argument("--memory", type=float, default=16, help="GB a process may hold")
    parser.add_argument("--repeats", type=int, default=3, help="of what is fast")
    parser.add_argument("--hidden", type=int, help="h; 1000 on forest_cover and 500 elsewhere")
    parser.add_argument("--rows", type=int, help="keep so many of each data set")
    parser.add_argument("--out", help="name of the file of rows")
    options = parser.parse_args()
    if not options.render and not os.environ.get("EXTREME_ENTROPY_DATA"):
        parser.error("set EXTREME_ENTROPY_DATA to the folder with the paper's data")
    options.out = options.out or ("rivals" if whole(options) else "rivals-part")
    return options


def main() -> None:
    options = parse()
    if not options.render:
        tasks = [
            Task(dataset, model, options.hidden or h, options.rows, options.repeats)
            for dataset, h in DATASETS.items()
            for model in MODELS
            if dataset in (options.datasets or DATASETS) and model in (options.models or MODELS)
        ]
        run(tasks, options.limit, options.memory * 1024, options.out)
    page = render(rows.read(options.out, by="dataset"))
    if options.out == "rivals":
        PAGE.write_text(page)
    print(page)


if __name__ == "__main__":
    main()
