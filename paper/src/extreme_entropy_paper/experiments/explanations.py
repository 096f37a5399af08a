"""Why single cells differ: what was checked, and not what is guessed.

The figures behind these sentences are those of `eem-paper reproduce alternatives`.
"""

from __future__ import annotations

from .claims import Claim

UNKNOWN = "not explained"
EXPLANATIONS = {
    ("uci", "sonar", "WELM-rbf"): (
        "the paper's WELM has no regularisation but the pseudo-inverse; with I/C, C from SVM's "
        "grid, it would have the printed figure"
    ),
    ("unbalanced", "arythmia", "EEM-sig"): (
        "with 261 columns the neurons are saturated and the classes differ by rounding only, which "
        "we take for no difference; believed, it gives a figure near the printed one"
    ),
    ("unbalanced", "arythmia", "EEM-rbf"): (
        "25 rows of the rare class make folds differ by tens of points; scaling the table at once "
        "or putting the classifier together from scikit-learn's parts gives the same, neurons "
        "wider by the number of columns would give the printed figure"
    ),
    ("unbalanced", "sick_euthyroid", "EEM-nsig"): (
        "ours is better under every way to fill the missing values and to scale that was tried; "
        "the authors' encoding is not known"
    ),
    ("gaussian", "splice", "EEM-sig"): (
        "the printed figure is that of the best size; divergence prefers others, that of the "
        "projected rows as well as that of the classifier's own Gaussians"
    ),
}


def explain(claim: Claim) -> str:
    """What is known about a cell that differs."""
    return EXPLANATIONS.get((claim.table, claim.dataset, claim.model), UNKNOWN)
