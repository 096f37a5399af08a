"""The sections of a report: one file for each, with a template of its name in `assets`."""
