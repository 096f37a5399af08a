"""The page: its sections, put into the template, under a policy that lets nothing else run."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup

from . import numbers
from .harmless_text import json_block, visible
from .live import live_data
from .sections.again import again
from .sections.budget import budget
from .sections.curves import curves
from .sections.held_out import held_out
from .sections.importance import importance
from .sections.matrix import matrix
from .sections.mistakes import mistakes
from .sections.pairs import pairs
from .sections.population import population
from .sections.short import short
from .subject import Section, Subject
from .verdict import learnt_text

#: The parts of a page, in their order.
SECTIONS = (
    Section("short.html", short),
    Section("held_out.html", held_out),
    Section("mistakes.html", mistakes),
    Section("budget.html", budget),
    Section("matrix.html", matrix),
    Section("importance.html", importance),
    Section("curves.html", curves),
    Section("pairs.html", pairs),
    Section("population.html", population),
    Section("again.html", again),
)
SCRIPTS: dict[bool, tuple[str, ...]] = {
    True: ("closed_form.js", "numbers.js", "ranking.js", "drawing.js", "slider.js"),
    False: ("chooser.js",),
}


def render(subject: Subject, sections: Sequence[Section] = SECTIONS) -> str:
    """The report as HTML."""
    style = _asset("page.css")
    script = "".join(_asset(name) for name in SCRIPTS[subject.two is not None])
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    made = [(section.template, section.content(subject)) for section in sections]
    contents = [(template, content) for template, content in made if content is not None]
    parts = [
        _template(template).render(subject=subject, section=content)
        for template, content in contents
    ]
    data = live_data(subject, [content for _, content in contents])
    return _template("page.html").render(
        subject=subject,
        learnt=learnt_text(subject.evaluation.share_learnt),
        title=visible(subject.about.title or _title(subject)),
        parts=[Markup(part) for part in parts],  # rendered by templates, which escape all
        data=Markup(json_block(data)),
        style=Markup(style),  # this package's own files
        script=Markup(script),
        policy=policy,
    )


def _template(name: str) -> Any:
    return _environment().get_template(name)


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
    environment.filters |= {"visible": visible, "drift": "{:.2f}".format}
    return environment


def _asset(name: str) -> str:
    return files("extreme_entropy.report").joinpath("assets", name).read_text("utf-8")


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _title(subject: Subject) -> str:
    """What is predicted; the name of a file is no headline."""
    classes, two = subject.classes, subject.two
    what = subject.about.target or (f"{len(classes)} classes" if two is None else classes[two.rare])
    return f"Predicting {what}: report on {numbers.count(subject.evaluation.rows)} rows"
