"""A machine on disk: the same to the last bit, refused when damaged, and never code."""

import copy
import json
import os
import pickle
import stat
import tracemalloc
from dataclasses import dataclass, replace
from io import BytesIO
from typing import Annotated

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file, save_file
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from extreme_entropy import (
    EEKMClassifier,
    EEMClassifier,
    ExtremeEntropyClassifier,
    load,
    persistence,
)
from extreme_entropy.errors import FileFormatError, InputError
from extreme_entropy.estimators.schema import (
    LAWS,
    PARTS,
    Fitted,
    check,
    check_fitted,
    is_stored,
)
from extreme_entropy.features.codes import Coded
from extreme_entropy.features.kernels import CustomKernel
from extreme_entropy.features.neurons import Custom
from extreme_entropy.machine.machine import all_pairs, with_first
from extreme_entropy.shapes import Count, Numbers

ACTIVATIONS = ["mixed", "sig", "nsig", "rbf", "tanimoto", "sorensen", "relu"]
KERNELS = ["rbf", "laplacian", "polynomial", "linear", "cosine", "tanimoto"]
MACHINES = {
    **{a: EEMClassifier(20, activation=a, random_state=0) for a in ACTIVATIONS},
    **{f"k {k}": EEKMClassifier(20, kernel=k, random_state=0) for k in KERNELS},
    "minmax": EEMClassifier(20, scale="minmax", random_state=0),
    "standard": EEMClassifier(20, scale="standard", decision="paper", random_state=0),
    "unscaled": EEKMClassifier(20, scale=None, shrinkage="oas", ridge=0.1, random_state=0),
    "number": EEMClassifier(20, shrinkage=0.25, n_jobs=1),
    "numpy": EEMClassifier(
        np.int64(20),
        shrinkage=np.float64(0.25),
        random_state=np.random.RandomState(3),
    ),
}
every_machine = pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES)


def table(n_classes=2, n=150, dtype=float):
    rng = np.random.default_rng(4)
    y = np.arange(n) % n_classes
    return (rng.exponential(size=(n, 5)) + 0.8 * y[:, None]).astype(dtype), y


@pytest.fixture
def path(tmp_path):
    return tmp_path / "machine.eem"


def again(machine, path):
    machine.save(path)
    return load(path)


def assert_same_bits(ours, theirs, X):
    assert type(ours) is type(theirs)
    for name in ("predict_proba", "decision_function", "project", "predict", "predict_log_proba"):
        a, b = getattr(ours, name)(X), getattr(theirs, name)(X)
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
    for name in ("beta_", "means_", "variances_", "shrinkage_", "divergence_", "classes_"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))


# -------------------------------------------------------------------- the same to the last bit


@every_machine
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_loaded_machine_answers_with_the_same_bits(machine, dtype, n_classes, path):
    """Probabilities, decisions and projections come back exactly, for any φ."""
    X, y = table(n_classes, dtype=dtype)
    fitted = clone(machine).fit(X, y)
    assert_same_bits(again(fitted, path), fitted, X)


@every_machine
def test_a_loaded_machine_goes_on_learning_with_the_same_bits(machine, path):
    """More rows, merging and forgetting give what they give the original."""
    X, y = table()
    fitted = clone(machine).fit(X[:80], y[:80])
    loaded = again(fitted, path)
    for one in (fitted, loaded):
        one.partial_fit(X[80:120], y[80:120])
        one.merge(one.twin().fit(X[120:], y[120:]))
        one.forget(X[:30], y[:30])
    assert_same_bits(loaded, fitted, X)
    one, other = copy.copy(loaded), copy.copy(fitted)  # they share φ
    assert_same_bits(one.merge(fitted, force=True), other.merge(loaded, force=True), X)
    assert_same_bits(again(loaded, path), fitted, X)


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["no", "yes", "žluť"]),
        np.array(["no", "yes", "o"], dtype=object),
        np.array([-1, 5, 9]),
        np.array([1, 2, 200], dtype=np.uint8),
        np.array([0.0, 1.0, 7.0]),
        np.array([0, 1, 2], dtype=">i4"),
        np.array([0, 1, 2], dtype=np.float16),
    ],
    ids=["str", "object", "int", "uint8", "float", "big-endian", "half"],
)
def test_labels_come_back_as_they_were(labels, path):
    """Labels of any kind keep value and type."""
    X, y = table(3)
    fitted = EEMClassifier(
        15, costs={labels[0].item(): 2.0} if labels.dtype != object else None, random_state=0
    ).fit(X, labels[y])
    loaded = again(fitted, path)
    assert_same_bits(loaded, fitted, X)
    assert loaded.costs == fitted.costs
    loaded.partial_fit(X, labels[y])


