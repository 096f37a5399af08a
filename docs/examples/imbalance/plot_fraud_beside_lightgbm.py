"""
Fraud beside LightGBM
=====================

One payment in a hundred is fraud. A classifier that never raises an alarm is right 99 %
of the time and catches nobody. How do two classifiers handle this with their defaults,
without any tuning: LightGBM, which most of us would try first, and
:obj:`~extreme_entropy.ExtremeEntropyClassifier`?

The payments are **made up**, with a seed, so that this page runs anywhere in seconds.
Which classifier wins on made-up rows says little about your own; what each of them does
with a rare class is the point.
"""

# %%
# Payments
# --------
# There are two kinds of fraud. Stolen cards are used far from home and many times
# within an hour. Stolen accounts send large amounts at night to payees that were added
# only recently. Some fraud looks like anything else, and no classifier can find it.

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

rng = np.random.default_rng(0)
n = 40_000
fraud = rng.random(n) < 0.01
kind = np.where(
    fraud, rng.choice(["card", "account", "quiet"], n, p=[0.45, 0.4, 0.15]), "none"
)
card, account = kind == "card", kind == "account"

payments = pd.DataFrame(
    {
        "amount": np.exp(rng.normal(3.4 + 1.5 * account, 1.1)),
        "hour": np.where(account, rng.normal(2, 3, n), rng.normal(14, 4, n)) % 24,
        "km_from_home": np.exp(rng.normal(1.5 + 2.0 * card, 1.5)),
        "payments_last_hour": rng.poisson(0.4 + 2.0 * card),
        "days_since_payee_added": np.exp(rng.normal(5.0 - 2.5 * account, 1.2)),
        "balance": np.exp(rng.normal(7.0, 1.0, n)),
    }
)
X, X_new, y, y_new = train_test_split(
    payments, fraud.astype(int), test_size=0.5, stratify=fraud, random_state=0
)
print(f"{len(X)} payments to learn from, {y.sum()} of them fraud; as many to judge by.")

# %%
# Four classifiers, none of them tuned
# ------------------------------------
# LightGBM with its defaults, and with ``class_weight="balanced"``, the usual remedy for
# a rare class. Ours with its defaults, which treat both classes alike, and the same
# fitted classifier if all mistakes cost the same, by ``with_costs``. The last one needs
# no fit: only the threshold moves.

from lightgbm import LGBMClassifier

from extreme_entropy import ExtremeEntropyClassifier

common = {"n_jobs": 1, "random_state": 0, "verbose": -1}
ours = ExtremeEntropyClassifier(random_state=0).fit(X, y)
classifiers = {
    "LightGBM": LGBMClassifier(**common).fit(X, y),
    "LightGBM, balanced": LGBMClassifier(class_weight="balanced", **common).fit(X, y),
    "ExtremeEntropy": ours,
    "ExtremeEntropy, equal costs": ours.with_costs(),
}

# %%
# What they find
# --------------
# Recall is the share of fraud that is found, precision the share of alarms that are
# fraud. GMean is the geometric mean of the recalls of both classes, and is zero for a
# classifier that never raises an alarm. The last two columns judge the ranking instead
# of the labels: the area under the ROC curve counts all of it, average precision
# (PR-AUC) mostly its top.

from sklearn.metrics import (
    average_precision_score,
    precision_score,
    recall_score,
    roc_auc_score,
)

from extreme_entropy import gmean_score

rows = {}
for name, classifier in classifiers.items():
    predicted = classifier.predict(X_new)
    suspicion = classifier.predict_proba(X_new)[:, 1]
    rows[name] = {
        "GMean": gmean_score(y_new, predicted),
        "recall": recall_score(y_new, predicted),
        "precision": precision_score(y_new, predicted),
        "alarms": int(predicted.sum()),
        "ROC AUC": roc_auc_score(y_new, suspicion),
        "average precision": average_precision_score(y_new, suspicion),
    }
table = pd.DataFrame(rows).T
print(table.round(3).to_string())

# %%
# The same as a picture. The first three panels depend on the threshold, the last one
# does not:

import matplotlib.pyplot as plt

COLOURS = ["#56B4E9", "#0072B2", "#D55E00", "#E69F00"]

shown = ["GMean", "recall", "precision", "average precision"]
fig, axes = plt.subplots(1, 4, figsize=(12, 3.2), layout="constrained", sharey=True)
for ax, score in zip(axes, shown, strict=True):
    bars = ax.barh(table.index, table[score], color=COLOURS)
    ax.bar_label(bars, fmt="%.2f", padding=3)
    ax.set(title=score, xlim=(0, 1.12), xlabel="on held-out payments")
axes[0].invert_yaxis()
plt.show()

# %%
# A fair comparison: the same number of alarms
# --------------------------------------------
# Labels depend on where a threshold lies, and each of the four has put it elsewhere. A
# fraud team has a budget: it can look at so many payments a day. So let each classifier
# rank all payments, and count the fraud among the most suspicious ones. (Costs change
# no ranking, so ours is one curve.)

fig, ax = plt.subplots(figsize=(7, 4.4), layout="constrained")
styles = {"LightGBM": "-", "LightGBM, balanced": "--", "ExtremeEntropy": "-"}
looked_at = np.arange(1, len(y_new) + 1)
found = {}
for (name, style), colour in zip(styles.items(), COLOURS, strict=False):
    order = np.argsort(-classifiers[name].predict_proba(X_new)[:, 1], kind="stable")
    found[name] = np.cumsum(y_new[order]) / y_new.sum()
    ax.plot(looked_at, found[name], style, color=colour, lw=2, label=name)
best = np.minimum(looked_at / y_new.sum(), 1)
ax.plot(looked_at, best, ":", color="0.4", label="best possible")
ax.set(xscale="log", xlim=(10, len(y_new)), ylim=(0, 1.02))
ax.set(xlabel="payments looked at, the most suspicious first", ylabel="fraud found")
ax.set_title("Fraud found with a budget of alarms", loc="left")
ax.legend(frameon=False, loc="upper left")

budgets = [100, 500, 2500, 10_000]
shares = {
    name: [f"{curve[n - 1]:.0%}" for n in budgets] for name, curve in found.items()
}
print(pd.DataFrame(shares, index=[f"{n} looked at" for n in budgets]).T.to_string())
# sphinx_gallery_thumbnail_number = 2
plt.show()

# %%
# What to take away
# -----------------
# * The lead in GMean is mostly one of thresholds. By default, the two libraries answer
#   different questions. LightGBM raises few alarms: most of them are right, and most of
#   the fraud is missed. Ours weighs both classes equally: most of the fraud is found,
#   and nearly all alarms are false. **Neither is better until you know what a missed
#   fraud and a false alarm cost**; see
#   :ref:`sphx_glr_auto_examples_imbalance_plot_cost_curve.py`.
# * At the top of the ranking there is no winner: average precision is about the same,
#   and so is the fraud among the first hundred payments. If that is your budget, choose
#   by other criteria, such as the time of a fit, where LightGBM is ahead. Further down,
#   ours finds the same share of fraud with fewer alarms.
# * With ours, you can change the question after the fit: ``with_costs`` moved the
#   threshold and fitted nothing.
