"""
Decision regions of three classifiers
=====================================

The library has three classifiers. :obj:`~extreme_entropy.EEMClassifier` passes rows
through random neurons, :obj:`~extreme_entropy.EEKMClassifier` compares them with
landmarks by a kernel, and :obj:`~extreme_entropy.ExtremeEntropyClassifier`, the one to
start with, adds effects of single columns to a kernel and can split a large table into
leaves with a model each. In two dimensions you can see what that means.
"""

# %%
# Three made-up tables
# --------------------
# Two moons; a rare class inside a frequent one; and a chequerboard, where neither
# column says anything alone.

import numpy as np
from sklearn.datasets import make_moons

rng = np.random.default_rng(0)
moons = make_moons(600, noise=0.25, random_state=0)

ring = rng.normal(size=(1200, 2))
inside = np.hypot(*ring.T) + 0.15 * rng.normal(size=1200) < 0.45

board = rng.uniform(0, 4, size=(2400, 2))
dark = board.astype(int).sum(axis=1) % 2

tables = {
    "two moons": moons,
    f"a rare class ({inside.mean():.0%})": (ring, inside.astype(int)),
    "a chequerboard": (board, dark),
}

# %%
# Three classifiers
# -----------------
# All of them have their defaults, except that the last one is told to split the tables
# into leaves; tables as small as these would not be. Half of the rows are learnt, and
# the others drawn, with a ring where the prediction is wrong.

from extreme_entropy import EEKMClassifier, EEMClassifier, ExtremeEntropyClassifier

classifiers = {
    "EEMClassifier": EEMClassifier(random_state=0),
    "EEKMClassifier": EEKMClassifier(random_state=0),
    "ExtremeEntropyClassifier": ExtremeEntropyClassifier(n_leaves=8, random_state=0),
}

# %%
# Columns of the picture are tables, its rows are classifiers.

import matplotlib.pyplot as plt

from extreme_entropy import gmean_score
from extreme_entropy.plots import RegionsDisplay

fig, axes = plt.subplots(3, 3, figsize=(11, 10.5), layout="constrained")
for column, (name, (X, y)) in enumerate(tables.items()):
    for row, (kind, classifier) in enumerate(classifiers.items()):
        ax = axes[row, column]
        classifier.fit(X[::2], y[::2])
        score = gmean_score(y[1::2], classifier.predict(X[1::2]))
        print(f"{name:20s} {kind:25s} GMean {score:.3f}")
        RegionsDisplay.from_estimator(classifier, X[1::2], y[1::2], ax=ax, n_points=300)
        ax.get_legend().remove()
        ax.set_title(f"{kind}, GMean {score:.2f}", loc="left", fontsize="medium", pad=6)
        ax.set(xlabel=name if row == 2 else "", ylabel="")
plt.show()

# %%
# All three follow curved boundaries, without any tuning, and the rare class is not
# swallowed by the frequent one: both count equally by default.
#
# Probabilities, too
# ------------------
# Behind the labels are probabilities. Here is the board once more, by all three:

from matplotlib.colors import LinearSegmentedColormap

colours = LinearSegmentedColormap.from_list("", ["#0072B2", "white", "#D55E00"])
places = np.stack(np.meshgrid(np.linspace(0, 4, 120), np.linspace(0, 4, 120)), axis=-1)
fig, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained", sharey=True)
for ax, (kind, classifier) in zip(axes, classifiers.items(), strict=True):
    probability = classifier.predict_proba(places.reshape(-1, 2))[:, 1]
    probability = probability.reshape(120, 120)
    shades = ax.pcolormesh(*places.T, probability.T, cmap=colours, vmin=0, vmax=1)
    ax.set(title=kind, xlabel="column 0", aspect="equal")
axes[0].set_ylabel("column 1")
fig.colorbar(shades, ax=axes, label="probability of class 1")
# sphinx_gallery_thumbnail_number = 2
plt.show()

# %%
# Neurons blur the edges of the fields, landmarks fray them, and leaves draw most of
# them as straight cuts, since a cut between two leaves is always along a column.
#
# What to take away
# -----------------
# * On smooth boundaries the three are alike. Start with ``ExtremeEntropyClassifier``.
# * Where a table falls into parts that differ, leaves help: one set of features has to
#   bend around sixteen fields at once, while each leaf has only a few of them.
# * Take ``EEMClassifier`` or ``EEKMClassifier`` for one projection that can be drawn,
#   see :ref:`sphx_glr_auto_examples_paper_plot_process.py`, or to choose the kernel
#   yourself, see :ref:`sphx_glr_auto_examples_kernels_plot_tanimoto_fingerprints.py`.
