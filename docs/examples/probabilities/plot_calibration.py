"""
Probabilities you can use, and for which question
=================================================

"This customer leaves with a probability of 30 %." Of a hundred such customers, do
thirty leave? Then the probabilities are *calibrated*, and one can compute with them:
expected losses, budgets, staffing.

:obj:`~extreme_entropy.ExtremeEntropyClassifier` has two answers. By default its
probabilities hold for the world the rows came from. With ``priors="balanced"`` they
hold for classes that are equally frequent. Its labels are fair to a rare class either
way. This example shows both beside other classifiers.

The rows are **made up**, with a seed, so that the true probability of each row is
known.
"""

# %%
# Rows with a known truth
# -----------------------
# Five columns, a bent boundary, and a class of about eight in a hundred.

import numpy as np
from sklearn.model_selection import train_test_split

rng = np.random.default_rng(3)
X = rng.normal(size=(24_000, 5))
log_odds = 2.2 * X[:, 0] * X[:, 1] + 1.3 * X[:, 2] + np.sin(2 * X[:, 3]) - 4.2
truth = 1 / (1 + np.exp(-log_odds))
leaves = (rng.random(len(X)) < truth).astype(int)
X, X_new, y, y_new, _, truth_new = train_test_split(
    X, leaves, truth, test_size=0.75, stratify=leaves, random_state=0
)
print(f"{len(y)} rows to learn from, {y.mean():.1%} of them of the rare class")
print(f"{len(y_new)} rows held out")

# %%
# Six classifiers
# ---------------
# Ours is fitted once; other priors need no further fit.

from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from extreme_entropy import ExtremeEntropyClassifier

ours = ExtremeEntropyClassifier(random_state=0).fit(X, y)
forest = RandomForestClassifier(100, min_samples_leaf=3, random_state=0)
classifiers = {
    "logistic regression": LogisticRegression().fit(X, y),
    "naive Bayes": GaussianNB().fit(X, y),
    "random forest": forest.fit(X, y),
    "gradient boosting": HistGradientBoostingClassifier(random_state=0).fit(X, y),
    "ours, balanced": ours.with_costs(priors="balanced"),
    "ours": ours,
}
probabilities = {name: c.predict_proba(X_new)[:, 1] for name, c in classifiers.items()}

# %%
# The Brier score is the mean squared difference between probabilities and what
# happened. Its lowest possible value is not zero but that of the true probabilities,
# which we know here.

import pandas as pd
from sklearn.metrics import brier_score_loss

table = pd.DataFrame(
    {
        name: {
            "Brier score": brier_score_loss(y_new, p),
            "mean probability": p.mean(),
            "distance from the truth": np.abs(p - truth_new).mean(),
        }
        for name, p in {**probabilities, "the truth itself": truth_new}.items()
    }
).T
print(table.round(4).to_string())

# %%
# Reliability curves
# ------------------
# Rows are put into eight bins by their predicted probability. On the dotted line,
# predicted and observed frequencies agree. Below it, probabilities are too high; above
# it, too low.

import matplotlib.pyplot as plt
from sklearn.calibration import calibration_curve

COLOURS = ["#56B4E9", "#CC79A7", "#009E73", "#0072B2", "#E69F00", "#D55E00"]
MARKERS = ["s", "v", "P", "D", "o", "^"]

fig, axes = plt.subplots(
    2, 3, figsize=(10, 6.6), layout="constrained", sharex=True, sharey=True
)
for ax, (name, p), colour, marker in zip(
    axes.flat, probabilities.items(), COLOURS, MARKERS, strict=True
):
    observed, given = calibration_curve(y_new, p, n_bins=8)
    ax.plot([0, 1], [0, 1], ":", color="0.4", zorder=0)
    ax.plot(given, observed, color=colour, marker=marker, lw=1.6)
    ax.set_title(
        f"{name}, Brier score {table.loc[name, 'Brier score']:.4f}", fontsize="medium"
    )
for ax in axes[1]:
    ax.set_xlabel("mean predicted probability")
for ax in axes[:, 0]:
    ax.set_ylabel("observed frequency")
plt.show()

# %%
# By default, ours is close to the dotted line where most rows are, on the left. Further
# right, where rows are few, it is too cautious, like the random forest; gradient
# boosting errs the other way.
#
# Two questions, one classifier
# -----------------------------
# The balanced curve lies far below the dotted line. That is no mistake: it answers *"if
# both classes were equally frequent, how likely would this row be of the rare one?"*
# Weigh the held-out rows so that both classes are equally frequent, and the same
# probabilities are calibrated:

weight = np.where(y_new == 1, 1 / (y_new == 1).sum(), 1 / (y_new == 0).sum())
balanced = probabilities["ours, balanced"]
index = np.minimum((8 * balanced).astype(int), 7)
total = np.bincount(index, weight)
given = np.bincount(index, weight * balanced) / total
observed = np.bincount(index, weight * y_new) / total

fig, ax = plt.subplots(figsize=(5, 4.4), layout="constrained")
ax.plot([0, 1], [0, 1], ":", color="0.4", zorder=0)
ax.plot(given, observed, color="#E69F00", marker="o", lw=1.6)
ax.set(xlabel="mean predicted probability", ylabel="frequency if classes were equal")
ax.set_title('priors="balanced", on balanced rows', loc="left")
plt.show()

# %%
# What to take away
# -----------------
# * Decide which question you have. By default, probabilities match the frequencies of
#   the table, while labels treat both classes alike. For probabilities of equally
#   frequent classes, call ``with_costs(priors="balanced")``.
# * No second fit and no ``CalibratedClassifierCV`` is needed: rows that were held out
#   within the fit have set the scale.
# * A calibrated classifier need not be a good one. Look at the Brier score as well:
#   logistic regression cannot see the product of two columns, however honest its
#   probabilities are.
