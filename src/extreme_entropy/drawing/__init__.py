"""A sample of rows ↦ φ: what is asked for, which columns matter, where rows are cut."""