def test_truths_come_back_as_they_were(path):
    """Booleans are labels too."""
    X, y = table()
    fitted = EEMClassifier(15, costs={True: 3.0}, random_state=0).fit(X, y == 1)
    loaded = again(fitted, path)
    assert_same_bits(loaded, fitted, X)
    assert loaded.predict(X).dtype == bool


def test_feature_names_come_back_and_are_checked(path):
    """A loaded machine still refuses columns in another order."""
    X, y = table()
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d", "é"])
    fitted = EEMClassifier(15, random_state=0).fit(frame, y)
    loaded = again(fitted, path)
    assert_same_bits(loaded, fitted, frame)
    assert loaded.feature_names_in_.tolist() == ["a", "b", "c", "d", "é"]
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame[["b", "a", "c", "d", "é"]])


@pytest.mark.parametrize(
    "stakes",
    [
        {"priors": "empirical"},
        {"priors": [0.1, 0.9]},
        {"priors": (0.1, 0.9)},
        {"priors": np.array([0.1, 0.9])},
        {"priors": {0: 0.3, 1: 0.7}, "costs": {1: 4}},
        {"costs": {0: np.float32(2.5)}},
        {"costs": {np.int64(1): 2}},
        {"costs": {}},
    ],
    ids=str,
)
def test_stakes_come_back_as_they_were(stakes, path):
    """Priors and costs, their kinds included, so that a later solve uses them."""
    X, y = table()
    fitted = EEMClassifier(15, random_state=0, **stakes).fit(X, y)
    loaded = again(fitted, path)
    assert_same_bits(loaded, fitted, X)
    np.testing.assert_array_equal(loaded.thresholds_, fitted.thresholds_)
    for one in (loaded, fitted):
        one.partial_fit(X[:10], y[:10])
    assert_same_bits(loaded, fitted, X)
    assert clone(loaded).fit(X, y).get_params().keys() == fitted.get_params().keys()


def test_a_twin_on_disk_is_still_a_twin(path):
    """Its fit keeps φ after loading, so that parts made elsewhere can be merged."""
    X, y = table()
    machine = EEMClassifier(15, random_state=0).fit(X[:70], y[:70])
    loaded = again(machine.twin().fit(X[:30], y[:30]), path)
    merged = machine + loaded.fit(X[70:], y[70:])
    expected = machine.twin().fit(X, y).decision_function(X)
    np.testing.assert_allclose(
        merged.decision_function(X), expected, atol=1e-6 * abs(expected).max()
    )


def test_a_part_with_some_of_the_classes_can_be_saved(path):
    """A twin that saw one class is what a worker sends home; it may be written and merged."""
    X, y = table()
    machine = EEMClassifier(15, random_state=0).fit(X, y)
    parts = []
    for c in (0, 1):
        part = machine.twin().fit(X[y == c], y[y == c])
        parts.append(again(part, path))
    expected = machine.decision_function(X)
    np.testing.assert_allclose(
        (parts[0] + parts[1]).decision_function(X), expected, atol=1e-6 * abs(expected).max()
    )


