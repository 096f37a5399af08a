"""From a fitted machine and rows to a file: `build_report` and `write_report`."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .about import About


def build_report(estimator: Any, X: Any, y: Any, *, about: About | None = None) -> str:
    """A report on a fitted machine, judged on the rows given, as the text of one HTML file.

    Parameters
    ----------
    estimator : EEMClassifier, EEKMClassifier, one that chose its size, or a pipeline ending in one
        Fitted.
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Rows the machine has not learnt; the report warns if it has learnt these very rows.
    y : array-like of shape (n_samples,)
        Their labels, of two classes at least.
    about : About, optional
        What else the report should say.

    Returns
    -------
    str
        HTML that needs no other file and asks the network for nothing.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from extreme_entropy import EEMClassifier
    >>> from extreme_entropy.report import About, build_report
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> machine = EEMClassifier(50, random_state=0).fit(X[::2], y[::2])
    >>> page = build_report(machine, X[1::2], y[1::2], about=About(data="tumours.csv"))
    >>> "<title>Report on tumours.csv</title>" in page
    True
    """
    if isinstance(estimator, Pipeline) and len(estimator) > 1:
        check_is_fitted(estimator)
        X, estimator = estimator[:-1].transform(X), estimator[-1]
    return report_of(estimator, [(X, y)], about=about)


def write_report(
    path: str | Path, estimator: Any, X: Any, y: Any, *, about: About | None = None
) -> None:
    """Write a report to a file, whole or not at all.

    Parameters
    ----------
    path : path-like
        Where to. An existing file is replaced.
    estimator, X, y, about
        As for `build_report`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import make_moons
    >>> from extreme_entropy import EEMClassifier
    >>> from extreme_entropy.report import write_report
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> machine = EEMClassifier(20, random_state=0).fit(X[::2], y[::2])
    >>> with TemporaryDirectory() as folder:
    ...     write_report(Path(folder) / "report.html", machine, X[1::2], y[1::2])
    ...     [file.name for file in Path(folder).iterdir()]
    ['report.html']
    """
    write_whole(path, build_report(estimator, X, y, about=about))


def report_of(estimator: Any, batches: Iterable[tuple[Any, Any]], *, about: About | None) -> str:
    """A report on rows that come in batches, of which only labels and projections are kept."""
    require_extra()
    from .evidence import collect
    from .page import render

    about = about or About()
    machine = estimator
    if hasattr(estimator, "best_estimator_"):
        machine = estimator.best_estimator_
        about = about if about.path else replace(about, path=steps_of(estimator))
    return render(machine, collect(machine, batches), about)


def require_extra() -> None:
    """Raise if something is missing that only a report needs."""
    for name in ("jinja2", "matplotlib", "pyarrow"):
        try:
            import_module(name)
        except ImportError as error:
            raise ImportError(
                f"A report needs {name}: pip install 'extreme-entropy[report]'"
            ) from error


def steps_of(estimator: Any) -> list[dict[str, Any]]:
    """The machines a classifier has compared before it chose one."""
    path = getattr(estimator, "path_", None)
    if path is None or path.score_name not in ("gmean", "GMean"):
        return []
    means = path.scores.mean(axis=2)
    return [
        {
            "setting": label,
            "size": int(size),
            "gmean": float(means[i, k]),
            "divergence": float(path.divergences[i, k]),
        }
        for i, label in enumerate(path.labels)
        for k, size in enumerate(path.sizes)
    ]


def write_whole(path: str | Path, text: str) -> None:
    """Write a text beside its place and rename it."""
    path = Path(path)
    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        mask = os.umask(0o077)
        os.umask(mask)
        os.chmod(beside, 0o666 & ~mask)
        os.replace(beside, path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
