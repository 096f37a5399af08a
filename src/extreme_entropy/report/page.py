"""The page: all it says, put into the template, under a policy that lets nothing else run."""

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
from ..plots.operating import rarer
from ..tables.labels import told
from .about import About
from .evidence import Evidence, learnt_counts, learnt_these
from .live import MOST_ROWS, QUANTILES, costs_of, live_data
from .pictures import MOST_PAIRS, curves_of, lines_of, path_of, regions_of, setting_of
from .scores import answers_of, most_missed, scores_of
from .text import json_block, shown

Array = np.ndarray[Any, Any]

MOST_MISSING = 12  # columns listed by name
BARE = {"yes", "no", "y", "n", "true", "false", "t", "f", "positive", "negative", "0", "1"}


def render(machine: Any, evidence: Evidence, about: About) -> str:
    """The report as HTML."""
    style = _asset("page.css")
    binary = len(machine.classes_) == 2
    script = _asset("closed_form.js") + (_asset("slider.js") if binary else _asset("chooser.js"))
    return (
        _environment()
        .get_template("page.html")
        .render(
            **_said(machine, evidence, about),
            # Markup: these are this package's own files.
            style=Markup(style),
            script=Markup(script),
            policy=f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
            "img-src data:; base-uri 'none'; form-action 'none'",
        )
    )


@cache
def _environment() -> Any:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("extreme_entropy.report", "assets"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"percent": percent, "shown": shown, "number": number, "short": short}
    return environment


def _asset(name: str) -> str:
    return files("extreme_entropy.report").joinpath("assets", name).read_text("utf-8")


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def name_of(label: Any, target: str) -> str:
    """A class in words; a bare "yes" or 1 means little without the name of its column."""
    word = told(label)
    bare = not isinstance(label, str) or word.lower() in BARE
    return shown(f"{target} = {word}" if target and bare else word)


def percent(share: float) -> str:
    """A share in words; nearly all is not all."""
    if not np.isfinite(share):
        return "–"
    places = 0 if 0.1 <= share <= 0.9 or share in (0, 1) else 1
    text = f"{100 * share:.{places}f}"
    if float(text) in (0, 100) and share not in (0, 1):
        text = "under 0.1" if share < 0.5 else "over 99.9"
    return f"{text}\N{NO-BREAK SPACE}%"


def number(value: float, digits: int = 3) -> str:
    """A number to so many places."""
    return f"{value:.{digits}f}"


def short(value: float) -> str:
    """A number to four significant digits."""
    return f"{value:.4g}"


def _said(machine: Any, evidence: Evidence, about: About) -> dict[str, Any]:
    answers = answers_of(machine, evidence)
    classes = [name_of(label, about.target) for label in machine.classes_.tolist()]
    counts = evidence.counts(len(classes))
    plane, plane_picture = regions_of(machine, evidence, about)
    lines = lines_of(machine, evidence)
    said = {
        "about": about,
        "title": shown(about.title or f"Report on {about.data or 'a machine'}"),
        "classes": classes,
        "binary": len(classes) == 2,
        "counts": counts.tolist(),
        "learnt": [f"{n:g}" for n in learnt_counts(machine)],
        "imbalance": float(counts.max() / counts[counts > 0].min()),
        "same_rows": learnt_these(machine, evidence),
        "missing": sorted(about.missing.items(), key=lambda item: -item[1]),
        "most_missing": MOST_MISSING,
        "confusion": answers.confusion.tolist(),
        "recalls": _shares(np.diag(answers.confusion), answers.confusion.sum(axis=1)),
        "precisions": _shares(np.diag(answers.confusion), answers.confusion.sum(axis=0)),
        "no_mistakes": most_missed(answers.confusion),
        "lines": lines,
        "fewer_lines": len(lines) == MOST_PAIRS,
        "plane": plane,
        "plane_picture": plane_picture,
        "path": path_of(about, "neurons or landmarks"),
        "settings": list(dict.fromkeys(map(setting_of, about.path))),
        "machine": _machine(machine),
        "seed": getattr(machine, "random_state", None) if about.seed is None else about.seed,
        "kind": type(machine).__name__,
    }
    if said["binary"]:
        return said | _two(machine, evidence, answers, said)
    return said | {"scores": scores_of(answers), "data": json_block({})}


def _two(machine: Any, evidence: Evidence, answers: Any, said: dict[str, Any]) -> dict[str, Any]:
    """What is said of two classes only."""
    rare = rarer(evidence.labels)
    if not all(said["counts"]):
        raise InputError("A report on two classes needs rows of both.")
    curves = curves_of(machine, evidence, rare)
    pictures = {"line": said["lines"][0].picture, "plane": said["plane_picture"], **curves}
    counts = np.array(said["counts"])
    solved = machine.machine_
    at_shares = solved.gaussians[0].log_ratio(evidence.projections[:, 0]) + np.log(
        counts[1] / counts[0]
    )
    costs = np.array(costs_of(machine))
    missed = answers.confusion.sum(axis=1) - np.diag(answers.confusion)
    differ = not np.allclose(np.exp(solved.log_priors), counts / counts.sum(), atol=0.005)
    return {
        "rare": rare,
        "other": 1 - rare,
        "curves": curves,
        "scores": scores_of(answers, at_shares if differ else None),
        "costs": costs.tolist(),
        "priors": np.exp(solved.log_priors).tolist(),
        "priors_differ": differ,
        "cost": float(missed @ costs),
        "blind_cost": float((counts * costs).min()),
        "exact": len(evidence.labels) <= MOST_ROWS,
        "quantiles": QUANTILES,
        "data": json_block(
            live_data(machine, said["classes"], evidence, rare, pictures, said["plane"])
        ),
    }


def _shares(parts: Array, wholes: Array) -> list[float]:
    return [float(a / b) if b else float("nan") for a, b in zip(parts, wholes, strict=True)]


def _machine(machine: Any) -> dict[str, str]:
    """The machine's parameters that are not default, in words."""
    defaults = type(machine)().get_params(deep=False)
    chosen = machine.get_params(deep=False)
    return {
        name: shown(repr(value))
        for name, value in chosen.items()
        if name not in ("random_state", "n_jobs") and repr(value) != repr(defaults[name])
    }
