"""What can go wrong with a data set or a run. Everything else raises the library's own errors.

::

    ExtremeEntropyError
    ├── DatasetError (OSError)          a data set cannot be had: no network, no file
    │   └── ContentError (ValueError)   what came under its name is not that data set
    └── WorkerError (RuntimeError)      a process of a run was ended from outside

    ExtremeEntropyWarning (UserWarning)
    └── IndefiniteWarning               a kernel matrix is not positive definite to rounding
"""

from extreme_entropy.errors import ExtremeEntropyError, ExtremeEntropyWarning


class DatasetError(ExtremeEntropyError, OSError):
    """A data set cannot be had: there is no network, no file, or no such thing any more."""


class ContentError(DatasetError, ValueError):
    """What came under the name of a data set is not that data set."""


class WorkerError(ExtremeEntropyError, RuntimeError):
    """A process of a run was ended from outside, for want of memory perhaps."""


class IndefiniteWarning(ExtremeEntropyWarning):
    """A kernel matrix is not positive definite to rounding."""
