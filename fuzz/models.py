"""Model files that were altered: each is refused by `FileFormatError`, or predicts probabilities.

    python -m fuzz.models --seconds 60 --seed 0
    python -m fuzz.models --seed 0 --case 17    one case again, with its traceback

Bytes are altered as they are; content is altered and its checksum made anew, since whoever writes a
file can compute one. A case follows from the seed and its number. Memory and time are limited.
"""

from __future__ import annotations

import json
import signal
import struct
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pyarrow.parquet as pq
from safetensors.numpy import save_file
from scipy.special import softmax

from extreme_entropy import (
    EEKMClassifier,
    EEMClassifier,
    ExtremeEntropyClassifier,
    load,
    persistence,
)
from extreme_entropy.errors import FileFormatError, InputError
from extreme_entropy.tables.fitting import FitRequest, fit_table
from extreme_entropy.tables.model import TableModel
from extreme_entropy.tables.reading import open_table

from . import main

Array = np.ndarray[Any, Any]
Rng = np.random.Generator

MEMORY = 2**30  # bytes that loading and predicting may take beside what the process has
SECONDS = 20  # that they may take
STRANGE: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, 3, 7, 10**6, 2**31, 2**63, 2**64, 10**18, 10**400),
    *(0.0, 0.5, -0.5, 1e-300, 1e38, -1e38, 1e99, 1e300, float("nan"), float("inf")),
    *("", "x", "number", "category", "date", "mixed", "auto", "balanced", "empirical", "paper"),
    *("<U100000000", "S2000000000", "|O", "<f8", "<i8", "M8[ns]", "a" * 5000, "\ud800"),
    *(
        [],
        {},
        [1],
        {"a": 1},
        {"list": []},
        {"tuple": []},
        {"dict": [[1, 2]]},
        {"array": "classes_"},
    ),
    {"labels": ["a", "b"], "dtype": "<U100000000"},
    {"labels": ["a", "b"], "dtype": "S2000000000"},
    {"labels": [["a"], "b"], "dtype": "|O"},
    {"part": "Identity", "fields": {"d": 3}},
]
NUMBERS = (np.nan, np.inf, -np.inf, -1.0, 0.0, 0.5, 1.0, 1e-300, 1e38, -1e38, 1e99, -1e99, 1e300)
DTYPES = ("f8", "f4", "f2", "i8", "i4", "u1", "u8", "?")


# -------------------------------------------------------------------- models to alter


@dataclass(frozen=True)
class Subject:
    """A saved model, and rows to ask it about."""

    name: str
    whole: bytes
    values: str  # its header
    arrays: dict[str, Array]
    predict: Callable[[Path], tuple[Any, Array, Array]]  # loads: classes, probabilities, labels


def subjects(folder: Path) -> list[Subject]:
    """Fitted models of all kinds."""
    rng = np.random.default_rng(0)
    y = np.arange(240) % 2
    X = rng.exponential(size=(240, 4)) + 0.8 * y[:, np.newaxis]
    frame = pd.DataFrame(X.copy(), columns=list("abcd"))
    frame["kind"] = rng.choice(list("xyz"), 240)
    frame["many"] = rng.integers(0, 40, 240).astype(str)
    frame["when"] = pd.date_range("2020-01-01", periods=240, freq="31h")
    frame.loc[::7, "a"] = np.nan
    three, names = np.arange(240) % 3, np.array(["no", "perhaps", "yes"])
    models: dict[str, tuple[Any, Any, Any]] = {
        "EEM": (EEMClassifier(8, random_state=0), X, y),
        "EEM sig": (EEMClassifier(6, activation="sig", scale="minmax", random_state=0), X, y == 1),
        "EEM unscaled": (EEMClassifier(6, scale=None, decision="paper", ridge=0.1), X, y),
        "EEM frame": (EEMClassifier(8, random_state=0), frame, names[three]),
        "EEKM": (EEKMClassifier(8, random_state=0), X, names[three].astype(object)),
        "EEKM polynomial": (EEKMClassifier(6, kernel="polynomial", scale="standard"), X, y),
        "leaves": (ExtremeEntropyClassifier(n_leaves=4, n_landmarks=6, random_state=0), X, three),
        "uncut": (ExtremeEntropyClassifier(n_landmarks=6, costs={"yes": 2.0}), frame, names[y * 2]),
    }
    found = []
    for name, (classifier, rows, labels) in models.items():
        classifier.fit(rows, labels).save(folder / name)
        found.append(_subject(name, folder / name, _asked(rows)))
    for name in ("EEM frame", "leaves"):
        models[name][0].save(folder / f"{name}, slim", sums=False)
        found.append(_subject(name, folder / f"{name}, slim", _asked(models[name][1])))
    table = pa.Table.from_pandas(frame.assign(target=names[three]))
    pq.write_table(table, folder / "a.parquet")
    model = fit_table(open_table(folder / "a.parquet"), FitRequest("target", size=6, n_jobs=1))
    model.save(folder / "table")
    return [*found, _subject("table", folder / "table", _asked_as_table(table))]


