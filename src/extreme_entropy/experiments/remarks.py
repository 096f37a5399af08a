"""Why single cells differ: what was checked, and not what is guessed.

The figures behind these sentences are those of `eem reproduce readings`.
"""

from __future__ import annotations

from .claims import Claim

UNKNOWN = "not explained"
REMARKS = {
    ("unbalanced", "arythmia", "EEM-sig"): (
        "with 261 columns the neurons are saturated and the classes differ by rounding only, which "
        "we take for no difference; believed, it gives a figure near the printed one"
    ),
    ("unbalanced", "sick_euthyroid", "EEM-nsig"): (
        "ours is better under every way to fill the missing values and to scale that was tried; "
        "the authors' encoding is not known"
    ),
    ("big", "webpages", "EEM-sig"): (
        "the score still grows at the largest size of the grid; with 500 neurons ours is within "
        "the printed spread"
    ),
    ("gaussian", "splice", "EEM-sig"): (
        "the printed figure is that of the best size; divergence prefers others, that of the "
        "projected rows as well as that of the machine's own Gaussians"
    ),
}


def remark(claim: Claim) -> str:
    """What is known about a cell that differs."""
    return REMARKS.get((claim.table, claim.dataset, claim.model), UNKNOWN)