@pytest.mark.parametrize("as_text", [True, False])
def test_a_path_may_be_text_and_a_file_may_be_replaced(as_text, path):
    """Saving twice leaves the second; the file follows the process's permissions."""
    X, y = table()
    target = str(path) if as_text else path
    EEMClassifier(10, random_state=0).fit(X, y).save(target)
    second = EEMClassifier(11, random_state=0).fit(X, y)
    second.save(target)
    assert_same_bits(load(target), second, X)
    assert os.listdir(path.parent) == [path.name]
    mask = os.umask(0o022)
    os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask


# -------------------------------------------------------------------- damaged and foreign files


@pytest.fixture
def saved(path):
    """A saved machine, with rows to ask it about."""
    X, y = table()
    machine = EEMClassifier(8, random_state=0).fit(X, y)
    machine.save(path)
    return path, machine, X


def test_an_empty_file_is_refused(path):
    """No bytes are no machine."""
    path.write_bytes(b"")
    with pytest.raises(FileFormatError, match="cannot be read"):
        load(path)


def test_a_file_cut_short_is_refused(saved):
    """At any length, also between header and arrays."""
    path, _, _ = saved
    whole = path.read_bytes()
    header = 8 + int.from_bytes(whole[:8], "little")
    lengths = {1, 7, 8, 9, 100, header - 1, header, header + 1, len(whole) - 1}
    lengths |= set(np.linspace(2, len(whole) - 2, 40, dtype=int).tolist())
    for length in sorted(lengths):
        path.write_bytes(whole[:length])
        with pytest.raises(FileFormatError):
            load(path)


def test_a_file_with_something_behind_it_is_refused(saved):
    """Bytes after the end are not ours."""
    path, _, _ = saved
    path.write_bytes(path.read_bytes() + b"more")
    with pytest.raises(FileFormatError):
        load(path)


@pytest.mark.parametrize("where", ["header", "arrays"])
def test_an_altered_byte_is_noticed(saved, where):
    """Any one byte changed is refused, or (blanks in the header) says the same as before."""
    path, machine, X = saved
    whole = path.read_bytes()
    header = 8 + int.from_bytes(whole[:8], "little")
    low, high = (0, header) if where == "header" else (header, len(whole))
    rng = np.random.default_rng(0)
    refused = 0
    for position in rng.integers(low, high, 200):
        altered = bytearray(whole)
        altered[position] ^= int(rng.integers(1, 256))
        path.write_bytes(altered)
        try:
            loaded = load(path)
        except FileFormatError:
            refused += 1
        else:
            assert_same_bits(loaded, machine, X)
    assert refused > 190


def test_a_pickle_is_refused_and_not_run(saved, tmp_path):
    """Loading never unpickles."""
    path, machine, _ = saved
    witness = tmp_path / "witness"

    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(witness),)

    for thing in (machine, Evil()):
        path.write_bytes(pickle.dumps(thing))
        with pytest.raises(FileFormatError, match="another kind of file"):
            load(path)
    assert not witness.exists()


def test_another_librarys_file_is_refused(path):
    """safetensors of something else are not a machine."""
    for metadata in (None, {"format": "pt"}):
        save_file({"weights": np.ones(3)}, path, metadata=metadata)
        with pytest.raises(FileFormatError, match="not a model of this library"):
            load(path)


def test_a_file_of_a_later_version_is_refused_by_name(saved, monkeypatch):
    """The error says which version the file has, which is read, and what to do."""
    path, machine, _ = saved
    with monkeypatch.context() as later:
        later.setattr(persistence, "VERSION", 99)
        machine.save(path)
    with pytest.raises(FileFormatError, match=r"version '99'.*reads version 11\..*wrote it"):
        load(path)


def test_a_missing_file_is_a_missing_file(tmp_path):
    """The error is the one that callers of open() know, with the name."""
    with pytest.raises(FileNotFoundError, match=r"nothing\.eem"):
        load(tmp_path / "nothing.eem")
    with pytest.raises(OSError, match=tmp_path.name):
        load(tmp_path)


