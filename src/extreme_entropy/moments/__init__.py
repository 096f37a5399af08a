"""Rows ↦ summary. What a fit keeps of its rows, and how it is added up."""
