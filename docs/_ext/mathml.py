"""Formulas as MathML, which browsers draw themselves: no script, and nothing from a network."""

from __future__ import annotations

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator


def inline(writer: HTML5Translator, formula: nodes.math) -> None:
    writer.body.append(convert(formula.astext()))
    raise nodes.SkipNode


def block(writer: HTML5Translator, formula: nodes.math_block) -> None:
    drawn = convert(formula.astext(), display="block")
    writer.body.append(f'<div class="formula">{drawn}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
