"""
A page to forward: the report
=============================

The classifier is fitted, and someone who does not write Python wants to know what it is
good for. One line writes a page for them: a single HTML file with the scores, the
mistakes, and a slider that moves the costs while all numbers and pictures follow. It
needs no server and no network.
"""

# %%
# Tumours
# -------
# scikit-learn's breast cancer data: measurements of cell nuclei, and whether the tumour
# was malignant.

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from extreme_entropy import ExtremeEntropyClassifier

data = load_breast_cancer(as_frame=True)
X, X_new, y, y_new = train_test_split(
    data.data, data.target_names[data.target], test_size=0.5, random_state=0
)
classifier = ExtremeEntropyClassifier(random_state=0).fit(X, y)
print(f"{(y_new == 'malignant').sum()} of {len(y_new)} held-out tumours are malignant")

# %%
# The page
# --------
# Give it rows that were not learnt. (If it is given training rows, it notices, and says
# on top that its numbers are too good.)

from pathlib import Path
from tempfile import TemporaryDirectory

from extreme_entropy.report import About, write_report

about = About(title="Benign or malignant?", data="held-out tumours", target="diagnosis")
with TemporaryDirectory() as folder:
    file = Path(folder) / "report.html"
    write_report(file, classifier, X_new, y_new, about=about)
    page = file.read_text(encoding="utf-8")
print(f"one file of {len(page) / 1e3:.0f} kB")
print("loads anything from elsewhere:", 'src="http' in page)

# %%
# In practice, name a file that you can open: ``write_report("report.html", classifier,
# X_new, y_new)``. On the command line, ``eem report model.eem new.csv -o report.html``
# does the same.
#
# What the slider does
# --------------------
# The page moves thresholds by the same closed form as ``with_costs``. So what a reader
# finds with the slider, you can compute here. At a few costs of missing a malignant
# tumour, relative to a false alarm:

import pandas as pd
from sklearn.metrics import confusion_matrix

rows = {}
for cost in (1, 5, 20, 100):
    careful = classifier.with_costs({"malignant": cost}, priors="empirical")
    predicted = careful.predict(X_new)
    (_, alarms), (missed, found) = confusion_matrix(y_new, predicted)
    rows[f"cost {cost}"] = {"found": found, "missed": missed, "false alarms": alarms}
print(pd.DataFrame(rows).T.to_string())

# %%
# The pictures of the page are drawn by the classes of :obj:`extreme_entropy.plots`,
# which you can use, too. The ring is where the classifier stands at these costs:

import matplotlib.pyplot as plt

from extreme_entropy.plots import OperatingDisplay

careful = classifier.with_costs({"malignant": 20}, priors="empirical")
OperatingDisplay.from_estimator(careful, X_new, y_new, positive="malignant")
plt.show()

# %%
# What to take away
# -----------------
# * ``write_report`` for colleagues, ``with_costs`` for yourself; both tell the same
#   numbers.
# * The page holds the projections of the rows, and the position of some of them in a
#   picture. If the rows are confidential, so is the page.
