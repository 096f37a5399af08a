"""What type checkers are told is true: named options, and the methods of scikit-learn's bases.

How much they are told is held by `make typing`.
"""

import ast
import inspect
from pathlib import Path
from typing import Literal, get_args, get_origin, get_type_hints

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import StrOptions

import extreme_entropy
from extreme_entropy import EEMClassifier
from extreme_entropy.estimators import fitted

ESTIMATORS = [
    cls
    for name in extreme_entropy.__all__
    if isinstance(cls := getattr(extreme_entropy, name), type)
]
# A list of names is one of text, too, and so is any text: no type could tell a wrong name.
NOT_TYPED = {"categorical_features"}


def names_in(hint):
    """All texts that a type names, however deep."""
    if get_origin(hint) is Literal:
        return set(get_args(hint))
    return set().union(*map(names_in, get_args(hint))) if get_origin(hint) else set()


def named_options(cls):
    """Parameters that take names, with the names that are accepted."""
    for name, rules in cls._parameter_constraints.items():
        accepted = set().union(*(rule.options for rule in rules if isinstance(rule, StrOptions)))
        if accepted and name not in NOT_TYPED:
            yield name, accepted


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_the_types_of_named_options_are_the_names_that_are_accepted(cls):
    hints = get_type_hints(cls.__init__)
    told = {name: names_in(hints[name]) for name, _ in named_options(cls)}
    assert told
    assert told == dict(named_options(cls))


def test_what_type_checkers_are_told_of_scikit_learn_is_so():
    """Each method of `EstimatorMixin` is one of `BaseEstimator`, with the same parameters."""
    tree = ast.parse(Path(fitted.__file__).read_text(encoding="utf-8"))
    parts = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    told = next(part for part in parts if part.name == "EstimatorMixin")
    methods = {node.name: node.args for node in told.body if isinstance(node, ast.FunctionDef)}
    assert "set_params" in methods
    methods.pop("__init__")  # each estimator has its own
    for name, arguments in methods.items():
        theirs = inspect.signature(getattr(BaseEstimator, name)).parameters.values()
        plain = [p.name for p in theirs if p.kind is p.POSITIONAL_OR_KEYWORD]
        keywords = [p.name for p in theirs if p.kind is p.VAR_KEYWORD]
        assert [argument.arg for argument in arguments.args] == plain, name
        assert [argument.arg for argument in filter(None, [arguments.kwarg])] == keywords, name


def test_the_mixin_is_nothing_at_run_time():
    assert fitted.EstimatorMixin is object
    assert EEMClassifier.get_params is BaseEstimator.get_params