# -------------------------------------------------------------------- hostile files


def rewrite(path, change):
    """A file with other values and a checksum to match."""
    values, arrays = persistence.read(path)
    arrays = {name: array.copy() for name, array in arrays.items()}
    changed = change(values, arrays)
    persistence.write(path, values if changed is None else changed, arrays)


def set_in(*where, to):
    """A change that puts a value at a place of the header."""

    def change(values, arrays):
        inner = values
        for key in where[:-1]:
            inner = inner[key]
        inner[where[-1]] = to

    return change


def drop(*where):
    def change(values, arrays):
        inner = values
        for key in where[:-1]:
            inner = inner[key]
        del inner[where[-1]]

    return change


def put(name, array):
    """A change that puts an array in the place of another."""
    return lambda values, arrays: arrays.update({name: np.array(array)})


FIRST_LEAF = ("leaves", "tuple", 0, "fields")
FIRST_CELL = ("cells", "tuple", 0, "tuple", 0, "fields")
FIRST_SUMS = ("fitted", "summary_", "fields", *FIRST_LEAF, *FIRST_CELL)
FIRST_PAIR = ("fitted", "machine", "fields", "curves", "tuple", 0, "fields")


def deep(depth):
    value = 0
    for _ in range(depth):
        value = {"list": [value]}
    return value


