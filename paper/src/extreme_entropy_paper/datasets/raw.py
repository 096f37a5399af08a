"""Mixed tables as they lie in files: dates and codes as text, free text, missing values.

None is of the half of the field that is set aside.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .field import FIELDS, Field, frame_of
from .tables import TABLES, rows_of_table, with_types

Array = np.ndarray[Any, Any]

TEXTS = {
    "foods": Field("modeldata/training_data", "score = other"),
    "tweets": Field(
        *("dslabs/trump_tweets", "source = Twitter for iPhone"),
        "id_str in_reply_to_user_id_str is_retweet",
        dates="created_at",
    ),
    "heights": Field("dslabs/reported_heights", "sex = Female", dates="time_stamp"),
    "polls": Field(
        *("dslabs/polls_us_election_2016", "rawpoll_trump > 50%", "*poll_*"),
        dates="startdate enddate",
    ),
    "bundesliga": Field("vcd/Bundesliga", "HomeGoals > 1", "AwayGoals", dates="Date"),
    "bakes": Field("bakeoff/challenges", "result = OUT"),
    "norway": Field(
        *("stevedata/ESS10NO", "eu_vote = Join EU", "cntry idno *weight prob pspwght"),
        *("stratum psu", "inwds inwde"),
    ),
    "runners": Field("openintro/get_it_dunn_run", "sex = M", "bib_num", dates="date"),
}
RAW = (
    *TEXTS,
    *("restaurant", "movies", "rare-check", "lending", "covid", "hotel", "flights", "stops"),
    *("wages", "newborn-weight", "cats", "spam-mail", "guzzlers", "bad-credit", "loan-rate"),
)


def load_raw(name: str, *, typed: bool = False) -> tuple[Any, Array]:
    """A table as pandas reads it, or with its columns typed by hand; and labels 0 and 1."""
    if name in TABLES:
        table = TABLES[name]
        frame, y = rows_of_table(table)
        return (with_types(frame, table.codes, table.dates) if typed else frame), y
    field = TEXTS.get(name) or FIELDS[name]
    frame, y = frame_of(field)
    return (with_types(frame, field.codes.split(), field.dates.split()) if typed else frame), y
