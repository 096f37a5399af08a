"""
A folder of Parquet files, larger than memory
=============================================

The rows are in a folder of Parquet files and do not fit in memory. One pass is enough:
:obj:`~extreme_entropy.EEMClassifier.fit_batches` reads them batch by batch and keeps
only sums. If the computer is switched off on the way, a checkpoint lets the fit
continue where it was, and the result is the same to the last bit.
"""

# %%
# A folder of files
# -----------------
# Eight files of **made-up** clicks, with a seed, in a temporary folder. They are small,
# so that this page is quick; nothing below depends on that.

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

folder = TemporaryDirectory()
clicks = Path(folder.name) / "clicks"
clicks.mkdir()


def made_up(rng, n):
    age, hour = rng.normal(40, 12, n), rng.uniform(0, 24, n)
    seen, pages = rng.poisson(3, n), rng.gamma(2, 3, n)
    pull = (
        0.35 * pages - 0.5 * seen + 1.5 * np.cos((hour - 20) * np.pi / 12) - 0.03 * age
    )
    clicked = rng.random(n) < 1 / (1 + np.exp(2.2 - pull))
    columns = {"age": age, "hour": hour, "seen": seen.astype(float), "pages": pages}
    return pa.table({**columns, "clicked": clicked.astype(int)})


rng = np.random.default_rng(0)
for i in range(8):
    pq.write_table(made_up(rng, 20_000), clicks / f"part-{i}.parquet")
held_out = made_up(rng, 20_000)

dataset = ds.dataset(clicks)
print(f"{len(dataset.files)} files, {dataset.count_rows()} rows")
print("columns:", *dataset.schema.names)

# %%
# One pass
# --------
# ``target`` names the column with the labels; all others are features. The random
# features are drawn from the first rows, so the files should be in no particular order.

from extreme_entropy import EEMClassifier, gmean_score, load

classifier = EEMClassifier(150, random_state=0).fit_batches(dataset, target="clicked")

X_new = held_out.drop_columns("clicked").to_pandas()
y_new = held_out["clicked"].to_numpy()
score = gmean_score(y_new, classifier.predict(X_new))
print(f"GMean on {len(y_new)} new rows: {score:.3f}")

# %%
# Interrupted on the way
# ----------------------
# You can pass any iterable of ``(X, y)`` instead of a data set. This one raises an
# error after a few batches, as a lost network share would:


def batches(until=None):
    for number, batch in enumerate(dataset.to_batches(batch_size=20_000)):
        if number == until:
            raise OSError("the network share is gone")
        table = pa.table(batch)
        yield table.drop_columns("clicked").to_pandas(), table["clicked"].to_numpy()


checkpoint = Path(folder.name) / "clicks.fit"
unlucky = EEMClassifier(150, random_state=0)
try:
    unlucky.fit_batches(batches(until=5), checkpoint=checkpoint, every=1)
except OSError as error:
    print("stopped:", error)

# %%
# What was learnt so far is in the checkpoint, which is a classifier that can be loaded:

so_far = load(checkpoint)
print(f"GMean of the checkpoint: {gmean_score(y_new, so_far.predict(X_new)):.3f}")

# %%
# The same call continues after the last checkpoint. Batches that are already counted
# are checked against the earlier ones, by a digest of their bytes, and skipped.

unlucky.fit_batches(batches(), checkpoint=checkpoint, every=1)
lucky = EEMClassifier(150, random_state=0).fit_batches(batches())
same = np.array_equal(unlucky.decision_function(X_new), lucky.decision_function(X_new))
print(f"the same as without interruption, to the last bit: {same}")
print(
    f"the checkpoint is removed when it is no longer needed: {not checkpoint.exists()}"
)

# %%
# How many rows are worth reading?
# --------------------------------
# The sums are complete at every moment, so a learning curve comes with the pass: learn
# some rows, score, learn some more. A *twin* is an empty classifier with the same
# random features. The first file is cut into small pieces, since the beginning of the
# curve is its steep part.

from itertools import pairwise

import matplotlib.pyplot as plt

learner = classifier.twin()
learnt, scores = [0], []
for X, y in batches():
    cuts = [0, 100, 200, 500, 1000, 2000, 5000, 10_000] if not scores else [0]
    for start, end in pairwise([*cuts, len(y)]):
        learner.partial_fit(X[start:end], y[start:end])
        learnt.append(learnt[-1] + end - start)
        scores.append(gmean_score(y_new, learner.predict(X_new)))

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(learnt[1:], scores, color="#D55E00", marker="o", lw=2)
ax.axhline(scores[-1], color="0.5", linestyle=":")
ax.set(xscale="log", xlabel="rows learnt", ylabel=f"GMean on {len(y_new)} new rows")
ax.set_title("A learning curve in one pass", loc="left")
plt.show()
folder.cleanup()

# %%
# What to take away
# -----------------
# * Memory holds a few batches and the sums, whatever the number of files.
# * With ``checkpoint=`` nothing that was read is lost. ``every`` is the number of
#   batches between two of them.
# * Where the curve is flat, more rows help little; more columns, or a larger
#   ``n_hidden``, may.