HOSTILE = {
    "estimator is code": set_in("estimator", to="os.system"),
    "estimator is a list": set_in("estimator", to=["EEMClassifier"]),
    "estimator is another": set_in("estimator", to="EEKMClassifier"),
    "part is code": set_in("fitted", "feature_map_", "part", to="os.system"),
    "part is builtin": set_in("fitted", "feature_map_", to={"part": "eval", "fields": {"x": "1"}}),
    "part is a list": set_in("fitted", "feature_map_", "part", to=[]),
    "part is another": set_in("fitted", "summary_", "part", to="FeatureMap"),
    "dtype is code": set_in("fitted", "classes_", to={"labels": [1], "dtype": "os.system"}),
    "labels are no list": set_in("fitted", "classes_", to={"labels": {"a": 1}, "dtype": "<i8"}),
    "array is missing": set_in("fitted", "classes_", to={"array": "nowhere"}),
    "array is a list": set_in("fitted", "classes_", to={"array": ["classes_"]}),
    "unknown parameter": set_in("parameters", "shell", to="rm"),
    "unknown attribute": set_in("fitted", "predict", to=1),
    "hidden attribute": set_in("fitted", "__class__", to=1),
    "unknown field": set_in("fitted", "feature_map_", "fields", "extra", to=1),
    "no estimator": drop("estimator"),
    "no parameters": drop("parameters"),
    "no fitted": drop("fitted"),
    "no classes": drop("fitted", "classes_"),
    "no columns": drop("fitted", "n_features_in_"),
    "no phi": drop("fitted", "feature_map_"),
    "no summary": drop("fitted", "summary_"),
    "no machine": drop("fitted", "machine"),
    "no field": drop("fitted", "feature_map_", "fields", "leaves"),
    "nothing fitted": set_in("fitted", to={}),
    "values are a list": lambda values, arrays: [values],
    "values are a number": lambda values, arrays: 3,
    "parameters are a list": set_in("parameters", to=[1]),
    "fitted is a list": set_in("fitted", to=[1]),
    "fields are a list": set_in("fitted", "feature_map_", "fields", to=[1]),
    "tuple is a number": set_in("fitted", "machine", to={"tuple": 3}),
    "dict of lists": set_in("parameters", "costs", to={"dict": [[[], 1]]}),
    "neither": set_in("fitted", "feature_map_", to={"what": 1}),
    "phi is a number": set_in("fitted", "feature_map_", to=3),
    "summary is text": set_in("fitted", "summary_", to="much"),
    "deep nesting": lambda values, arrays: set_in("fitted", "feature_map_", to=deep(400))(
        values, arrays
    ),
    "no arrays": lambda values, arrays: arrays.clear(),
    "labels of gigabytes": set_in(
        "fitted", "classes_", to={"labels": [0, 1], "dtype": "S2000000000"}
    ),
    "wide labels": set_in("fitted", "classes_", to={"labels": ["a", "b"], "dtype": "<U100000000"}),
    "labels cut": set_in("fitted", "classes_", to={"labels": ["ab", "ac"], "dtype": "<U1"}),
    "labels in labels": set_in("fitted", "classes_", to={"labels": [["a"], ["b"]], "dtype": "|O"}),
    "half a character": set_in("fitted", "classes_", to={"labels": ["a", "\ud800"], "dtype": "|O"}),
    "one label": put("classes_", [3]),
    "one label twice": put("classes_", [3, 3]),
    "labels not sorted": put("classes_", [1, 0]),
    "NaN for a label": put("classes_", [0.0, np.nan]),
    "NaN sums": put("summary_.leaves.0.cells.0.0.mean", np.full(8, np.nan)),
    "endless sums": put("summary_.leaves.0.cells.1.2.scatter", np.full(36, np.inf)),
    "huge sums": put("summary_.leaves.0.cells.1.2.scatter", np.full(36, 1e200)),
    "other sums": put("summary_.leaves.0.cells.1.2.scatter", np.ones(28)),
    "no half of sums": put("summary_.leaves.0.cells.1.2.scatter", np.ones((8, 8))),
    "single precision": put("summary_.leaves.0.cells.1.2.scatter", np.ones(36, np.float32)),
    "fewer than no rows": set_in(*FIRST_SUMS, "n", to=-1.0),
    "endless rows": set_in(*FIRST_SUMS, "n", to=10**400),
    "rows are true": set_in(*FIRST_SUMS, "n", to=True),
    "columns are true": set_in("fitted", "n_features_in_", to=True),
    "another column": set_in("fitted", "n_features_in_", to=6),
    "no variance": set_in(*FIRST_PAIR, "variances", to={"tuple": [0.0, 1.0]}),
    "three means": set_in(*FIRST_PAIR, "means", to={"tuple": [0.0, 1.0, 2.0]}),
    "other operators": put("machine.leaves.0.operators", np.ones((1, 7))),
    "ridges of other pairs": put("machine.leaves.0.ridges", np.ones(2)),
    "another pair": set_in(
        "fitted", "machine", "fields", "pairs", to={"tuple": [{"tuple": [1, 0]}]}
    ),
    "operators that overflow": put("machine.leaves.0.operators", np.full((1, 8), 1e150)),
    "knots in no order": put("feature_map_.scaling.slopes", -np.ones(5 * 1025)),
    "no threads": set_in("parameters", "n_jobs", to=0),
    "unknown activation": set_in("parameters", "activation", to="magic"),
    "negative ridge": set_in("parameters", "ridge", to=-1.0),
    "costs of no class": set_in("parameters", "costs", to={"dict": [[7, 2.0]]}),
    "parameter is missing": drop("parameters", "ridge"),
    "another section": set_in("more", to=1),
    "more in a value": set_in("fitted", "classes_", "more", to=1),
    "another array": put("more", np.ones(3)),
    "one array twice": set_in("fitted", "machine", "fields", "ridges", to={"array": "classes_"}),
    "linear neurons beyond": set_in(
        *("fitted", "feature_map_", "fields", *FIRST_LEAF, "parts", "tuple", 0, "fields", "layer"),
        *("fields", "n_linear"),
        to=5,
    ),
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE)
def test_a_header_that_makes_no_sense_is_refused(saved, change):
    """Even with a matching checksum nothing but our own parts is ever built."""
    path, _, _ = saved
    rewrite(path, change)
    with pytest.raises(FileFormatError, match="does not understand"):
        load(path)


