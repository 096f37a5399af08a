"""Programs that look for inputs which break a promise; not installed with the library."""
