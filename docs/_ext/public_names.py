"""What the reference shows of a class, and links to it from code in Markdown.

A page of a class leaves out what every scikit-learn estimator has. In Markdown, code that is just
a public name, such as `EEMClassifier`, `EEMClassifier.fit` or `with_costs`, links to its page.
"""

from __future__ import annotations

import inspect
import re
import sys
from functools import cache
from importlib import import_module
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer
from sphinx.transforms import SphinxTransform

import extreme_entropy

# Methods that other packages of the library call, and users need not.
INTERNAL = {"set_fitted", "specification", "fitted_parts", "set_fitted_parts"}
STARTED_WITH = "extreme_entropy.ExtremeEntropyClassifier"
NO_LINK_IN = (
    *(nodes.title, nodes.rubric, nodes.reference),
    *(addnodes.pending_xref, addnodes.download_reference),
)
PACKAGES = ("entropy", "errors", "metrics", "plots", "report")


def public_names() -> dict[str, Any]:
    """Full name ↦ object of all that users import; of two places the more exact one."""
    modules = [import_module(f"extreme_entropy.{package}") for package in PACKAGES]
    found: dict[str, Any] = {}
    for module in (*modules, extreme_entropy):
        for name in getattr(module, "__all__", None) or _classes_of(module):
            value = getattr(module, name)
            if not any(value is other for other in found.values()):
                found[f"{module.__name__}.{name}"] = value
    return found


def own_methods(name: str) -> list[str]:
    """Methods of a class but those of scikit-learn and of built-in bases."""
    return [
        method
        for method, value in inspect.getmembers(_object(name), callable)
        if not re.match(r"_|set_\w+_request$", method)
        and method not in INTERNAL
        and str(getattr(value, "__module__", "")).startswith("extreme_entropy")
    ]


def _object(name: str) -> Any:
    module, _, attribute = name.rpartition(".")
    return getattr(import_module(module), attribute)


def _classes_of(module: Any) -> list[str]:
    return [name for name, value in vars(module).items()
            if inspect.isclass(value) and value.__module__ == module.__name__]  # fmt: skip


class LinkCode(SphinxTransform):
    """Code in a Markdown page that is a public name becomes a link to it."""

    default_priority = 110

    def apply(self, **_: Any) -> None:
        if not str(self.env.doc2path(self.env.docname)).endswith(".md"):
            return
        places = _by_last_part()
        for code in list(self.document.findall(nodes.literal)):
            place = places.get(code.astext().removesuffix("()"))
            if place is None or isinstance(code.parent, NO_LINK_IN):
                continue
            link = addnodes.pending_xref(
                refdomain="py", reftype="obj", reftarget=place, refdoc=self.env.docname,
                refexplicit=True, refwarn=True,
            )  # fmt: skip
            code.replace_self(link)
            link += code


@cache
def _by_last_part() -> dict[str, str]:
    """As it is written in a sentence ↦ full name: `Name`, `Name.method`, `with_costs`."""
    places = {}
    for name, value in sorted(public_names().items(), reverse=True):
        last = name.rpartition(".")[2]
        places[last] = name
        for method in own_methods(name) if inspect.isclass(value) else ():
            places[f"{last}.{method}"] = f"{name}.{method}"
    for method in own_methods(STARTED_WITH):
        if "_" in method:  # others may be words of the command, such as `forget`
            places[method] = f"{STARTED_WITH}.{method}"
    return places


def describe(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """What is scikit-learn's is described there; a value by the comment in the module it is of."""
    if inspect.isfunction(obj) and obj.__module__.startswith("sklearn."):
        lines[:] = [lines[0], "", f"This is scikit-learn's ``{obj.__name__}``, under a short name."]
    elif what == "data":
        package, _, attribute = name.rpartition(".")
        for module in [module for module in sys.modules if module.startswith(package)]:
            comments = ModuleAnalyzer.for_module(module).find_attr_docs()
            lines[:] = comments.get(("", attribute), lines)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", describe, priority=400)  # before numpydoc
    classes = [name for name, value in public_names().items() if inspect.isclass(value)]
    app.config.autosummary_context["own_methods"] = {name: own_methods(name) for name in classes}
    app.add_transform(LinkCode)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
