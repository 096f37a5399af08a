"""
What do mistakes cost?
======================

A pump that stops unannounced halts a factory for a day. A pump that is inspected for
nothing costs a technician one hour. A classifier should know the difference, but the
ratio is rarely known when it is fitted, and it changes with every contract. With this
library that is no problem: costs move thresholds, and
:obj:`~extreme_entropy.ExtremeEntropyClassifier.with_costs` moves them at once, without
data and without a new fit.

The readings below are **made up**, with a seed. About one pump in twenty stops within
the week.
"""

# %%
# One fit
# -------

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from extreme_entropy import ExtremeEntropyClassifier

rng = np.random.default_rng(7)
n = 10_000
age = rng.gamma(4, 2, n)
vibration = rng.normal(2 + 0.1 * age, 0.8)
temperature = rng.normal(60 + 3 * vibration, 5)
risk = 0.35 * (age - 8) + 1.1 * (vibration - 3) + 0.12 * (temperature - 68)
stops = rng.random(n) < 1 / (1 + np.exp(-(risk - 4.9)))
pumps = pd.DataFrame({"age": age, "vibration": vibration, "temperature": temperature})
state = np.where(stops, "stops", "runs")

X, X_new, y, y_new = train_test_split(
    pumps, state, test_size=0.5, stratify=state, random_state=0
)
classifier = ExtremeEntropyClassifier(random_state=0).fit(X, y)
print(f"{stops.mean():.1%} of the pumps stop; held out are {len(y_new)} pumps")

# %%
# Pumps are taken to stop as often as they did among the rows learnt
# (``priors="empirical"``, the default). Until it is told what mistakes cost, the
# classifier treats both classes alike.
#
# Many costs
# ----------
# ``with_costs({"stops": 20})`` means that missing a failure costs as much as twenty
# needless inspections. It returns a new classifier that shares everything with the old
# one but its threshold, so trying sixty ratios takes no longer than predicting sixty
# times.

from sklearn.metrics import confusion_matrix

ratios = np.geomspace(1, 300, 60)
counts = []
for ratio in ratios:
    costly = classifier.with_costs({"stops": ratio}, priors="empirical")
    predicted = costly.predict(X_new)
    (found, missed), (alarms, _) = confusion_matrix(
        y_new, predicted, labels=["stops", "runs"]
    )
    counts.append((found, missed, alarms))
found, missed, alarms = np.array(counts).T
stopping = found[0] + missed[0]

# %%
# Recall, and its price in needless inspections, against the ratio of costs:

import matplotlib.pyplot as plt

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "0.45"
RATIO = "cost of a missed failure, in needless inspections"

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
running = len(y_new) - stopping
ax.plot(ratios, found / stopping, color=ORANGE, lw=2, label="failures found")
ax.plot(ratios, alarms / running, "--", color=BLUE, lw=2, label="needless inspections")
ax.set(xscale="log", xlabel=RATIO, ylim=(0, 1))
ax.set(ylabel="share of stopping (running) pumps")
ax.set_title("The dearer a failure, the more pumps are inspected", loc="left")
ax.legend(frameon=False)
plt.show()

# %%
# The cost curve
# --------------
# What does it all cost, compared with the two simple policies: never inspect, or always
# inspect? And what if we had kept one threshold, that of equal costs, for all
# contracts?

cost = ratios * missed + alarms
fixed = ratios * missed[0] + alarms[0]
never, always = ratios * stopping, np.full_like(ratios, running)
simple = np.minimum(never, always)

print(f"{stopping} of the held-out pumps stop")
for ratio in (5, 20, 100):
    i = int(np.abs(ratios - ratio).argmin())
    print(
        f"a missed failure costs {ratio:3d}: {missed[i]} missed, {alarms[i]} inspected "
        f"for nothing, cost {cost[i] / simple[i]:.0%} of the simple policy"
    )

# %%
# And as a curve, in units of the cheaper of the two simple policies:

from matplotlib.ticker import PercentFormatter

fig, ax = plt.subplots(figsize=(8.6, 4), layout="constrained")
ax.plot(ratios, never / simple, ":", color=GREY, label="never inspect")
ax.plot(ratios, always / simple, "-.", color=GREY, label="always inspect")
ax.plot(
    ratios, fixed / simple, "--", color=BLUE, lw=2, label="threshold of equal costs"
)
ax.plot(ratios, cost / simple, color=ORANGE, lw=2, label="with_costs")
ax.fill_between(ratios, cost / simple, 1, color=ORANGE, alpha=0.12, lw=0)
ax.set(xscale="log", xlabel=RATIO, ylim=(0, 1.4))
ax.set(ylabel="cost, beside the cheaper simple policy")
ax.yaxis.set_major_formatter(PercentFormatter(1))
ax.set_title("What is saved (shaded)", loc="left")
ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()

# %%
# Where the threshold lies
# ------------------------
# The costs did not touch the projection of the pumps, only the place where it is cut:

from extreme_entropy.plots import ProjectionDisplay

fig, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained", sharey=True)
for ax, ratio in zip(axes, (1, 20), strict=True):
    shown = classifier.with_costs({"stops": ratio}, priors="empirical")
    ProjectionDisplay.from_estimator(shown, X_new, y_new, ax=ax)
    ax.set_title(f"A missed failure costs {ratio}", loc="left", pad=24)
# sphinx_gallery_thumbnail_number = 2
plt.show()

# %%
# What to take away
# -----------------
# * Fit once; ask ``with_costs`` for each ratio of costs. Probabilities stay as they
#   are, only decisions change.
# * A threshold that suits equal costs is a poor one as soon as one mistake is dearer
#   than the other.
# * Where a failure costs no more than an inspection, little can be saved: hardly any
#   pump is then worth one.
