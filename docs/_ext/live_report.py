"""The report on the front page: the one that `eem demo` writes, beside the built pages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from sphinx.application import Sphinx


def write_report(app: Sphinx, exception: Exception | None) -> None:
    if exception is None and app.builder.name == "html":
        report = Path(app.outdir) / "report.html"
        demo = [sys.executable, "-m", "extreme_entropy", "demo", "--out", str(report)]
        subprocess.run(demo, check=True, stdout=subprocess.DEVNULL)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("build-finished", write_report)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
