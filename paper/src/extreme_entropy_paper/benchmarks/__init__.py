"""Speed, memory, calls and defaults: one module, one command, one file of rows each."""
