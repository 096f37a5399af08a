"""
A fit on a Dask cluster
=======================

The rows are spread over the workers of a cluster, and you do not want to gather them.
You don't have to: each worker adds up its own rows, workers add up their sums, and only
one small summary travels to the client. The classifier is the one that a fit on the
gathered rows would give.

To run on any computer, this example starts a cluster of two workers within its own
process. With a real one, only the line that creates the client changes.
"""

# %%
# A cluster, and rows in blocks
# -----------------------------
# The rows are **made up**, with a seed: 40 000 of them in eight blocks. In practice
# they would come from ``dask.dataframe.read_parquet`` or the like; the classifiers take
# Dask arrays and Dask data frames.

import dask.array as da
from distributed import Client
from sklearn.datasets import make_classification

client = Client(
    processes=False, n_workers=2, threads_per_worker=1, dashboard_address=None
)

rows, labels = make_classification(
    40_000, 12, n_informative=8, weights=[0.93], class_sep=0.7, random_state=0
)
X, y = da.from_array(rows, chunks=(5000, -1)), da.from_array(labels, chunks=5000)
print(f"{X.shape[0]} rows of {X.shape[1]} columns in {X.numblocks[0]} blocks")

# %%
# The fit
# -------
# The same line as for an array in memory.

from extreme_entropy import EEMClassifier

classifier = EEMClassifier(200, random_state=0).fit(X, y)

# %%
# Predictions are lazy: a Dask array with a block for each block of rows, computed when
# it is wanted. Scores are computed where the rows are.

probabilities = classifier.predict_proba(X)
print(probabilities)
print(f"accuracy on the rows learnt: {classifier.score(X, y):.3f}")

# %%
# The same as in memory?
# ----------------------
# These rows do fit in memory, so we can see what a usual fit makes of them.

import numpy as np

in_memory = EEMClassifier(200, random_state=0).fit(rows, labels)
here = in_memory.decision_function(rows)
there = classifier.decision_function(X).compute()
difference = np.abs(here - there)
print(f"largest difference of log-odds: {difference.max():.1e}")
other = in_memory.predict(rows) != classifier.predict(X).compute()
print(f"rows with another label: {other.sum()}")

# %%
# Both fits give the same log-odds, apart from rounding:

import matplotlib.pyplot as plt

BLUE, ORANGE = "#0072B2", "#D55E00"

fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
shown = slice(None, None, 20)
for c, colour, marker in ((0, BLUE, "o"), (1, ORANGE, "^")):
    of_class = labels[shown] == c
    points = here[shown][of_class], there[shown][of_class]
    axes[0].scatter(
        *points, s=12, color=colour, marker=marker, alpha=0.6, label=f"class {c}"
    )
axes[0].set(
    xlabel="log-odds, fitted in memory", ylabel="log-odds, fitted on the cluster"
)
axes[0].set_title("Every 20th row", loc="left")
axes[0].legend(frameon=False)
bins = np.geomspace(1e-16, 1e-11, 31)
axes[1].hist(np.clip(difference, bins[0], bins[-1]), bins=bins, color=BLUE)
axes[1].set(xscale="log", xlabel="difference of log-odds", ylabel="rows")
axes[1].set_title("What rounding leaves", loc="left")
plt.show()

# %%
# The differences come from adding the same numbers in another order. For the same
# blocks the result is the same to the last bit on any number of workers.
#
# What travels
# ------------
# A summary has about ten matrices of the size of the layer, whatever the number of
# rows. Apart from a sample, from which the random features are drawn, rows stay where
# they are.

from pathlib import Path
from tempfile import TemporaryDirectory

with TemporaryDirectory() as folder:
    file = Path(folder) / "classifier.eem"
    classifier.save(file)
    size = file.stat().st_size
billion = 1e9 * rows.shape[1] * rows.itemsize
print(f"the saved classifier, sums included: {size / 1e6:.1f} MB")
print(f"a billion such rows: {billion / 1e9:.0f} GB, with a classifier as small")

# %%
# Tomorrow's rows are learnt in the same way, and rows can be removed again:

classifier.partial_fit(X[:5000], y[:5000]).forget(X[:5000], y[:5000])
again = np.abs(classifier.decision_function(rows) - here).max()
print(f"after learning a block once more and forgetting it: {again:.1e}")
client.close()

# %%
# What to take away
# -----------------
# * ``fit``, ``partial_fit``, ``forget``, ``score``, all ``predict`` methods and the
#   ``…CV`` classifiers take Dask arrays and frames.
# * Each block is read four times: for labels and ranges, for sampled rows, for those of
#   each class, and for the sums. Call ``persist()`` first if the memory of the workers
#   holds them.
# * Blocks of 100 000 rows or more keep the cost of adding sums small; those of this
#   example are much smaller.
