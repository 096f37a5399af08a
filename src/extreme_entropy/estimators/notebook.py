"""A fitted classifier as a notebook shows it: classes, projections, settings; all of it escaped.

An unfitted one is shown by scikit-learn's own diagram. Colours are of middling brightness and text
takes the notebook's own colour, so that it can be read on a light and on a dark ground.
"""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import NotFittedError

from ..machine.decision import Curve
from .mixin import EstimatorMixin

COLOURS = ("#2a8fd0", "#e0701a")
WIDTH, HEIGHT = 320, 70
MOST_LETTERS, MOST_CLASSES = 60, 20


class NotebookView(EstimatorMixin):
    """What notebooks and scikit-learn's diagrams ask of a classifier."""

    def _html_repr(self) -> str:
        return html_of(self)

    # scikit-learn 1.6 does not ask `_html_repr` yet.
    def _repr_html_inner(self) -> str:
        return html_of(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """Text, and HTML unless diagrams are switched off."""
        text = {"text/plain": repr(self)}
        diagram = get_config()["display"] == "diagram"
        return text | {"text/html": html_of(self)} if diagram else text


def html_of(classifier: Any) -> str:
    """HTML of a classifier."""
    if not classifier.__sklearn_is_fitted__():
        return estimator_html_repr(classifier)
    try:
        _ = classifier.machine_
    except NotFittedError as error:  # some class has no rows yet
        body = f"<p>{escape(str(error))}</p>"
    else:
        body = (_one_pair if len(classifier.classes_) == 2 else _many_classes)(classifier)
    return (
        '<div style="display:inline-block;max-width:min(100%,42em);padding:.6em 1em;'
        "overflow-wrap:anywhere;border:1px solid #8888;"
        'border-radius:.5em;font-family:system-ui,sans-serif;line-height:1.45">'
        f"<strong>{type(classifier).__name__}</strong> {_parameters(classifier)}"
        f"{_classes(classifier)}{body}"
        "</div>"
    )


def _parameters(classifier: Any) -> str:
    """Parameters that are not default."""
    defaults = type(classifier)().get_params(deep=False)
    chosen = [
        f"{name}={_name(repr(value))}"
        for name, value in classifier.get_params(deep=False).items()
        if repr(value) != repr(defaults[name])
    ]
    return f"<code>{', '.join(chosen)}</code>" if chosen else "with default parameters"


def _classes(classifier: Any) -> str:
    counts = classifier.summary_.counts.sum(axis=1)
    two = len(counts) == 2
    rows = [
        f'<span style="display:inline-block;margin-right:1.2em">{_dot(c) if two else ""}'
        f"<b><bdi>{_name(label)}</bdi></b>: {n:g} {'row' if n == 1 else 'rows'}</span>"
        for c, (label, n) in enumerate(zip(classifier.classes_, counts, strict=True))
    ]
    more = f"and {len(rows) - MOST_CLASSES} more classes" * (len(rows) > MOST_CLASSES)
    return f'<div style="margin:.3em 0">{"".join(rows[:MOST_CLASSES])}{more}</div>'


def _dot(c: int) -> str:
    return (
        '<span style="display:inline-block;width:.7em;height:.7em;border-radius:50%;'
        f'margin-right:.4em;background:{COLOURS[c]}"></span>'
    )


def _name(text: Any) -> str:
    """A name from the data, shortened and escaped."""
    words = str(text)
    return escape(words if len(words) <= MOST_LETTERS else words[:MOST_LETTERS] + "…")


def _one_pair(classifier: Any) -> str:
    thresholds = [f"{t:.3g}" for t in classifier.thresholds_]
    changes = f"changes at {' and '.join(thresholds)}" if thresholds else "never changes"
    if not hasattr(classifier, "beta_"):
        return (
            f'<div style="font-size:.9em">{_leaves(classifier)}. The '
            f"decision {changes} of their log-odds; divergence {classifier.divergence_:.3g}.</div>"
        )
    shrunk = " and ".join(f"{epsilon:.2g}" for epsilon in classifier.shrinkage_)
    return (
        f"{_picture(classifier.machine_.curves[0], classifier.thresholds_)}"
        f'<div style="font-size:.9em">The decision {changes} of the projection; means at '
        f"{classifier.means_[0]:.3g} and {classifier.means_[1]:.3g}. Divergence "
        f"{classifier.divergence_:.3g}, shrinkage {shrunk}.</div>"
    )


def _leaves(classifier: Any) -> str:
    n = len(classifier.feature_map_.leaves)
    return f"{n} {'leaf' if n == 1 else 'leaves'}"


def _many_classes(classifier: Any) -> str:
    solved = classifier.machine_
    if not hasattr(classifier, "beta_"):
        text = f"{_leaves(classifier)}, with a logit for each class."
        return f'<div style="font-size:.9em">{text}</div>'
    hardest = int(np.argmin(solved.divergences))
    i, j = solved.pairs[hardest]
    return (
        f'<div style="font-size:.9em">{len(solved.pairs)} pairs of classes; hardest to tell apart: '
        f"<bdi>{_name(classifier.classes_[i])}</bdi> and "
        f"<bdi>{_name(classifier.classes_[j])}</bdi> "
        f"(divergence {solved.divergences[hardest]:.3g}).</div>"
    )


def _picture(gaussian: Curve, thresholds: Any) -> str:
    """The two Gaussians and the thresholds, small."""
    means, deviations = np.array(gaussian.means), np.sqrt(gaussian.variances)
    low, high = (means - 3.5 * deviations).min(), (means + 3.5 * deviations).max()
    t = np.linspace(low, high, 121)
    densities = np.exp(-0.5 * ((t - means[:, None]) / deviations[:, None]) ** 2)
    densities /= deviations[:, None]
    x = (t - low) / (high - low) * WIDTH
    y = HEIGHT - 2 - densities / densities.max() * (HEIGHT - 6)
    curves = [
        f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="'
        + " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, line, strict=True))
        + '"/>'
        for colour, line in zip(COLOURS, y, strict=True)
    ]
    places = [(t - low) / (high - low) * WIDTH for t in thresholds if low < t < high]
    lines = [
        f'<line x1="{p:.1f}" x2="{p:.1f}" y1="0" y2="{HEIGHT}" stroke="currentColor" '
        'stroke-dasharray="4 3"/>'
        for p in places
    ]
    return (
        f'<svg role="img" aria-label="Projections of both classes" width="{WIDTH}" '
        f'height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" style="display:block;max-width:100%">'
        f'<line x1="0" x2="{WIDTH}" y1="{HEIGHT - 1}" y2="{HEIGHT - 1}" stroke="currentColor" '
        f'stroke-opacity=".4"/>{"".join(curves)}{"".join(lines)}</svg>'
    )
