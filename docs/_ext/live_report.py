"""The report on the front page: the one that `eem demo` writes, beside the built pages."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from sphinx.application import Sphinx


def write_report(app: Sphinx, exception: Exception | None) -> None:
    if exception is None and app.builder.name == "html":
        demo = [sys.executable, "-m", "extreme_entropy", "demo", "--out", "report.html"]
        with tempfile.TemporaryDirectory() as folder:  # tables and a model come with it
            subprocess.run(demo, check=True, cwd=folder, stdout=subprocess.DEVNULL)
            shutil.copy(Path(folder, "report.html"), app.outdir)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("build-finished", write_report)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
