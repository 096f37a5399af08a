"""
Fingerprints and the Tanimoto kernel
====================================

Chemists describe a molecule by a *fingerprint*: a thousand and more bits, each telling
whether some fragment occurs in it. A few dozen bits are set. Two molecules are alike if
they share many of the bits that either of them has, and that share is the Tanimoto
similarity,

.. math:: T(a, b) = \\frac{|a \\cap b|}{|a \\cup b|}.

Bits that both molecules lack count for nothing, which is what distinguishes it from
Euclidean distance. Both :obj:`~extreme_entropy.EEMClassifier` and
:obj:`~extreme_entropy.EEKMClassifier` know it.

The molecules here are **made up**, with a seed; no chemistry is implied.
"""

# %%
# Made-up molecules
# -----------------
# A molecule consists of one of ten scaffolds and one of ten side groups, each with bits
# of its own, most of which are set; a few bits more are set at random. It is active if
# the side group *fits* the scaffold, as one in ten does. So no bit says anything alone:
# every scaffold and every group is active with some partner.

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import train_test_split

rng = np.random.default_rng(0)
n, bits = 3000, 1024
scaffolds, groups = rng.random((2, 10, bits)) < 0.025
scaffold, group = rng.integers(10, size=(2, n))
is_set = rng.random((n, bits)) < 0.8
others = rng.random((n, bits)) < 0.02
fingerprints = ((scaffolds[scaffold] | groups[group]) & is_set) | others
active = np.where((scaffold + group) % 10 == 0, "active", "inactive")

X, y = sp.csr_array(fingerprints, dtype=np.float32), active
X, X_new, y, y_new = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
print(f"{X.shape[0]} molecules of {bits} bits to learn from")
print(f"{X.nnz / X.shape[0]:.0f} bits are set on average")
print(f"{np.mean(y == 'active'):.1%} of them are active")

# %%
# Bits of two molecules with the same parts, and of two that share the scaffold only:

import matplotlib.pyplot as plt

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "0.8"

first = 0
same = np.flatnonzero((scaffold == scaffold[first]) & (group == group[first]))[1]
half = np.flatnonzero((scaffold == scaffold[first]) & (group != group[first]))[0]

fig, axes = plt.subplots(2, 1, figsize=(9, 2.6), layout="constrained", sharex=True)
for ax, other, who in zip(
    axes, (same, half), ("both parts", "the scaffold only"), strict=True
):
    shared = fingerprints[first] & fingerprints[other]
    either = fingerprints[first] | fingerprints[other]
    ax.vlines(np.flatnonzero(either & ~shared), 0, 1, color=GREY, lw=1.4)
    ax.vlines(np.flatnonzero(shared), 0, 1, color=ORANGE, lw=1.8)
    ax.set(yticks=[], xlim=(0, bits), ylim=(0, 1))
    similarity = shared.sum() / either.sum()
    ax.set_title(f"Sharing {who}: Tanimoto similarity {similarity:.2f}", loc="left")
axes[1].set_xlabel("bit (orange: set in both molecules, grey: in one of them)")
plt.show()

# %%
# Five ways to compare molecules
# ------------------------------
# Sparse matrices go in as they are. Bits need no scaling. ReLU neurons are another
# choice for bits: each fires where a molecule shares enough bits with one that was
# sampled. For comparison, a Gaussian kernel, which measures Euclidean distance, and
# logistic regression, which adds up single bits.

from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from extreme_entropy import EEKMClassifier, EEMClassifier, gmean_score

common = {"scale": None, "random_state": 0}
classifiers = {
    "EEM, ReLU neurons": EEMClassifier(400, activation="relu", **common),
    "EEM, Tanimoto neurons": EEMClassifier(400, activation="tanimoto", **common),
    "EEKM, Tanimoto kernel": EEKMClassifier(400, kernel="tanimoto", **common),
    "EEKM, Gaussian kernel": EEKMClassifier(400, kernel="rbf", **common),
    "logistic regression": LogisticRegression(class_weight="balanced"),
}
promise = {}
for name, classifier in classifiers.items():
    classifier.fit(X, y)
    promise[name] = classifier.predict_proba(X_new)[:, 0]
    score = gmean_score(y_new, classifier.predict(X_new))
    area = roc_auc_score(y_new == "active", promise[name])
    print(f"{name:22s} GMean {score:.3f}, area under ROC {area:.3f}")

# %%
# How many molecules must be tested?
# ----------------------------------
# A screen ranks molecules and tests the most promising first. How many of the active
# ones are found so?

fig, ax = plt.subplots(figsize=(8.4, 4), layout="constrained")
looks = [
    ("#009E73", "-"),
    ("#E69F00", "--"),
    (ORANGE, "-"),
    (BLUE, "-."),
    ("#CC79A7", ":"),
]
tested = np.arange(1, len(y_new) + 1)
for (name, p), (colour, style) in zip(promise.items(), looks, strict=True):
    hits = np.cumsum(y_new[np.argsort(-p, kind="stable")] == "active")
    ax.plot(tested, hits / hits[-1], style, color=colour, lw=2, label=name)
ax.plot(tested, tested / len(y_new), color="0.6", lw=1, label="at random")
ax.set(xlabel="molecules tested", ylabel="share of active molecules found")
ax.set(xlim=(0, 600), ylim=(0, 1.02))
ax.set_title("Active molecules found", loc="left")
ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
# sphinx_gallery_thumbnail_number = 2
plt.show()

# %%
# What to take away
# -----------------
# * Where combinations of bits matter, comparing whole fingerprints finds what single
#   bits cannot tell.
# * For fingerprints and other sparse bits try ``activation="tanimoto"``,
#   ``activation="relu"`` and ``kernel="tanimoto"``, with ``scale=None``. Which one is
#   best depends on the data: let cross-validation decide.
# * Each molecule is compared with a few hundred sampled ones, not with all of them, and
#   sparse input is made dense only one chunk at a time. So the cost of a fit grows in
#   proportion to the number of molecules.