@pytest.mark.parametrize("one_leaf", [True, False], ids=["EEM", "default"])
def test_pairs_of_several_classes_are_those_of_the_classifier(one_leaf):
    """All of them where they are coupled, and those of the first class where there are logits."""
    X, y = table(3)
    kind = EEMClassifier(8, random_state=0) if one_leaf else ExtremeEntropyClassifier()
    parts = kind.fit(X, y).fitted_parts(solved=True)
    check_fitted(parts, one_leaf=one_leaf)
    machine, [leaf] = parts["machine"], parts["machine"].leaves
    places = [0, 1] if one_leaf else [0, 1, 1]
    leaf = replace(
        leaf,
        operators=leaf.operators[places],
        constants=leaf.constants[places],
        ridges=leaf.ridges[places] if one_leaf else leaf.ridges,
    )
    other = replace(
        machine,
        pairs=with_first(3) if one_leaf else all_pairs(3),
        curves=tuple(machine.curves[p] for p in places),
        leaves=(leaf,),
    )
    with pytest.raises(ValueError, match=r"^pairs must be"):
        check_fitted(parts | {"machine": other}, one_leaf=one_leaf)


def test_what_must_hold_and_what_came_are_told(saved):
    """In one sentence, with the place."""
    path, _, _ = saved
    rewrite(path, put("summary_.leaves.0.cells.0.0.scatter", np.ones(6)))  # half of (3, 3)
    with pytest.raises(FileFormatError) as caught:
        load(path)
    place = (
        "summary_.leaves[0].cells[0][0].scatter must be of shape (8, 8); it is an array of float64"
    )
    assert place in str(caught.value)
    assert "\n" not in str(caught.value)


def test_parts_of_a_file_follow_from_types():
    """All that a classifier holds, and nothing with a field that may hold anything."""
    layers = {"Cosine", "Laplacian", "Polynomial", "Radial", "Relu", "Sigmoid", "Similarity"}
    assert layers < set(PARTS)  # tests/golden has all of them
    assert set(LAWS) <= {*PARTS.values(), Fitted}
    assert not any(map(is_stored, (Custom, CustomKernel, Coded)))


@dataclass(frozen=True)
class Inner:
    rows: Annotated[np.ndarray, Numbers("n", "columns")]


@dataclass(frozen=True)
class Outer:
    columns: Annotated[int, Count("columns")]
    parts: Annotated[tuple[Inner, ...], Count(2)]


@dataclass(frozen=True)
class Anything:
    rows: np.ndarray


def test_sizes_belong_to_the_outermost_part_that_names_them():
    """Rows differ from part to part; columns, which the whole names, do not."""
    check(Outer, Outer(3, (Inner(np.ones((4, 3))), Inner(np.ones((5, 3))))), {}, "it")
    with pytest.raises(ValueError, match=r"it.parts\[1\].rows must be of shape \(5, 3\)"):
        check(Outer, Outer(3, (Inner(np.ones((4, 3))), Inner(np.ones((5, 2))))), {}, "it")
    with pytest.raises(ValueError, match=r"length of it\.parts must be 2; it is 1"):
        check(Outer, Outer(3, (Inner(np.ones((4, 3))),)), {}, "it")
    assert is_stored(Outer)
    assert not is_stored(Anything)


