"""From a fitted classifier and rows to a page: `build_report` and `write_report`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from sklearn.exceptions import NotFittedError

from ..files import written_whole
from ..pipelines import at_last_step, last_step
from ..progress import begin_step
from .about import About
from .classifiers import Reported, reported
from .report_settings import ReportSettings


def build_report(estimator: Any, X: Any, y: Any, *, about: About | None = None) -> str:
    """A report on a fitted classifier, evaluated on rows, as the text of one HTML file.

    Parameters
    ----------
    estimator : any classifier with `predict_proba`, such as a pipeline
        Fitted. Of a classifier of this library, also at the end of a pipeline, the report shows
        projections, too, and costs and priors move its own thresholds. Of any other it knows the
        probabilities, which it takes to be for the class frequencies of these rows.
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Rows that were held out; the report warns if they are those of the fit.
    y : array-like of shape (n_samples,)
        Their labels, of two classes at least.
    about : About, optional
        What else the report should contain.

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
    >>> classifier = EEMClassifier(50, random_state=0).fit(X[::2], y[::2])
    >>> page = build_report(classifier, X[1::2], y[1::2], about=About(data="tumours.csv"))
    >>> "<title>Predicting 0: report on 284 rows</title>" in page
    True
    """
    about = about or About()
    estimator, X, about = _innermost(estimator, X, about)
    return report_on_batches(reported(estimator, y), [(X, y)], lambda: about)


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
    >>> classifier = EEMClassifier(20, random_state=0).fit(X[::2], y[::2])
    >>> with TemporaryDirectory() as folder:
    ...     write_report(Path(folder) / "report.html", classifier, X[1::2], y[1::2])
    ...     [file.name for file in Path(folder).iterdir()]
    ['report.html']
    """
    write_page(path, build_report(estimator, X, y, about=about))


def write_page(path: str | Path, page: str) -> None:
    """Write the text of a page, whole or not at all."""
    with written_whole(path) as temporary:
        temporary.write_text(page, encoding="utf-8", newline="\n")


def report_on_batches(
    classifier: Reported,
    batches: Iterable[tuple[Any, Any]],
    about: Callable[[], About],
    settings: ReportSettings | None = None,
) -> str:
    """A report on rows that come in batches, of which a bounded part is kept.

    `about()` is called when all rows were read, and may tell what was found in them.
    """
    for name in ("jinja2", "matplotlib"):
        try:
            import_module(name)
        except ImportError as error:
            raise ImportError(
                f"A report needs {name}: pip install 'extreme-entropy[report]'"
            ) from error
    from .evidence import collect
    from .page import render
    from .subject import subject_of

    settings = settings or ReportSettings()
    evidence = collect(classifier, batches, settings)
    begin_step("making the page")
    return render(subject_of(classifier, evidence, about(), settings))


def _innermost(estimator: Any, X: Any, about: About) -> tuple[Any, Any, About]:
    """What a search has chosen; and of a pipeline the classifier, if it is of this library.

    With rows as they reach it, and the sizes that were compared.
    """
    if hasattr(estimator, "best_estimator_"):
        path = about.path or compared_sizes(estimator)
        return _innermost(estimator.best_estimator_, X, replace(about, path=path))
    last = last_step(estimator)
    if last is estimator or not _of_this_library(last):
        return estimator, X, about
    last, X = at_last_step(estimator, X)
    return _innermost(last, X, _with_names(estimator, about))


def _of_this_library(classifier: Any) -> bool:
    if hasattr(classifier, "best_estimator_"):
        return _of_this_library(last_step(classifier.best_estimator_))
    return hasattr(type(classifier), "machine_")


def _with_names(pipeline: Any, about: About) -> About:
    """Names of the columns that the last step of a pipeline is given, where its steps tell them."""
    if about.columns:
        return about
    try:
        names = pipeline[:-1].get_feature_names_out()
    except (AttributeError, ValueError, NotFittedError):
        return about
    return replace(about, columns=[str(name) for name in names])


def compared_sizes(search: Any) -> list[dict[str, Any]]:
    """The models that a classifier has compared by GMean before it chose one."""
    path = getattr(search, "path_", None)
    if path is None or path.score_name not in ("gmean", "GMean"):
        return []
    return [
        {"setting": label, "size": int(size), "gmean": float(g), "divergence": float(d)}
        for label, scores, divergences in zip(
            path.labels, path.mean_scores, path.divergences, strict=True
        )
        for size, g, d in zip(path.sizes, scores, divergences, strict=True)
    ]
