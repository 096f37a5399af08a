"""
Drift: learn the new month, forget the oldest
=============================================

Customers change, and last year's rows become misleading. The usual answer is a sliding
window: refit on the last few months, every month. For a classifier that is made of
sums, the window slides without a refit:
:obj:`~extreme_entropy.EEMClassifier.partial_fit` adds the new month, and
:obj:`~extreme_entropy.EEMClassifier.forget` takes the oldest one out.

The months below are **made up**, with a seed: two columns whose values stay as they
are, while the boundary between the classes turns by a few degrees a month.
"""

# %%
# Two years of rows
# -----------------

import numpy as np

from extreme_entropy import EEMClassifier, gmean_score

MONTHS, ROWS, WINDOW = 24, 600, 4


def rows_of(month):
    rng = np.random.default_rng(month)
    X = rng.normal(size=(ROWS, 2))
    angle = np.deg2rad(9 * month)
    towards = X @ [np.cos(angle), np.sin(angle)] + 0.3 * rng.normal(size=ROWS)
    return X, np.where(towards > 0.8, "churns", "stays")


months = [rows_of(month) for month in range(MONTHS)]

# %%
# The clouds stay where they are; who churns does not.

import matplotlib.pyplot as plt

BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"

fig, axes = plt.subplots(
    1, 3, figsize=(10, 4), layout="constrained", sharex=True, sharey=True
)
for ax, month in zip(axes, (0, 8, 16), strict=True):
    X, y = months[month]
    for label, colour, marker in (("stays", BLUE, "o"), ("churns", ORANGE, "^")):
        ax.scatter(
            *X[y == label].T, s=12, color=colour, marker=marker, label=label, alpha=0.8
        )
    ax.set(title=f"month {month}", xlabel="column 0", aspect="equal")
axes[0].set_ylabel("column 1")
axes[0].legend(loc="lower left")
plt.show()

# %%
# Three policies
# --------------
# All three start from the first four months. One is never changed, one learns every
# month and keeps all it has learnt, and one slides a window of four months. Each is
# judged on the *next* month, before it learns it.


def joined(of):
    return np.concatenate([X for X, _ in of]), np.concatenate([y for _, y in of])


start = EEMClassifier(100, random_state=0).fit(*joined(months[:WINDOW]))
growing = start.twin().fit(*joined(months[:WINDOW]))
sliding = start.twin().fit(*joined(months[:WINDOW]))

scores = {"never updated": [], "learns all": [], "sliding window": []}
for month in range(WINDOW, MONTHS):
    X, y = months[month]
    for name, classifier in zip(scores, (start, growing, sliding), strict=True):
        scores[name].append(gmean_score(y, classifier.predict(X)))
    growing.partial_fit(X, y)
    sliding.partial_fit(X, y).forget(*months[month - WINDOW])

# %%
# A *twin* is an empty classifier with the same random features, so all three differ by
# nothing but their rows.

fig, ax = plt.subplots(figsize=(7.5, 4), layout="constrained")
judged = range(WINDOW, MONTHS)
looks = ((BLUE, ":", "o"), (GREEN, "--", "s"), (ORANGE, "-", "^"))
for (name, values), (colour, style, marker) in zip(scores.items(), looks, strict=True):
    ax.plot(judged, values, style, color=colour, marker=marker, ms=5, label=name)
    mean, last = np.mean(values), values[-1]
    print(f"{name:15s} GMean {mean:.3f} on average, {last:.3f} in the last month")
ax.set(xticks=judged[::2], xlabel="month", ylim=(0, 1), ylabel="GMean on new rows")
ax.set_title("The window follows, the others fall behind", loc="left")
ax.legend(frameon=False, loc="lower left")
# sphinx_gallery_thumbnail_number = 2
plt.show()

# %%
# Forgetting is exact
# -------------------
# After twenty months of adding and subtracting, has rounding piled up? Compare the
# window with a twin that has seen nothing but the last four months:

fresh = start.twin().fit(*joined(months[-WINDOW:]))
X, _ = rows_of(MONTHS)
difference = np.abs(sliding.decision_function(X) - fresh.decision_function(X)).max()
print(f"largest difference of log-odds: {difference:.1e}")
print(f"the same labels: {np.array_equal(sliding.predict(X), fresh.predict(X))}")

# %%
# Rows that the classifier does not hold cannot be forgotten, such as those of the first
# month, which left the window long ago. They are noticed, and nothing changes:

from extreme_entropy.errors import ForgetError

try:
    sliding.forget(*months[0])
except ForgetError as error:
    print(error)

# %%
# What to take away
# -----------------
# * Each month, one month of rows is added and one is taken out, however long the window
#   is. Nothing else is fitted again.
# * The result is the classifier of one fit on the window, up to rounding.
# * What stays is the feature map, drawn from the first rows. If the *values* of the
#   columns wander off, not just the boundary, start anew with ``redraw`` once in a
#   while.
