"""Versions of what takes part in this process."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version


def installed_versions(*more: str) -> dict[str, str]:
    """Of Python, of this library, of what it stands on, and of more packages if installed.

    Examples
    --------
    >>> from extreme_entropy.versions import installed_versions
    >>> list(installed_versions("no-such-package"))
    ['python', 'extreme-entropy', 'numpy', 'scipy', 'scikit-learn']
    """
    found = {"python": platform.python_version()}
    for name in ("extreme-entropy", "numpy", "scipy", "scikit-learn", *more):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