def _subject(name: str, path: Path, predict: Any) -> Subject:
    (values, arrays), whole = persistence.read(path), path.read_bytes()
    text = json.dumps(values, sort_keys=True)
    subject = Subject(name, whole, text, arrays, predict)
    assert outcome(subject, path) == "predicted", f"{name}, which was not altered"
    return subject


def _asked(rows: Any) -> Callable[[Path], tuple[Any, Array, Array]]:
    def predict(path: Path) -> tuple[Any, Array, Array]:
        model, X = load(path), rows
        if isinstance(X, pd.DataFrame) and hasattr(model, "feature_names_in_"):
            X = X.set_axis(model.feature_names_in_.tolist(), axis=1)  # names are as good as others
        return model.classes_, _probabilities(model, X), model.predict(X)

    return predict


def _probabilities(model: Any, X: Any) -> Array:
    """Probabilities; of outputs, where there are no others."""
    if hasattr(model, "predict_proba"):
        return model.predict_proba(X)
    outputs = model.project(X)
    return softmax(np.column_stack([-outputs, outputs]) if outputs.ndim == 1 else outputs, axis=1)


def _asked_as_table(rows: pa.Table) -> Callable[[Path], tuple[Any, Array, Array]]:
    def predict(path: Path) -> tuple[Any, Array, Array]:
        model = TableModel.load(path)
        X, classifier = model.read(rows), model.classifier
        return classifier.classes_, classifier.predict_proba(X), classifier.predict(X)

    return predict


# -------------------------------------------------------------------- ways to alter them


def alter_bytes(rng: Rng, subject: Subject, path: Path) -> None:
    """Other bytes, fewer or more of them, mostly in the header."""
    data = bytearray(subject.whole)
    header = 8 + int.from_bytes(data[:8], "little")
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(0, header if rng.random() < 0.7 else max(1, len(data))))
        size = int(rng.integers(1, 20))
        match rng.integers(0, 5):
            case 0:
                data[at : at + size] = rng.bytes(len(data[at : at + size]))
            case 1:
                del data[at : at + size]
            case 2:
                data[at:at] = rng.bytes(size)
            case 3:
                del data[at:]
            case _:
                data[at : at + 1] = bytes([rng.choice(list(b'0123456789[]{}",:'))])
    path.write_bytes(bytes(data))


def alter_sizes(rng: Rng, subject: Subject, path: Path) -> None:
    """Other declarations of an array in the header of the file."""
    end = 8 + int.from_bytes(subject.whole[:8], "little")
    header = json.loads(subject.whole[8:end])
    entry = header[rng.choice([name for name in header if name != "__metadata__"])]
    for _ in range(rng.integers(1, 3)):
        size = int(rng.choice([0, 1, 2, 10**9, 2**40, 2**62]))
        match rng.integers(0, 3):
            case 0:
                entry["dtype"] = str(
                    rng.choice(["F64", "I64", "U8", "BF16", "F8_E4M3", "C64", "X"])
                )
            case 1:
                entry["shape"] = [*entry["shape"], size][: rng.integers(1, 4)]
            case _:
                entry["data_offsets"][rng.integers(0, 2)] = size
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + subject.whole[end:])


def alter_content(rng: Rng, subject: Subject, path: Path) -> None:
    """Other values and arrays, with a checksum to match."""
    values: Any = json.loads(subject.values)
    arrays = {name: array.copy() for name, array in subject.arrays.items()}
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        if rng.random() < 0.5:
            _alter_values(rng, values)
        else:
            _alter_arrays(rng, arrays)
    text = json.dumps(values, sort_keys=True)
    header = {
        "format": persistence.FORMAT,
        "version": str(persistence.VERSION),
        "values": text,
        "sha256": persistence._digest(str(persistence.VERSION), text, arrays),
    }
    save_file(arrays, path, metadata=header)


def _alter_values(rng: Rng, values: Any) -> None:
    """One change to a tree of plain values."""
    places = list(_places(values))
    inside, key = places[rng.integers(len(places))]
    other, another = places[rng.integers(len(places))]
    match rng.integers(0, 6):
        case 0:
            del inside[key]
        case 1:
            more = deepcopy(STRANGE[rng.integers(len(STRANGE))])  # which the next change may alter
            inside.append(more) if isinstance(inside, list) else inside.update(more=more)
        case 2:
            inside[key] = json.loads(json.dumps(other[another]))
        case 3 if type(inside[key]) in (int, float):
            number = inside[key]
            inside[key] = [-number, number + 1, number - 1, 10**10 * number][rng.integers(4)]
        case _:
            inside[key] = deepcopy(STRANGE[rng.integers(len(STRANGE))])


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Each value of a tree, as what it lies in and its key there."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in items:
        yield tree, key
        if isinstance(value, dict | list):
            yield from _places(value)


