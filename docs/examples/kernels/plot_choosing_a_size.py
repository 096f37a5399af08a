"""
How large must the classifier be?
=================================

The one setting of :obj:`~extreme_entropy.EEMClassifier` that matters is its number of
neurons: too few, and it cannot follow the boundary; more than enough, and a fit takes
longer for nothing. Trying five sizes with ten folds would usually take fifty fits.
:obj:`~extreme_entropy.EEMClassifierCV` needs **one pass** over the rows for all of
them.
"""

# %%
# Is it an eight?
# ---------------
# scikit-learn's handwritten digits, images of 8 × 8 pixels. One in ten is an eight, and
# eights are easily taken for other digits.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

X, digits = load_digits(return_X_y=True)
y = np.where(digits == 8, "eight", "another")
X, X_new, y, y_new = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)

# %%
# All sizes, all folds, one pass
# ------------------------------
# Rows are summed by fold, so the training set of a fold is the sum of the others. And
# the first fifty neurons of a layer of eight hundred *are* a layer of fifty.

from extreme_entropy import EEMClassifierCV, gmean_score

search = EEMClassifierCV(
    [10, 25, 50, 100, 200, 400, 800], cv=5, relevance="uniform", random_state=0
)
search.fit(X, y)
print("best:", search.best_params_)
print(f"GMean over the folds: {search.best_score_:.3f}")
print(
    f"GMean on {len(y_new)} new digits: {gmean_score(y_new, search.predict(X_new)):.3f}"
)

# %%
# The path
# --------
# Above, the mean score over the folds, with one standard error on either side. Below,
# the Cauchy–Schwarz divergence of the two classes after projection, which the paper
# proposes as a criterion that needs no held-out rows.

from extreme_entropy.plots import PathDisplay

PathDisplay.from_estimator(search)
plt.show()

# %%
# Good enough, and smaller
# ------------------------
# The best of several scores is a little too good, and its neighbours are often as good
# within the noise. A common rule takes the smallest size within one standard error of
# the best:

path = search.path_
scores = np.asarray(path.scores)[search.best_index_[0]]
mean, error = scores.mean(axis=1), scores.std(axis=1, ddof=1) / np.sqrt(scores.shape[1])
best = search.best_index_[1]
enough = int(np.flatnonzero(mean >= mean[best] - error[best])[0])
for size, score, deviation in zip(path.sizes, mean, error, strict=True):
    print(f"{size:4d} neurons: {score:.3f} ± {deviation:.3f}")
print(f"within one standard error of the best: {path.sizes[enough]} neurons")

# %%
# What the sizes look like
# ------------------------
# The classifier projects each digit to one number. With more neurons the two classes
# move apart. The histograms are of new digits, the curves are the Gaussians that
# decide.

from extreme_entropy import EEMClassifier
from extreme_entropy.plots import ProjectionDisplay

fig, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
for ax, size in zip(axes, (10, 100, 800), strict=True):
    classifier = EEMClassifier(size, relevance="uniform", random_state=0).fit(X, y)
    display = ProjectionDisplay.from_estimator(classifier, X_new, y_new, ax=ax)
    score = gmean_score(y_new, classifier.predict(X_new))
    ax.get_legend().remove()
    ax.set_title(
        f"{size} neurons, GMean {score:.3f}", loc="left", fontsize="medium", pad=6
    )
fig.legend(display.histograms_, ["another digit", "eight"], loc="outside right upper")
# sphinx_gallery_thumbnail_number = 2
plt.show()

# %%
# What to take away
# -----------------
# * ``EEMClassifierCV`` and ``EEKMClassifierCV`` cost a few fits, not fifty. The best
#   one is then complete: it predicts, merges and forgets like any other.
# * Look at the path before you take the maximum: where it is flat, a smaller classifier
#   does.
# * If you do not want to choose at all, take ``ExtremeEntropyClassifier``. It has no
#   size.
