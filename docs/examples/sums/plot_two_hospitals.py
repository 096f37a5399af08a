"""
Two hospitals, one classifier, no shared rows
=============================================

Two hospitals would like to learn from each other's patients, and must not show each
other a single row. A classifier made of sums needs none: each hospital adds up its own
rows, one of them sends a file with its sums, and the other adds the two. The result is
the classifier that would have been fitted on all rows in one place.

The rows are scikit-learn's breast cancer data, dealt out to two hospitals for this
example.
"""

# %%
# Who has which rows
# ------------------
# The hospitals differ: one sees mostly small tumours, the other mostly large ones. A
# few rows are published and may be seen by everybody, and a third of all rows is held
# out to judge the result.

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target_names[data.target]
X, X_new, y, y_new = train_test_split(X, y, test_size=0.33, stratify=y, random_state=1)
X, X_public, y, y_public = train_test_split(
    X, y, test_size=60, stratify=y, random_state=1
)

rng = np.random.default_rng(0)
large = X["mean radius"] + rng.normal(0, 2, len(X)) > 14
hospitals = {"Northside": (X[~large], y[~large]), "Lakeview": (X[large], y[large])}
for name, (_, labels) in hospitals.items():
    share = np.mean(labels == "malignant")
    print(f"{name:9s} {len(labels)} tumours, {share:.0%} malignant")

# %%
# One feature map for both
# ------------------------
# Sums can be added only if both hospitals have computed the same features. So the
# features are drawn once, from the public rows, and both get an empty *twin* of that
# classifier. (The feature map holds some of the rows it was drawn from. That is why it
# is drawn from public rows, and not by one of the hospitals.)

from extreme_entropy import EEKMClassifier

public = EEKMClassifier(100, random_state=0).fit(X_public, y_public)
northside = public.twin().fit(*hospitals["Northside"])
lakeview = public.twin().fit(*hospitals["Lakeview"])

# %%
# Lakeview sends a file
# ---------------------
# It holds sums for each class: counts, means, covariances. Rows cannot be read from it.
# It does hold a hash of each row, so that rows can be forgotten later; whoever already
# has a row can find out whether it was learnt.

from pathlib import Path
from tempfile import TemporaryDirectory

from extreme_entropy import load

with TemporaryDirectory() as folder:
    file = Path(folder) / "lakeview.eem"
    lakeview.save(file)
    print(f"the file has {file.stat().st_size / 1e6:.1f} MB")
    merged = northside + load(file)

# %%
# ``northside.merge(…)`` would add the sums in place; ``+`` returns a new classifier.
#
# As if all rows had been in one place
# ------------------------------------

pooled = public.twin().fit(X, y)
one, other = pooled.decision_function(X_new), merged.decision_function(X_new)
print(f"largest difference of log-odds: {np.abs(one - other).max():.1e}")

# %%
# Every held-out tumour gets the same log-odds from both:

import matplotlib.pyplot as plt

BLUE, ORANGE = "#0072B2", "#D55E00"

fig, ax = plt.subplots(figsize=(5, 4.6), layout="constrained")
for label, colour, marker in (("benign", BLUE, "o"), ("malignant", ORANGE, "^")):
    rows = y_new == label
    ax.scatter(one[rows], other[rows], color=colour, marker=marker, label=label)
ends = [one.min(), one.max()]
ax.plot(ends, ends, ":", color="0.3", zorder=0)
ax.set(xlabel="log-odds, all rows in one place", ylabel="log-odds, merged")
ax.set_title("Two ways to the same classifier", loc="left")
ax.legend(frameon=False)
plt.show()

# %%
# What was gained
# ---------------
# How well do the classifiers do on the tumours that were held out, of all sizes?

from sklearn.metrics import recall_score

names = ["Northside alone", "Lakeview alone", "merged", "all rows in one place"]
recalls = []
for name, classifier in zip(names, (northside, lakeview, merged, pooled), strict=True):
    benign, malignant = recall_score(y_new, classifier.predict(X_new), average=None)
    recalls.append((benign, malignant))
    print(f"{name:22s} recall: benign {benign:.3f}, malignant {malignant:.3f}")

fig, ax = plt.subplots(figsize=(7.5, 3), layout="constrained")
for k, (label, colour, marker) in enumerate(
    (("benign", BLUE, "o"), ("malignant", ORANGE, "^"))
):
    ax.plot([r[k] for r in recalls], names, marker, color=colour, ms=10, label=label)
ax.invert_yaxis()
ax.margins(y=0.15)
ax.grid(axis="y", color="0.9")
ax.set(xlim=(0.85, 1.0), xlabel="recall on held-out tumours")
ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
ax.tick_params(axis="y", length=0)
plt.show()

# %%
# Alone, Northside takes too many benign tumours for malignant, and Lakeview misses more
# malignant ones: each knows mostly one side of the picture. Merged, they do as well as
# all rows together, because they *are* the same.
#
# What to take away
# -----------------
# * ``twin``, ``fit``, ``save`` at each place; ``load`` and ``+`` at one. It makes no
#   difference how many places there are, or in which order their files arrive.
# * Merging is exact, up to rounding. It is not an average of models, and it needs no
#   rounds of training.
# * Sums are not anonymous by themselves: with very few rows in a class they come close
#   to the rows. Treat the files as you would treat a table of statistics about
#   patients.
