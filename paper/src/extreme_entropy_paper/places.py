"""Where rows and pages lie in the checkout."""

from __future__ import annotations

from pathlib import Path

PAPER = Path(__file__).resolve().parents[2]
ROOT = PAPER.parent
ROWS = PAPER / "rows"
DOCS = PAPER / "docs"
