"""Tables in files: read in batches, encoded as a model has learnt, written whole or not at all.

Needs the extra `cli`.
"""

try:
    import pyarrow  # noqa: F401 (only to know whether the extra is installed)
except ImportError as _error:
    raise ImportError("Tables need pyarrow: pip install 'extreme-entropy[cli]'") from _error
