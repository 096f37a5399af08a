"""`eem evaluate`: how good a model is on rows with known labels."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .output import (
    FILE,
    Decision,
    decision_options,
    echo_json,
    encoding_option,
    json_option,
    model_and_table,
    na_option,
    printable,
    rows_text,
)

if TYPE_CHECKING:
    import numpy as np

    from ..metrics import ScoreInterval
    from ..tables.model import LabelledRows, TableModel

    Array = np.ndarray[Any, Any]

TITLES = {"gmean": "GMean", "balanced_accuracy": "Balanced accuracy", "auc": "AUC"}
ALMOST_ALL = 0.995  # of the rows
METHODS = "95 % intervals: Beta (of recalls) for GMean and balanced accuracy, normal for the others"
PRIORS = {
    "balanced": "equally frequent classes",
    "empirical": "classes as frequent as in training",
    "own": "classes as frequent as given",
    "constant": "training frequencies for every row",
}


@click.command()
@click.argument("model", type=FILE)
@click.argument("data", type=FILE)
@decision_options()
@na_option
@encoding_option
@json_option
def evaluate(
    model: Path,
    data: Path,
    decision: Decision,
    na: tuple[str, ...],
    encoding: str | None,
    as_json: bool,
) -> None:
    """Evaluate MODEL on the rows of DATA, which should be held out from the fit.

    Prints the confusion matrix, GMean, balanced accuracy, AUC, the mean cost of mistakes, and Brier
    score and log-loss of the probabilities, for equally frequent classes and for classes as
    frequent as in training.
    """
    from ..tables.model import LabelledRows

    fitted, source = model_and_table(model, data, decision, encoding, na)
    rows = LabelledRows(fitted, source, "evaluate on", progress="evaluating")
    found = _evaluation(fitted, rows)
    if found.share_learnt:
        some = f"{100 * found.share_learnt:.2g} % of these rows"
        which = "these very rows" if found.share_learnt > ALMOST_ALL else some
        note = f"The model was fitted on {which}, so that every score is too good."
    elif Path(fitted.facts.source).name == data.name:
        note = "The model was fitted on a file of this name. If it has these rows, every score is "
        note += "too good."
    else:
        note = ""
    if note:
        click.echo(f"Note: {note} Evaluate it on rows that were held out.", err=True)
    if as_json:
        echo_json(
            {
                "rows": rows.rows,
                "rows_without_label": rows.rows_without_label,
                "classes": fitted.label_names,
                "share_of_rows_learnt": found.share_learnt,
                "confusion": found.matrix.tolist(),
                **{name: asdict(score) for name, score in found.scores.items()},
                "costs": found.costs,
                "mean_cost": found.mean_cost,
                "constant_mean_cost": min(found.constant_costs.values()),
                "priors": found.priors,
                "probabilities": {
                    name: {score: asdict(value) for score, value in scores.items()}
                    for name, scores in found.probabilities.items()
                },
                "intervals": METHODS,
            }
        )
        return
    click.echo(rows_text(rows.rows, fitted.target, rows.rows_without_label) + "\n")
    names = [printable(name) for name in fitted.label_names]
    click.echo(_matrix_text(names, found.matrix) + "\n")
    click.echo("\n".join(_score_lines(names, found)) + "\n")
    click.echo("\n".join(_probability_lines(found)) + "\n")
    click.echo("\n".join([*_advice(found), METHODS]))


@dataclass(frozen=True)
class Evaluation:
    """Scores of a model on rows."""

    matrix: Array  # rows by true (down) and predicted class (across)
    scores: dict[str, ScoreInterval]  # under the priors of the model
    priors: str  # a key of `probabilities`
    probabilities: dict[str, dict[str, ScoreInterval]]  # Brier score and log-loss, by priors
    costs: dict[str, float]  # of missing a row of each class
    constant_costs: dict[str, float]  # of a row, if all were predicted as the class
    share_learnt: float  # of the rows, that are those of the fit

    @property
    def mean_cost(self) -> float:
        """Of a row."""
        import numpy as np

        missed = self.matrix.sum(axis=1) - np.diag(self.matrix)
        return float(missed @ list(self.costs.values()) / self.matrix.sum())


def _evaluation(fitted: TableModel, rows: LabelledRows) -> Evaluation:
    import numpy as np

    from ..estimators.inputs import check_x
    from ..features.content import keys_of
    from ..metrics import (
        RunningAUC,
        RunningProbabilityScores,
        confusion_counts,
        predicted_classes,
        recall_scores,
    )
    from ..moments.sketch import NO_ROWS
    from ..plots.inputs import project_rows

    classifier, k = fitted.classifier, len(fitted.label_names)
    own = classifier.priors if isinstance(classifier.priors, str) else "own"
    machines = {
        name: classifier.with_costs(classifier.costs, priors=name).machine_
        for name in ("balanced", "empirical")
    }
    machines.setdefault(own, classifier.machine_)
    matrix, area = np.zeros((k, k), dtype=np.int64), RunningAUC(k)
    probabilities = {name: RunningProbabilityScores() for name in (*machines, "constant")}
    content, seen = classifier.feature_map_.content, NO_ROWS
    shares = np.exp(machines["empirical"].log_priors)
    for X, y in rows:
        labels = np.searchsorted(classifier.classes_, y)
        checked = check_x(classifier, X)
        projections = project_rows(classifier, checked)
        matrix += confusion_counts(labels, predicted_classes(machines[own].scores(projections)), k)
        seen = seen.with_rows(keys_of(content(checked), labels))
        found = {name: machine.probabilities(projections) for name, machine in machines.items()}
        area.add(labels, found[own])
        for name, p in (found | {"constant": np.tile(shares, (len(y), 1))}).items():
            probabilities[name].add(labels, p)
    given: Any = classifier.costs or {}  # by label, in a model of a table
    costs = np.array([float(given.get(label, 1.0)) for label in classifier.classes_.tolist()])
    each = matrix.sum(axis=1) @ (costs[:, None] * (1 - np.eye(k))) / matrix.sum()
    by_priors = {name: running.scores() for name, running in probabilities.items()}
    recalls = recall_scores(np.diag(matrix), matrix.sum(axis=1))
    return Evaluation(
        matrix,
        {**recalls, "auc": area.interval(), "brier": by_priors[own]["brier"]},
        own,
        by_priors,
        dict(zip(fitted.label_names, costs.tolist(), strict=True)),
        dict(zip(fitted.label_names, each.tolist(), strict=True)),
        classifier.summary_.rows.share_of(seen),
    )


def _score_lines(names: list[str], found: Evaluation) -> list[str]:
    """GMean, balanced accuracy, AUC and the mean cost."""
    absent = [name for name, n in zip(names, found.matrix.sum(axis=1), strict=True) if not n]
    lines = []
    for name, title in TITLES.items():
        score = found.scores[name]
        undefined = f"not defined: no rows of {', '.join(absent)}"
        lines.append(f"{title:20}{undefined if score.value is None else _with_interval(score)}")
    dear = [f"{n} {c:g}" for n, c in zip(names, found.costs.values(), strict=True) if c != 1]
    at = f"missing {', '.join(dear)}, another 1" if dear else "every mistake 1"
    best = min(found.constant_costs, key=lambda name: found.constant_costs[name])
    lines.append(f"{'Mean cost':20}{found.mean_cost:.3f}  ({at})")
    lines.append(
        f"{'':20}{found.constant_costs[best]:.3f}  if every row were predicted {printable(best)}"
    )
    return lines


def _probability_lines(found: Evaluation) -> list[str]:
    """Brier score and log-loss under both priors, and of a constant."""
    lines = [f"{'Probabilities for':38}{'Brier score':26}log-loss"]
    for name, scores in found.probabilities.items():
        mark = " *" if name == found.priors else ""
        brier, loss = (_with_interval(scores[key]) for key in ("brier", "log_loss"))
        lines.append(f"{PRIORS[name] + mark:38}{brier:26}{loss}")
    lines.append("* used here; --priors and --prior change it, in eem predict too")
    return lines


def _advice(found: Evaluation) -> list[str]:
    """Where other priors would do better than those of the model."""
    brier = {name: scores["brier"].value or 0.0 for name, scores in found.probabilities.items()}
    worse = ["The probabilities"] if brier[found.priors] > brier["constant"] else []
    if found.mean_cost > min(found.constant_costs.values()):
        worse.append("The decisions" if not worse else "the decisions")
    if found.priors != "balanced" or not worse:
        return []
    return [
        f"{' and '.join(worse)} are worse than a constant on these rows, since the classes are not "
        "equally frequent.\nTry --priors empirical, which needs no refitting."
    ]


def _with_interval(score: ScoreInterval) -> str:
    return f"{score.value:.3f}  ({score.low:.3f} to {score.high:.3f})"


def _matrix_text(names: list[str], matrix: Array) -> str:
    width = max(10, *(len(name) + 2 for name in names), len(f"{matrix.max():,}") + 2)
    lines = [["", "predicted"], ["true", *names]]
    lines += [[name, *(f"{n:,}" for n in row)] for name, row in zip(names, matrix, strict=True)]
    return "\n".join(
        f"{first:{width}}" + "".join(f"{cell:>{width}}" for cell in cells)
        for first, *cells in lines
    )
