"""The page: its content, put into the template, under a policy that lets nothing else run."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2
import numpy as np
from markupsafe import Markup

from ..errors import InputError
from ..machine.learnt import ProjectionMoments, were_learnt
from ..metrics import label_text
from ..plots.operating import rarer
from .about import About
from .evidence import Evidence
from .live import MOST_ROWS, QUANTILES, class_costs, live_data
from .pictures import MOST_PAIRS, draw_curves, draw_pairs, draw_path, draw_regions, setting_name
from .scores import Predictions, possible_mistakes, predict_rows, score_cards
from .text import json_block, visible

Array = np.ndarray[Any, Any]

MOST_MISSING = 12  # columns listed by name
BARE = {"yes", "no", "y", "n", "true", "false", "t", "f", "positive", "negative", "0", "1"}


def render(classifier: Any, evidence: Evidence, about: About) -> str:
    """The report as HTML."""
    style = _asset("page.css")
    binary = len(classifier.classes_) == 2
    script = _asset("closed_form.js") + (_asset("slider.js") if binary else _asset("chooser.js"))
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    own = {"style": Markup(style), "script": Markup(script)}  # this package's own files
    contents = _contents(classifier, evidence, about)
    return _environment().get_template("page.html").render(**contents, **own, policy=policy)


@cache
def _environment() -> Any:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("extreme_entropy.report", "assets"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"percent": percent, "visible": visible}
    environment.filters |= {"number": "{:.3f}".format, "short": "{:.4g}".format}
    return environment


def _asset(name: str) -> str:
    return files("extreme_entropy.report").joinpath("assets", name).read_text("utf-8")


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def class_name(label: Any, target: str) -> str:
    """A class as text; a bare "yes" or 1 means little without the name of its column."""
    text = label_text(label)
    bare = not isinstance(label, str) or text.lower() in BARE
    return visible(f"{target} = {text}" if target and bare else text)


def percent(share: float) -> str:
    """A share in per cent; nearly all is not all."""
    if not np.isfinite(share):
        return "–"
    places = 0 if 0.1 <= share <= 0.9 or share in (0, 1) else 1
    text = f"{100 * share:.{places}f}"
    if float(text) in (0, 100) and share not in (0, 1):
        text = "under 0.1" if share < 0.5 else "over 99.9"
    return f"{text}\N{NO-BREAK SPACE}%"


def _contents(classifier: Any, evidence: Evidence, about: About) -> dict[str, Any]:
    predictions = predict_rows(classifier, evidence)
    confusion = predictions.confusion
    classes = [class_name(label, about.target) for label in classifier.classes_.tolist()]
    counts = evidence.counts(len(classes))
    plane, plane_picture = draw_regions(classifier, evidence, about)
    pairs = draw_pairs(classifier, evidence)
    contents = {
        "about": about,
        "title": visible(about.title or f"Report on {about.data or 'a model'}"),
        "classes": classes,
        "binary": len(classes) == 2,
        "counts": counts.tolist(),
        "learnt": [f"{n:g}" for n in classifier.summary_.counts.sum(axis=1)],
        "imbalance": float(counts.max() / counts[counts > 0].min()),
        "same_rows": were_learnt(
            classifier.machine_,
            classifier.summary_,
            ProjectionMoments.of(evidence.labels, evidence.projections[:, 0], len(classes)),
        ),
        "missing": sorted(about.missing.items(), key=lambda item: -item[1]),
        "most_missing": MOST_MISSING,
        "confusion": confusion.tolist(),
        "recalls": _shares(np.diag(confusion), confusion.sum(axis=1)),
        "precisions": _shares(np.diag(confusion), confusion.sum(axis=0)),
        "no_mistakes": possible_mistakes(confusion),
        "pairs": pairs,
        "fewer_pairs": len(pairs) == MOST_PAIRS,
        "plane": plane,
        "plane_picture": plane_picture,
        "path": draw_path(about, "neurons or landmarks"),
        "settings": list(dict.fromkeys(map(setting_name, about.path))),
        "parameters": _parameters(classifier),
        "seed": getattr(classifier, "random_state", None) if about.seed is None else about.seed,
        "kind": type(classifier).__name__,
        "gaussian": hasattr(classifier.machine_, "operators"),
    }
    if contents["binary"]:
        return contents | _two_classes(classifier, evidence, predictions, contents)
    return contents | {"scores": score_cards(predictions), "data": json_block({})}


def _two_classes(
    classifier: Any, evidence: Evidence, predictions: Predictions, contents: dict[str, Any]
) -> dict[str, Any]:
    """What the page has for two classes only."""
    rare, counts = rarer(evidence.labels), np.array(contents["counts"])
    if not counts.all():
        raise InputError("A report on two classes needs rows of both.")
    curves = draw_curves(classifier, evidence, rare)
    projection, plane = contents["pairs"][0].picture, contents["plane_picture"]
    pictures = {"projection": projection, "plane": plane, **curves}
    machine = classifier.machine_
    log_ratio = machine.gaussians[0].log_ratio(evidence.projections[:, 0])
    log_odds = log_ratio + np.log(counts[1] / counts[0])
    costs = np.array(class_costs(classifier))
    missed = predictions.confusion.sum(axis=1) - np.diag(predictions.confusion)
    priors = np.exp(machine.log_priors)
    differ = not np.allclose(priors, counts / counts.sum(), atol=0.005)
    data = live_data(classifier, contents["classes"], evidence, rare, pictures, contents["plane"])
    return {
        "rare": rare,
        "other": 1 - rare,
        "curves": curves,
        "scores": score_cards(predictions, log_odds if differ else None),
        "costs": costs.tolist(),
        "priors": priors.tolist(),
        "priors_differ": differ,
        "cost": float(missed @ costs),
        "constant_cost": float((counts * costs).min()),
        "exact": len(evidence.labels) <= MOST_ROWS,
        "quantiles": QUANTILES,
        "data": json_block(data),
    }


def _shares(parts: Array, wholes: Array) -> list[float]:
    return [float(a / b) if b else float("nan") for a, b in zip(parts, wholes, strict=True)]


def _parameters(classifier: Any) -> dict[str, str]:
    """The parameters that are not default."""
    defaults = type(classifier)().get_params(deep=False)
    return {
        name: visible(repr(value))
        for name, value in classifier.get_params(deep=False).items()
        if name not in ("random_state", "n_jobs") and repr(value) != repr(defaults[name])
    }
