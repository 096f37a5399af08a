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
from ..metrics import label_text
from . import numbers
from .about import About
from .budget import draw_costs, draw_gains, round_budget
from .classifiers import Reported, names_of
from .columns import MOST_BARS, explained_rows, important_columns
from .costs import class_costs, costs_of, economy
from .evidence import Evidence
from .live import SURE, is_exact, live_data
from .matrix import shown_matrix, worst_confusions
from .pictures import MOST_PAIRS, draw_columns, draw_curves, draw_pairs, draw_path, setting_name
from .plane import draw_plane
from .ranking import rank
from .scores import possible_mistakes, predict_rows, score_cards
from .text import json_block, visible

Array = np.ndarray[Any, Any]

MOST_MISSING = 12  # columns listed by name
LONGEST_NAME = 80  # letters of a class
COLOURS = 6  # classes that have one each; more have names only
BARE = {"yes", "no", "y", "n", "true", "false", "t", "f", "positive", "negative", "0", "1"}
SCRIPTS: dict[bool, tuple[str, ...]] = {
    True: ("closed_form.js", "numbers.js", "ranking.js", "drawing.js", "slider.js"),
    False: ("chooser.js",),
}


def render(classifier: Reported, evidence: Evidence, about: About) -> str:
    """The report as HTML."""
    style = _asset("page.css")
    script = "".join(_asset(name) for name in SCRIPTS[len(classifier.classes_) == 2])
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
    names = ("amount", "count", "percent", "score", "times")
    environment.filters |= {name: getattr(numbers, name) for name in names}
    environment.filters["visible"] = visible
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
    return visible(f"{target} = {text}" if target and bare else text, LONGEST_NAME)


def _contents(classifier: Reported, evidence: Evidence, about: About) -> dict[str, Any]:
    confusion = evidence.confusion
    classes = [class_name(label, about.target) for label in classifier.classes_.tolist()]
    counts, k = evidence.counts, len(classes)
    rare = evidence.rare if k == 2 else None
    given = list(about.columns)
    columns = given if len(given) == evidence.rows.shape[1] else names_of(classifier, evidence.rows)
    important = important_columns(classifier, evidence, columns)
    plane = draw_plane(classifier, evidence, columns)
    trained = classifier.trained_on
    contents = {
        "about": about,
        "title": visible(about.title or _title(about, classes, rare, int(counts.sum()))),
        "classes": classes,
        "colours": k <= COLOURS,
        "binary": k == 2,
        "counts": counts.tolist(),
        "learnt": None if trained is None else [float(n) for n in trained],
        "imbalance": float(counts.max() / counts[counts > 0].min()),
        "share_learnt": classifier.share_learnt(evidence.sketch),
        "missing": sorted(about.missing.items(), key=lambda item: -item[1]),
        "most_missing": MOST_MISSING,
        "confusion": confusion.tolist(),
        "recalls": _shares(np.diag(confusion), confusion.sum(axis=1)),
        "precisions": _shares(np.diag(confusion), confusion.sum(axis=0)),
        "no_mistakes": possible_mistakes(confusion),
        "costs": class_costs(classifier),
        "important": important,
        "most_bars": MOST_BARS,
        "columns_picture": None if important is None else draw_columns(important),
        "explained": explained_rows(classifier, evidence, columns, rare),
        "n_columns": len(columns),
        "plane": None if plane is None else plane[0],
        "plane_picture": None if plane is None else plane[1],
        "path": draw_path(about, "neurons or landmarks"),
        "settings": list(dict.fromkeys(map(setting_name, about.path))),
        "notes": [*about.warnings, *classifier.notes_on(evidence.rows)],
        "settings_of": classifier.settings(),
        "seed": classifier.seed if about.seed is None else about.seed,
        "kind": classifier.settings().split("(")[0].split(" ")[0],
        "ours": trained is not None,
        "gaussian": classifier.gaussian,
        "sampled": len(evidence.labels) if evidence.sampled else 0,
    }
    more = _two_classes if k == 2 else _many_classes
    return contents | more(classifier, evidence, contents)


def _title(about: About, classes: list[str], rare: int | None, n: int) -> str:
    """What is predicted; the name of a file is no headline."""
    what = about.target or (f"{len(classes)} classes" if rare is None else classes[rare])
    return f"Predicting {what}: report on {numbers.count(n)} rows"


def _two_classes(
    classifier: Reported, evidence: Evidence, contents: dict[str, Any]
) -> dict[str, Any]:
    """What the page has for two classes only."""
    counts, machine = evidence.counts, classifier.machine_
    if not counts.all():
        raise InputError("A report on two classes needs rows of both.")
    rare = evidence.rare
    ranking = rank(classifier, evidence, rare)
    money = economy(classifier, evidence, ranking, rare)
    budget = round_budget(ranking.total)
    pair = draw_pairs(classifier, evidence, contents["classes"])[0]
    predictions = predict_rows(evidence)
    display, curves = draw_curves(classifier, predictions, rare)
    pictures = {
        "projection": pair.picture,
        "gains": draw_gains(ranking, budget),
        "costcurve": draw_costs(ranking, money),
        **curves,
    }
    if contents["plane_picture"] is not None:
        pictures["plane"] = contents["plane_picture"]
    log_ratio = machine.curves[0].log_ratio(classifier.pair_values(predictions.values, 0))
    priors = np.exp(machine.log_priors)
    differ = not np.allclose(priors, counts / counts.sum(), atol=0.005, rtol=0.05)
    log_odds = log_ratio + np.log(counts[1] / counts[0])
    data = live_data(classifier, contents["classes"], evidence, rare, pictures, contents["plane"])
    found = ranking.found_within(budget)
    return {
        "rare": rare,
        "other": 1 - rare,
        "pair": pair,
        "pictures": pictures,
        "display": display,
        "scores": score_cards(evidence, (predictions.labels, log_odds) if differ else None),
        "priors": priors.tolist(),
        "priors_differ": differ,
        "money": money,
        "budget": budget,
        "budget_found": found,
        "budget_share": found / ranking.total,
        "budget_precision": found / budget,
        "lift": found / budget / (ranking.total / ranking.rows),
        "exact": is_exact(evidence),
        "sure": SURE,
        "data": json_block(data),
    }


def _many_classes(
    classifier: Reported, evidence: Evidence, contents: dict[str, Any]
) -> dict[str, Any]:
    """What the page has for more than two classes only."""
    pairs = draw_pairs(classifier, evidence, contents["classes"])
    recalls, costs = np.array(contents["recalls"]), costs_of(classifier)
    constant = evidence.counts @ costs
    by_class = costs == costs.max(axis=1)[:, np.newaxis] * (1 - np.eye(len(costs)))
    return {
        "cost": float((evidence.confusion * costs).sum()),
        "constant_cost": float(constant.min()),
        "constant": int(constant.argmin()),
        "cost_matrix": None if by_class.all() else costs.tolist(),
        "scores": score_cards(evidence),
        "right": int(np.trace(evidence.confusion)),
        "worst": worst_confusions(evidence.confusion),
        "hardest": int(np.nanargmin(recalls)),
        "matrix": shown_matrix(evidence.confusion),
        "pairs": pairs,
        "fewer_pairs": len(pairs) == MOST_PAIRS,
        "data": json_block({}),
    }


def _shares(parts: Array, wholes: Array) -> list[float]:
    return [float(a / b) if b else float("nan") for a, b in zip(parts, wholes, strict=True)]
