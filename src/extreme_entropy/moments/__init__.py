"""Rows ↦ summary. What the machine remembers of its rows, and how it is added up."""