@pytest.mark.parametrize(
    "change", ["labels of gigabytes", "wide labels", "linear neurons beyond", "deep nesting"]
)
def test_a_hostile_file_takes_little_memory(saved, change):
    """No more than a few times its own size."""
    path, _, _ = saved
    rewrite(path, HOSTILE[change])
    tracemalloc.start()
    try:
        with pytest.raises(FileFormatError):
            load(path)
        assert tracemalloc.get_traced_memory()[1] < 20 * path.stat().st_size
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "declared",
    [
        {"shape": [10**12], "data_offsets": [0, 8 * 10**12]},
        {"shape": [0, 2**62], "data_offsets": [0, 0]},
        {"shape": [1] * 100},
        {"dtype": "BF16"},
        {"dtype": "F8_E4M3"},
    ],
    ids=str,
)
def test_arrays_larger_than_the_file_or_of_strange_types_are_refused(path, declared):
    """Before there is memory for them."""
    entry = {"dtype": "F64", "shape": [1], "data_offsets": [0, 8], **declared}
    header = {"__metadata__": {"format": persistence.FORMAT}, "a": entry}
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(8))
    with pytest.raises(FileFormatError, match="cannot be read"):
        load(path)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("feature_map_.scaling.starts", [0, 5]),
        ("feature_map_.tree.columns", [99]),
        ("feature_map_.encoding.parts.1.own", [0, 1, 2, 9, 9]),
        ("feature_map_.encoding.parts.1.values", [0.0, 2.0, 1.0]),
        ("feature_map_.encoding.parts.0.columns", [0, 0]),
        ("feature_map_.held.labels", None),
        ("feature_map_.held.counts", None),
        ("machine.leaves.0.constants", None),
        ("machine.leaves.0.constants", [0.0, 0.0]),
    ],
)
def test_leaves_on_a_frame_are_checked_as_well(name, change, path):
    """The tree, held rows, categories and constants."""
    X, y = table(n=400)
    frame = pd.DataFrame(
        {"a": X[:, 0], "b": X[:, 1], "c": np.array(list("xyz"))[np.arange(400) % 3]}
    )
    classifier = ExtremeEntropyClassifier(n_leaves=4, n_landmarks=5, random_state=0).fit(frame, y)
    assert len(classifier.feature_map_.leaves) > 1
    classifier.save(path)
    written = persistence.read(path)[1][name]
    spoilt = written - 1e9 if change is None else change
    rewrite(path, put(name, spoilt))
    with pytest.raises(FileFormatError, match="does not understand"):
        load(path)


def stored(path, text, arrays):
    """A file with these arrays as they are, and a checksum to match."""
    header = {
        "format": persistence.FORMAT,
        "version": str(persistence.VERSION),
        "values": text,
        "sha256": persistence._digest(str(persistence.VERSION), text, arrays),
    }
    save_file(arrays, path, metadata=header)


@pytest.mark.parametrize(
    "text",
    ["", "no json", "{", "[" * 100_000, '{"estimator": NaN}', "null"],
    ids=["empty", "words", "cut", "deep", "NaN", "null"],
)
def test_a_header_that_is_no_json_is_refused(saved, text):
    """The checksum proves only that the writer knew how to compute it."""
    path, _, _ = saved
    stored(path, text, load_file(path))
    with pytest.raises(FileFormatError):
        load(path)


def test_a_header_without_our_fields_is_refused(saved):
    """Format alone is not enough."""
    path, _, _ = saved
    save_file(load_file(path), path, metadata={"format": persistence.FORMAT})
    with pytest.raises(FileFormatError):
        load(path)


def test_the_header_is_plain_json_without_code(saved):
    """What a file says can be read by anyone, and holds numbers and names only."""
    path, _, _ = saved
    values, arrays = persistence.read(path)
    assert json.loads(json.dumps(values)) == values
    assert {array.dtype.kind for array in arrays.values()} <= set("biuf")


@pytest.mark.parametrize("shape", [(1000,), (40, 50), (3, 0, 7), (999,)], ids=str)
def test_all_doubles_come_back_to_the_last_bit(path, shape):
    """Signs of zeros, the smallest and the largest, and arrays in either order of bytes."""
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**64, size=shape, dtype=np.uint64)
    array = np.where(np.isfinite(bits.view(float)), bits.view(float), -0.0)
    persistence.write(
        path, {}, {"a": array, "b": array.astype(">f8"), "c": np.asfortranarray(array)}
    )
    for again in persistence.read(path)[1].values():
        assert again.dtype == np.float64
        assert again.shape == shape
        assert (again.view(np.uint64) == array.view(np.uint64)).all()


