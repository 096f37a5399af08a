"""
Which columns matter, when most are noise
=========================================

Tables collect columns. Somebody joins a sensor log, somebody else adds every field of
the customer file, and in the end most columns are noise. Methods that measure distances
between rows suffer from that, because noise moves rows apart as much as information
does. The classifiers of this library find out first how much each column matters.

The wines are scikit-learn's: 178 rows of thirteen chemical measurements, from three
growers. The noise is added here.
"""

# %%
# Eighty columns that say nothing
# -------------------------------

import numpy as np
import pandas as pd
from sklearn.datasets import load_wine

wine = load_wine(as_frame=True)
X, y = wine.data, np.array(["grower A", "grower B", "grower C"])[wine.target]

rng = np.random.default_rng(0)
noise = pd.DataFrame(
    rng.normal(size=(len(X), 80)), columns=[f"noise {i}" for i in range(80)]
)
noisy = pd.concat([X, noise], axis=1)

# %%
# More noise, fewer hits?
# -----------------------
# Two fits of the same classifier, one with learned relevance and one that treats all
# columns alike, as the paper does; and two classifiers that compare rows by distance.
# Each point is a five-fold cross-validation.

from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from extreme_entropy import EEMClassifier

learned = EEMClassifier(100, relevance="learned", random_state=0)
uniform = EEMClassifier(100, relevance="uniform", random_state=0)
classifiers = {
    "EEMClassifier, learned relevance": learned,
    "EEMClassifier, all columns alike": uniform,
    "support vectors": make_pipeline(StandardScaler(), SVC()),
    "nearest neighbours": make_pipeline(StandardScaler(), KNeighborsClassifier()),
}

# %%
# The noise columns are added a few at a time:

added = [0, 20, 40, 80]
scores = {
    name: [cross_val_score(c, noisy.iloc[:, : 13 + k], y, cv=5).mean() for k in added]
    for name, c in classifiers.items()
}
print(
    pd.DataFrame(scores, index=[f"{k} columns" for k in added]).round(3).T.to_string()
)

# %%
# The same numbers as curves:

import matplotlib.pyplot as plt

looks = [
    ("#D55E00", "-", "o"),
    ("#E69F00", "--", "s"),
    ("#0072B2", "-.", "^"),
    ("#56B4E9", ":", "D"),
]
fig, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
for (name, values), (colour, style, marker) in zip(scores.items(), looks, strict=True):
    ax.plot(added, values, style, color=colour, marker=marker, lw=2, label=name)
ax.set(xticks=added, xlabel="columns of noise added", ylabel="accuracy, 5 folds")
ax.set_title("What noise does to accuracy", loc="left")
ax.legend(frameon=False)
plt.show()

# %%
# What the classifier thinks of the columns
# -----------------------------------------
# ``feature_importances_`` sums to one over all columns. No bar of noise should be long:

from extreme_entropy.plots import RelevanceDisplay

classifier = EEMClassifier(100, relevance="learned", random_state=0).fit(
    noisy[:-1], y[:-1]
)
shares = pd.Series(classifier.feature_importances_, index=noisy.columns)
print(f"13 measurements: {shares[X.columns].sum():.0%} of the importance")
print(f"80 noise columns: {shares[noise.columns].sum():.0%}")
RelevanceDisplay.from_estimator(classifier, max_features=12)
plt.show()

# %%
# Why was this wine classified so?
# --------------------------------
# Importance is about all rows. ``explain`` is about one: how far does each column move
# its log-probability away from that of a typical row? Here is the last wine, which was
# not learnt. Bars to the right speak for the grower that is predicted.

last = noisy[-1:]
print(f"predicted: {classifier.predict(last)[0]}, true: {y[-1]}")
RelevanceDisplay.from_row(classifier, last, max_features=10)
plt.show()

# %%
# What to take away
# -----------------
# * Relevance is learnt by default (``relevance="auto"``); nothing has to be selected
#   first.
# * It is learnt from a sample of the rows, and used only if held-out rows say that it
#   helps.
# * Importance and contributions describe the classifier. They are not causes, and of
#   two columns that say the same, either may get the credit.
