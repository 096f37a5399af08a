"""
Which direction separates best?
===============================

An Extreme Entropy Machine projects rows to one number. Of all directions to project on,
which one does it take, and why? In feature space there are hundreds of dimensions; here
there are two, so that all directions can be tried and drawn. The rows are **made up**,
with a seed.
"""

# %%
# Two clouds
# ----------
# Both classes are long in one direction and narrow in another, as correlated columns
# make them. One of them is rare.

import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(0)
frequent = rng.multivariate_normal([0, 0], [[4.0, 1.6], [1.6, 1.0]], size=900)
rare = rng.multivariate_normal([1.2, 2.4], [[2.0, 1.3], [1.3, 1.2]], size=100)
X = np.concatenate([frequent, rare])
y = np.repeat(["frequent", "rare"], [900, 100])

# %%
# Three opinions on a direction
# -----------------------------
# For each direction, project the rows and look at the means and variances of both
# classes there.
#
# * How far apart are the means? The simplest idea.
# * How far apart are they *for the variances*? The square of the difference, divided by
#   the sum of both variances. This is what the operator β maximises, by a closed form.
# * The Cauchy–Schwarz divergence of the two Gaussians, the quantity that the paper
#   starts from. It is the second, plus a term for variances that differ.

from extreme_entropy.entropy import cauchy_schwarz_divergence

angles = np.linspace(0, 180, 361)
directions = np.column_stack([np.cos(np.deg2rad(angles)), np.sin(np.deg2rad(angles))])
apart, relative, divergence = [], [], []
for direction in directions:
    a, b = frequent @ direction, rare @ direction
    apart.append(abs(b.mean() - a.mean()))
    relative.append((b.mean() - a.mean()) ** 2 / (a.var() + b.var()))
    divergence.append(cauchy_schwarz_divergence(a.mean(), a.var(), b.mean(), b.var()))

# %%
# And this is what the classifier takes. One neuron for each column passes it on as it
# is, so β is a direction in the plane.

from extreme_entropy import EEMClassifier


def identity(Z, weights, biases):
    return Z


plain = {"scale": None, "relevance": "uniform", "shrinkage": None, "ridge": 0.0}
classifier = EEMClassifier(2, activation=identity, decision="paper", **plain).fit(X, y)
chosen = np.rad2deg(np.arctan2(*classifier.beta_[::-1])) % 180
best = {
    "means only": angles[np.argmax(apart)],
    "means for the variances": angles[np.argmax(relative)],
    "divergence": angles[np.argmax(divergence)],
}
print(f"the direction of β: {chosen:.1f}°")
for name, angle in best.items():
    print(f"best by {name}: {angle:.1f}°")

# %%
# All criteria in one picture, each relative to its largest value:

BLUE, ORANGE, GREEN, INK = "#0072B2", "#D55E00", "#009E73", "0.15"

fig, ax = plt.subplots(figsize=(7.5, 4), layout="constrained")
curves = (apart, relative, divergence)
looks = ((GREEN, ":"), (BLUE, "-"), (ORANGE, "--"))
for (name, angle), curve, (colour, style) in zip(
    best.items(), curves, looks, strict=True
):
    curve = np.array(curve) / max(curve)
    ax.plot(angles, curve, style, color=colour, lw=2, label=name)
    ax.plot(angle, 1, "o", color=colour)
ax.axvline(chosen, color=INK, lw=1, label="β")
ax.set(xlabel="direction, degrees", ylabel="criterion, relative to its largest")
ax.set(xticks=range(0, 181, 30), ylim=(0, 1.05))
ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()

# %%
# What the directions look like
# -----------------------------
# The direction in which the means are furthest from each other is along the clouds,
# where both are long, and they overlap. β is turned away from it, across the clouds.

fig, axes = plt.subplots(
    1, 3, figsize=(11, 3.6), layout="constrained", width_ratios=[1.5, 1, 1]
)
plane, *projected = axes
for label, colour, marker in (("frequent", BLUE, "o"), ("rare", ORANGE, "^")):
    plane.scatter(*X[y == label].T, s=8, color=colour, marker=marker, label=label)
shown = {"means only": (best["means only"], ":"), "β": (chosen, "-")}
for ax, (name, (angle, style)) in zip(projected, shown.items(), strict=True):
    direction = np.array([np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))])
    ends = [0.6, 1.2] + 4 * np.outer([-1, 1], direction)
    plane.plot(*ends.T, style, color=INK, label=name)
    for rows, colour in ((frequent, BLUE), (rare, ORANGE)):
        ax.hist(rows @ direction, bins=20, density=True, color=colour, alpha=0.5)
    ax.set(title=f"projected, {name}", xlabel="projection", ylabel="density")
plane.set(xlabel="column 0", ylabel="column 1", xlim=(-7, 8), ylim=(-5, 8))
plane.legend(fontsize="small", loc="upper left")
# sphinx_gallery_thumbnail_number = 2
plt.show()

# %%
# What to take away
# -----------------
# * β comes from a linear system, and is the best of all directions by its criterion;
#   trying them one by one finds the same.
# * Both classes have the same say, however rare one is: means and variances are taken
#   by class, and no count enters.
# * The divergence itself may have its largest value in a slightly different direction,
#   where variances differ.
