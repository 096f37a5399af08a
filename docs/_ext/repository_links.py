"""Pages of the repository stand in the site, and links between files become links between pages.

`evidence/large.md`, say, only includes `paper/docs/large.md`, where links are relative to that
file. A link to a file that stands in the site leads to its page, to any other file to a copy.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

ROOT = Path(__file__).resolve().parents[2]
# The file that a page includes, from the root of the repository.
INCLUDED = {
    "architecture": "ARCHITECTURE.md",
    "changelog": "CHANGELOG.md",
    "contributing": "CONTRIBUTING.md",
    "security": "SECURITY.md",
    "evidence/index": "paper/README.md",
} | {
    f"evidence/{path.relative_to(ROOT / 'paper/docs').with_suffix('').as_posix()}": str(
        path.relative_to(ROOT)
    )
    for path in (ROOT / "paper" / "docs").rglob("*.md")
}
PAGES = {file: docname for docname, file in INCLUDED.items()} | {"README.md": "index"}


class RepositoryLinks(SphinxTransform):
    """Links to files, resolved from the file in which they are written."""

    default_priority = 100

    def apply(self, **_: Any) -> None:
        for link in list(self.document.findall(_is_link_to_a_file)):
            written, _, anchor = link["reftarget"].partition("#")
            found = self._file(link, written)
            if found is None:
                continue
            docname = PAGES.get(found, self.env.path2doc(str(ROOT / found)))
            if docname in self.env.found_docs:
                new: nodes.Element = addnodes.pending_xref(
                    refdomain="doc", reftarget=docname, reftargetid=anchor or None
                )
            else:
                here = Path(self.env.doc2path(self.env.docname)).parent
                new = addnodes.download_reference(reftarget=os.path.relpath(ROOT / found, here))
            new.attributes |= {key: link[key] for key in ("refdoc", "reftype", "refexplicit")}
            new += link.children
            link.replace_self(new)

    def _file(self, link: nodes.Element, written: str) -> str | None:
        """From the root; None where there is no such file."""
        docname = self.env.docname
        if link.get("refdomain") == "doc":  # MyST has found it already, as a page or outside
            path = Path(self.env.srcdir, f"{written}.md")
        elif docname in INCLUDED:
            path = ROOT / Path(INCLUDED[docname]).parent / written
        else:
            path = Path(self.env.doc2path(docname)).parent / written
        path = Path(os.path.normpath(path))
        if not path.is_file() or not path.is_relative_to(ROOT):
            return None
        return path.relative_to(ROOT).as_posix()


def _is_link_to_a_file(node: nodes.Node) -> bool:
    return (
        isinstance(node, addnodes.pending_xref | addnodes.download_reference)
        and node.get("reftype") == "myst"
        and bool(node["reftarget"].partition("#")[0])
    )


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_transform(RepositoryLinks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