def test_sums_take_about_half_of_their_matrices():
    """Halves of symmetric matrices are written."""
    X, y = table(n=600)
    machine, file = EEMClassifier(300, random_state=0).fit(X, y), BytesIO()
    machine.save(file)
    cells = [part for cells in machine.summary_.leaves[0].cells for part in cells]
    assert len(file.getvalue()) < sum(cell.scatter.nbytes for cell in cells) * 0.55


# -------------------------------------------------------------------- what cannot be saved


def test_numbers_that_would_not_be_loaded_are_not_saved(path):
    """What is saved can be loaded; whoever has such columns learns it in time."""
    X, y = table()
    classifier = EEKMClassifier(5, kernel="rbf", scale=None, ridge=0.0).fit(X * 1e-80, y)
    with pytest.raises(InputError, match=r"layer.columns must be numbers from .* be pickled"):
        classifier.save(path)
    assert not path.exists()


def test_labels_of_a_very_wide_type_are_not_saved(path):
    """What is saved can be loaded, where the width of labels is limited."""
    X, y = table()
    classifier = EEMClassifier(5, random_state=0).fit(X, np.array(["no", "yes"], "<U2000")[y])
    with pytest.raises(InputError, match="at most 1000 characters"):
        classifier.save(path)


def waves(Z, weights, biases):
    return np.cos(Z @ weights.T + biases)


def dot(a, b):
    return float(a @ b)


@pytest.mark.parametrize(
    "machine",
    [
        EEMClassifier(10, activation=waves),
        EEKMClassifier(10, kernel=dot),
    ],
    ids=["activation", "kernel"],
)
def test_code_is_not_saved(machine, path):
    """A callable is refused with the remedy, and no file appears."""
    X, y = table()
    machine.fit(X, y)
    with pytest.raises(InputError, match=r"never code.*can be pickled"):
        machine.save(path)
    assert os.listdir(path.parent) == []


@pytest.mark.parametrize("kind", [EEMClassifier, EEKMClassifier])
def test_an_unfitted_machine_is_not_saved(kind, path):
    """There is nothing to write yet."""
    with pytest.raises(NotFittedError):
        kind().save(path)
    assert os.listdir(path.parent) == []


def test_a_folder_that_is_not_there_is_named(tmp_path):
    """Saving does not make folders; the error says which is missing."""
    X, y = table()
    machine = EEMClassifier(10, random_state=0).fit(X, y)
    with pytest.raises(OSError, match="nowhere"):
        machine.save(tmp_path / "nowhere" / "m.eem")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("step", ["save_file", "chmod", "replace"])
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_a_failure_midway_leaves_the_old_file_and_nothing_else(saved, monkeypatch, step, error):
    """The file is there whole or not at all."""
    path, machine, X = saved
    before = path.read_bytes()

    def fail(*args, **kwargs):
        if step == "save_file":
            with open(args[1], "wb") as half:
                half.write(b"half")
        raise error

    with monkeypatch.context() as broken:
        broken.setattr(persistence if step == "save_file" else os, step, fail)
        with pytest.raises(type(error)):
            machine.with_costs({1: 3}).save(path)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]
    assert_same_bits(load(path), machine, X)


@pytest.mark.parametrize("kind", [EEMClassifier, EEKMClassifier, ExtremeEntropyClassifier])
def test_a_loaded_machine_decides_as_the_saved_one_after_set_params(kind, path, rng):
    """New priors act from the next fit on; a file must not bring them forward."""
    y = (rng.random(500) < 0.1).astype(int)
    X = rng.normal(size=(500, 3)) + y[:, None]
    saved = kind(random_state=0).fit(X, y).set_params(priors="balanced")
    saved.save(path)
    costs = {1: 2.0}
    expected = saved.with_costs(costs).predict(X)
    assert (expected != saved.with_costs(costs, priors="balanced").predict(X)).any()
    np.testing.assert_array_equal(load(path).with_costs(costs).predict(X), expected)
    np.testing.assert_array_equal(load(path).predict(X), saved.predict(X))
