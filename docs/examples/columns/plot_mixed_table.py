"""
A table as it comes: text, dates and gaps
=========================================

Real tables have a column of cities, a date, a plan with four values, and gaps nearly
everywhere. Usually the first hour goes into encoders and imputers. Here there is
nothing to do: the classifiers take the data frame as it is.

The subscriptions are **made up**, with a seed, and so are the reasons to cancel.
"""

# %%
# Subscriptions
# -------------

import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
n = 4000
plan = rng.choice(["free", "basic", "family", "business"], n, p=[0.4, 0.35, 0.15, 0.1])
town = rng.choice([f"town {i:02d}" for i in range(60)], n)
joined = pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 730, n), unit="D")
age = rng.normal(42, 14, n).round()
hours = rng.gamma(2, 3, n)

poor_service = rng.random(60) < 0.25  # in some towns
log_odds = (
    -2.4
    + 1.2 * (plan == "free")
    - 1.0 * (plan == "business")
    + 2.0 * poor_service[[int(name[-2:]) for name in town]]
    + 1.3 * joined.month.isin([11, 12])  # joined for the holiday discount
    - 0.25 * (hours - 6)
)
cancels = np.where(rng.random(n) < 1 / (1 + np.exp(-log_odds)), "cancels", "active")

table = pd.DataFrame(
    {"plan": plan, "town": town, "joined": joined, "age": age, "hours": hours}
)
for column, share in {"plan": 0.03, "town": 0.05, "age": 0.3, "hours": 0.1}.items():
    table.loc[rng.random(n) < share, column] = None
print(table.head(6).to_string())
print()
print(table.dtypes.to_string())

# %%
# Nothing to prepare
# ------------------
# No encoder, no imputer, no scaler. Categories become columns of zeros and ones, or the
# log-odds of the classes if there are many of them; dates become days, months and
# weekdays; a gap counts as information of its own.

from sklearn.model_selection import train_test_split

from extreme_entropy import ExtremeEntropyClassifier, gmean_score

X, X_new, y, y_new = train_test_split(table, cancels, stratify=cancels, random_state=0)
classifier = ExtremeEntropyClassifier(random_state=0).fit(X, y)
score = gmean_score(y_new, classifier.predict(X_new))
print(f"GMean on {len(y_new)} new rows: {score:.3f}")

# %%
# Beside the usual pipeline
# -------------------------
# For comparison, here is what you would write otherwise. You have to take the dates
# apart by hand, since a pipeline of scikit-learn does not know what to do with them.

from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler


def numbers_from_dates(frame):
    since = frame["joined"] - pd.Timestamp("2023-01-01")
    return frame.assign(month=frame["joined"].dt.month, days=since.dt.days)


pipeline = make_pipeline(
    make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["plan", "town", "month"]),
        (
            make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()),
            ["age", "hours", "days"],
        ),
    ),
    LogisticRegression(class_weight="balanced", max_iter=1000),
).fit(numbers_from_dates(X), y)

# %%
# How well do both rank the new rows?

areas = {
    "the table as it is": roc_auc_score(y_new, classifier.predict_proba(X_new)[:, 1]),
    "a pipeline by hand": roc_auc_score(
        y_new, pipeline.predict_proba(numbers_from_dates(X_new))[:, 1]
    ),
}
for name, area in areas.items():
    print(f"{name}: area under ROC {area:.3f}")

# %%
# The pipeline has an advantage: the reasons to cancel were made up as a sum of effects,
# which is the very model that logistic regression fits. Without any preparation, our
# classifier comes close.
#
# Which columns matter
# --------------------
# Importance is given by column of the table, not by encoded column. Nobody has to add
# up sixty dummies to learn whether the town matters.

import matplotlib.pyplot as plt

from extreme_entropy.plots import RelevanceDisplay

display = RelevanceDisplay.from_estimator(classifier)
display.ax_.set_title("Importance of columns, as they are in the table", loc="left")
plt.show()

# %%
# Why does this customer cancel?
# ------------------------------
# The most endangered customer of the new rows. Bars to the right are reasons to expect
# a cancellation.

riskiest = int(classifier.predict_proba(X_new)[:, 1].argmax())
row = X_new[riskiest : riskiest + 1]
print(row.T.to_string(header=False))
RelevanceDisplay.from_row(classifier, row, label="cancels")
plt.show()

# %%
# What comes later
# ----------------
# New rows hold values that were never seen: a new town, a gap where there was none.
# They are predicted all the same.

strange = row.assign(town="town 99", joined=pd.NaT, plan="student")
print(f"probability of cancelling: {classifier.predict_proba(strange)[0, 1]:.2f}")

# %%
# The towns, learnt from few rows each
# ------------------------------------
# Each town has some fifty customers to learn from. Does the classifier know which towns
# have poor service? Average its predictions by town.

risk = (
    pd.Series(classifier.predict_proba(X_new)[:, 1])
    .groupby(X_new["town"].to_numpy())
    .mean()
)
poor = poor_service[[int(name[-2:]) for name in risk.index]]
order = np.argsort(-risk.to_numpy())

fig, ax = plt.subplots(figsize=(9, 3.6), layout="constrained")
place = np.arange(len(risk))
for is_poor, colour, label in (
    (True, "#D55E00", "poor service"),
    (False, "#0072B2", "others"),
):
    chosen = poor[order] == is_poor
    ax.bar(place[chosen], risk.to_numpy()[order][chosen], color=colour, label=label)
ax.set(xticks=[], xlabel="towns, by predicted risk", ylabel="mean probability")
ax.legend(frameon=False)
# sphinx_gallery_thumbnail_number = 3
plt.show()

# %%
# What to take away
# -----------------
# * Pass the frame as it is; ``feature_importances_`` and ``explain`` refer to the
#   columns that you know.
# * Numbers that are codes (a zip code, a ward) look like numbers: name them in
#   ``categorical_features``.
# * Short free text is read by its words. A column that only identifies rows is left
#   out, with a warning.