def _alter_arrays(rng: Rng, arrays: dict[str, Array]) -> None:
    """One change to the arrays of a file."""
    names = list(arrays)
    if not names:
        return
    name, other = names[rng.integers(len(names))], names[rng.integers(len(names))]
    array = arrays[name]
    match rng.integers(0, 10):
        case 0:
            del arrays[name]
        case 1:
            arrays["more"] = array
        case 2:
            arrays[name], arrays[other] = arrays[other], array
        case 3:
            with np.errstate(all="ignore"):
                arrays[name] = array.astype(DTYPES[rng.integers(len(DTYPES))])
        case 4:
            arrays[name] = _reshaped(rng, array)
        case 5:
            arrays[name] = rng.permutation(array, axis=-1) if array.ndim else array
        case 6 if array.dtype.kind == "f":
            with np.errstate(all="ignore"):
                arrays[name] = array * NUMBERS[rng.integers(len(NUMBERS))]
        case _ if array.size:
            new = NUMBERS[rng.integers(len(NUMBERS))]
            if array.dtype.kind != "f":
                new = int(rng.choice([-(2**40), -2, -1, 0, 1, 2, 3, 2**40]))
            with np.errstate(all="ignore"):
                array.reshape(-1)[rng.integers(array.size)] = np.array(new).astype(array.dtype)


def _reshaped(rng: Rng, array: Array) -> Array:
    """The numbers of an array in another shape, some left out or repeated."""
    match rng.integers(0, 5):
        case 0:
            return np.ascontiguousarray(array.T)
        case 1:
            return array[:-1]
        case 2:
            return np.concatenate([array, array[:1]])
        case 3:
            return array[..., np.newaxis]
        case _:
            return array[:0]


ALTERATIONS = (alter_bytes, alter_sizes, *[alter_content] * 6)


# -------------------------------------------------------------------- cases


def outcome(subject: Subject, path: Path) -> str:
    """What became of a file; an error that is no finding has a name, all others are raised."""
    try:
        classes, probabilities, labels = subject.predict(path)
    except FileFormatError:
        return "refused"
    except InputError:  # a model of other columns, which says so
        if subject.name not in ("EEM frame", "uncut", "table"):
            raise
        return "of other columns"
    assert probabilities.shape == (len(labels), len(classes)), probabilities.shape
    assert np.isfinite(probabilities).all(), "probabilities that are not finite"
    assert abs(probabilities.sum(axis=1) - 1).max() < 1e-6, "probabilities that are not 1 in all"
    return "predicted"


def run_case(all_subjects: list[Subject], seed: int, case: int, path: Path) -> str:
    """Alter a model, and see what becomes of it."""
    rng = np.random.default_rng([seed, case])
    subject = all_subjects[rng.integers(len(all_subjects))]
    ALTERATIONS[rng.integers(len(ALTERATIONS))](rng, subject, path)
    with limited():
        return outcome(subject, path)


@contextmanager
def limited() -> Iterator[None]:
    """Little more memory than there is in use, and little time, where the system can do that."""
    try:
        import resource
    except ImportError:
        yield
        return

    def too_long(*args: Any) -> None:
        raise TimeoutError(f"more than {SECONDS} seconds")

    limits = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = signal.signal(signal.SIGALRM, too_long)
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, limits[1]))
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        resource.setrlimit(resource.RLIMIT_AS, limits)


def run(seconds: float, seed: int) -> int:
    """Cases for so many seconds; how many there were. Findings are printed, and are an error."""
    found: Counter[str] = Counter()
    end, case = time.monotonic() + seconds, 0
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        all_subjects = subjects(Path(folder))
        while time.monotonic() < end or not case:
            try:
                found[run_case(all_subjects, seed, case, Path(folder, "case"))] += 1
            except Exception as error:
                found["findings"] += 1
                print(f"--seed {seed} --case {case}: {type(error).__name__}: {str(error)[:300]}")
            case += 1
    print(f"{case} cases: {', '.join(f'{n} {name}' for name, n in found.most_common())}")
    if found["findings"]:
        raise AssertionError(f"{found['findings']} findings")
    return case


def replay(seed: int, case: int) -> str:
    """One case again."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return run_case(subjects(Path(folder)), seed, case, Path(folder, "case"))


if __name__ == "__main__":
    main(__doc__, run, replay)
