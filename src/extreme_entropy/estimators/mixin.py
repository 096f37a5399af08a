"""The base of our base classes: what they may call of scikit-learn's `BaseEstimator`.

scikit-learn ships no types. A class that derives from its bases is therefore partly unknown to type
checkers, and so is all that takes or returns one. Hence our own bases derive from `EstimatorMixin`,
which is `object` at run time, and the classifiers from our bases and from scikit-learn's.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, Self

    class EstimatorMixin:
        """A class to be combined with `BaseEstimator`, which has these methods."""

        def __init__(self, **params: Any) -> None: ...
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def _validate_params(self) -> None: ...
        def __sklearn_clone__(self) -> Self: ...
        def __sklearn_tags__(self) -> Any: ...

else:
    EstimatorMixin = object
