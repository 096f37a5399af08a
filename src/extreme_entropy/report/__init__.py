"""The report: one HTML file about a fitted classifier, evaluated on rows.

Needs the extra `report`. It opens from disk, asks the network for nothing, and its cost slider uses
the closed form of `machine/decision.py`, so that it shows what `with_costs` would give.
"""

from .about import About
from .build import build_report, write_report

__all__ = ["About", "build_report", "write_report"]
