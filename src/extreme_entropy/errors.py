"""Every error and warning the library raises, and which built-in each one also is.

::

    ExtremeEntropyError
    ├── InputError (ValueError)         the data, labels, weights or parameters cannot be used
    │   ├── MergeError                  two classifiers do not share φ or their classes
    │   ├── ForgetError                 rows to forget were never learnt
    │   └── TooLargeError (MemoryError) a fit would need more memory than there is
    ├── IncompleteError (NotFittedError) some class has no rows yet, so there is nothing to decide
    ├── FileFormatError (ValueError)    a file is not a model of ours, or was damaged
    └── WriteError (OSError)            a model could not be written: the disk is full, say

    ExtremeEntropyWarning (UserWarning)
    ├── ChangedDefaultWarning           labels are not those that an earlier version gave
    ├── DateWarning                     text that may be dates is read in doubt, or not as dates
    ├── DegenerateWarning               the prediction is constant: classes have the same mean
    ├── FewRowsWarning                  a class has too few rows for what was asked
    ├── ForcedWarning                   rows were taken out that may never have been learnt
    ├── IdentifierWarning               columns that only tell rows apart are left out
    ├── NumberWarning                   text is read as numbers, or is not though it holds many
    ├── PrecisionWarning                whole numbers have more digits than floats
    └── UnseenWarning                   most categories of a column are not those of the first rows
"""

import functools
import os
import sys
import warnings

from sklearn.exceptions import NotFittedError

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_PASSED_OVER = (_PACKAGE, functools.__file__)  # which calls us back for cached properties


class ExtremeEntropyError(Exception):
    """Base of all errors raised on purpose by this library."""


class InputError(ExtremeEntropyError, ValueError):
    """The data, labels, weights or parameters cannot be used as they are."""


class MergeError(InputError):
    """Two classifiers cannot be merged: they do not share φ or their classes."""


class ForgetError(InputError):
    """Rows to forget were never learnt: a count would become negative."""


class TooLargeError(InputError, MemoryError):
    """A fit would need more memory than there is."""


class IncompleteError(ExtremeEntropyError, NotFittedError):
    """Some class has no rows yet, so there is nothing to decide."""


class FileFormatError(ExtremeEntropyError, ValueError):
    """A file is not a saved model of ours, or it was damaged."""


class WriteError(ExtremeEntropyError, OSError):
    """A model could not be written, as to a disk that is full; what was there is unchanged."""


class ExtremeEntropyWarning(UserWarning):
    """Base of all warnings given by this library."""


class ChangedDefaultWarning(ExtremeEntropyWarning):
    """Labels differ from those of an earlier version as a default has changed; given once."""


class DateWarning(ExtremeEntropyWarning):
    """Text may hold dates in another order than assumed, or is not, or not all, read as dates."""


class DegenerateWarning(ExtremeEntropyWarning):
    """The prediction is constant, because the classes have the same mean in feature space."""


class FewRowsWarning(ExtremeEntropyWarning):
    """A class has too few rows for what was asked of it."""


class ForcedWarning(ExtremeEntropyWarning):
    """Rows were taken out with `force=True` that were not found among those learnt."""


class IdentifierWarning(ExtremeEntropyWarning):
    """Columns that only tell rows apart, such as row numbers or names, are left out."""


class NumberWarning(ExtremeEntropyWarning):
    """Text is read as numbers, perhaps not all of it, or is not though it holds many."""


class PrecisionWarning(ExtremeEntropyWarning):
    """Columns hold whole numbers with more digits than floats have, which are rounded."""


class UnseenWarning(ExtremeEntropyWarning):
    """Most values of a column are categories that the first rows did not hold."""


def warn(message: str, category: type[Warning]) -> None:
    """Give a warning that points at the line which called the library, however deep this is."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PASSED_OVER):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level + 1)


@functools.cache
def warn_once(message: str, category: type[Warning]) -> None:
    """Give a warning unless this process has already given it."""
    warn(message, category)
