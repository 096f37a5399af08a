"""
Ten digits, and "it is a 3 or an 8"
===================================

Handwritten digits have ten classes, and some of them are hard even for us. A classifier
that must name exactly one class hides that.
:obj:`~extreme_entropy.ExtremeEntropyClassifier.predict_set` answers with *all classes
that cannot be ruled out*: usually one, for hard digits two or more.
"""

# %%
# The digits
# ----------
# scikit-learn's digits: images of 8 × 8 pixels. There is nothing to set for more than
# two classes. Fewer landmarks than by default make this page quick.

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from extreme_entropy import ExtremeEntropyClassifier

X, y = load_digits(return_X_y=True)
X, X_new, y, y_new = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
classifier = ExtremeEntropyClassifier(n_landmarks=100, random_state=0).fit(X, y)
print(f"accuracy on {len(y_new)} new digits: {classifier.score(X_new, y_new):.3f}")

# %%
# Which digits are confused?
# --------------------------
# Zeros are left blank, so that mistakes are easy to see.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import confusion_matrix

counts = confusion_matrix(y_new, classifier.predict(X_new))
fig, ax = plt.subplots(figsize=(6, 5.4), layout="constrained")
ax.imshow(np.where(np.eye(10, dtype=bool), 0, counts), cmap="Oranges", vmin=0, vmax=5)
for (i, j), count in np.ndenumerate(counts):
    if count:
        colour = "0.5" if i == j else "black"
        ax.text(j, i, count, ha="center", va="center", color=colour)
ax.set(xticks=range(10), yticks=range(10))
ax.set(xlabel="predicted digit", ylabel="true digit")
ax.set_title("Mistakes are coloured", loc="left")
plt.show()

# %%
# Sets instead of single answers
# ------------------------------
# With a coverage of 97 %, the true class is in the set for at least 97 % of new rows of
# *each* class, on average over tables to learn from (conformal prediction by class). In
# one small test set it may be a little less.

sets = classifier.predict_set(X_new, coverage=0.97)
covered = sets[np.arange(len(y_new)), y_new]
sizes = sets.sum(axis=1)
print(f"the true digit is in {covered.mean():.1%} of the sets")
for size, count in zip(*np.unique(sizes, return_counts=True), strict=True):
    print(f"{count} sets with {size} of the digits")

# %%
# The digits with the largest sets: would you be sure?

hardest = np.argsort(-sizes, kind="stable")[:10]
fig, axes = plt.subplots(2, 5, figsize=(9, 4.2), layout="constrained")
for ax, row in zip(axes.flat, hardest, strict=True):
    ax.imshow(X_new[row].reshape(8, 8), cmap="gray_r")
    names = " or ".join(map(str, classifier.classes_[sets[row]]))
    ax.set_title(f"{names}\ntruth: {y_new[row]}", fontsize="medium")
    ax.set(xticks=[], yticks=[])
plt.show()

# %%
# More coverage, larger sets
# --------------------------
# Coverage has a price: to miss fewer, sets must be larger. Where less is asked for than
# the classifier can do with one digit each, some sets are empty, and their mean size
# falls below one.

coverages = np.array([0.8, 0.85, 0.9, 0.95, 0.97, 0.98])
in_set, size = [], []
for coverage in coverages:
    sets = classifier.predict_set(X_new, coverage=coverage)
    in_set.append(sets[np.arange(len(y_new)), y_new].mean())
    size.append(sets.sum(axis=1).mean())

fig, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
axes[0].plot([0.79, 1], [0.79, 1], ":", color="0.4")
axes[0].plot(coverages, in_set, color="#0072B2", marker="o")
axes[0].set(xlabel="coverage asked for", ylabel="true digit in the set")
axes[1].plot(coverages, size, color="#D55E00", marker="^")
axes[1].axhline(1, linestyle=":", color="0.4")
axes[1].set(xlabel="coverage asked for", ylabel="mean number of digits in a set")
# sphinx_gallery_thumbnail_number = 2
plt.show()

# %%
# What to take away
# -----------------
# * A set of one class is an answer that can be acted upon; a set of several is a row
#   for a person to look at.
# * A set may also be empty: the row is unlike all classes that were learnt, at that
#   coverage.
# * The guarantee is for each class, so a rare one is not covered at the expense of a
#   frequent one.
