"""`eem evaluate`: how good a model is on rows with known labels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .options import ModelOnTable, on_table
from .output import echo_json, printable, rows_text

if TYPE_CHECKING:
    from ..metrics import ScoreInterval
    from ..report.evaluation import Evaluation, Metric
    from ..tables.model import TableModel

METHODS = "95 % intervals: Beta (of recalls) for GMean and balanced accuracy, normal for the others"
PRIORS = {
    "balanced": "equally frequent classes",
    "empirical": "classes as frequent as in training",
    "own": "classes as frequent as given",
    "constant": "training frequencies for every row",
}


@click.command()
@on_table
def evaluate(use: ModelOnTable, as_json: bool) -> None:
    """Evaluate MODEL on the rows of DATA, which should be held out from the fit.

    Prints the confusion matrix, GMean, balanced accuracy, AUC, the mean cost of mistakes, and Brier
    score and log-loss of the probabilities, for equally frequent classes and for classes as
    frequent as in training.
    """
    from ..tables.model import LabelledRows

    fitted, source = use.open()
    rows = LabelledRows(fitted, source, "evaluate on", progress="evaluating")
    evaluation = _evaluation(fitted, rows)
    if note := _note_on_rows_learnt(evaluation, fitted, use.data):
        click.echo(f"Note: {note} Evaluate it on rows that were held out.", err=True)
    if as_json:
        echo_json(
            {
                "rows": rows.rows,
                "rows_without_label": rows.rows_without_label,
                "classes": fitted.label_names,
                "share_of_rows_learnt": evaluation.share_learnt,
                "confusion": evaluation.confusion.tolist(),
                **{metric.key: asdict(score) for metric, score in evaluation.scores()},
                "costs": dict(zip(fitted.label_names, evaluation.class_costs, strict=True)),
                "mean_cost": evaluation.cost / evaluation.rows,
                "constant_mean_cost": float(evaluation.constant_costs.min()) / evaluation.rows,
                "priors": evaluation.priors,
                "probabilities": {
                    name: {key: asdict(score) for key, score in scores.items()}
                    for name, scores in evaluation.probabilities.items()
                },
                "intervals": METHODS,
            }
        )
        return
    names = [printable(name) for name in fitted.label_names]
    click.echo(rows_text(rows.rows, fitted.target, rows.rows_without_label) + "\n")
    click.echo(_matrix_text(names, evaluation) + "\n")
    absent = ", ".join(name for name, n in zip(names, evaluation.counts, strict=True) if not n)
    lines = score_lines(evaluation.scores(), f"not defined: no rows of {absent}")
    click.echo("\n".join([*lines, *_cost_lines(names, evaluation)]) + "\n")
    click.echo("\n".join(_probability_lines(evaluation)) + "\n")
    click.echo("\n".join([*_advice(evaluation), METHODS]))


def _evaluation(fitted: TableModel, rows: Iterable[Any]) -> Evaluation:
    """Probabilities are scored for both priors and those of the model, and beside a constant."""
    import numpy as np

    from ..report.classifiers import reported
    from ..report.evaluation import evaluate as evaluate_rows

    classifier = fitted.classifier
    subject = reported(classifier)
    machines = {
        name: classifier.with_costs(classifier.costs, priors=name).machine_
        for name in ("balanced", "empirical")
    }
    machines.setdefault(subject.priors, classifier.machine_)
    shares = np.exp(machines["empirical"].log_priors)
    probabilities = {name: machine.probabilities for name, machine in machines.items()}
    constant = {"constant": lambda values: np.tile(shares, (len(values), 1))}
    return evaluate_rows(subject, rows, probabilities | constant)


def _note_on_rows_learnt(evaluation: Evaluation, fitted: TableModel, data: Path) -> str:
    share = evaluation.share_learnt
    if share:
        which = "these very rows" if share > 0.995 else f"{100 * share:.2g} % of these rows"
        return f"The model was fitted on {which}, so that every score is too good."
    if Path(fitted.facts.source).name != data.name:
        return ""
    return (
        "The model was fitted on a file of this name. If it has these rows, every score is too "
        "good."
    )


def score_lines(
    scores: list[tuple[Metric, ScoreInterval]], undefined: str = "not defined"
) -> list[str]:
    """The scores of decisions; those of probabilities are in a table of their own."""
    return [
        f"{metric.title:20}{undefined if score.value is None else _with_interval(score)}"
        for metric, score in scores
        if not metric.of_probabilities
    ]


def _cost_lines(names: list[str], evaluation: Evaluation) -> list[str]:
    """The mean cost, and that of the best constant; classes by their names."""
    dear = [f"{n} {c:g}" for n, c in zip(names, evaluation.class_costs, strict=True) if c != 1]
    at = f"missing {', '.join(dear)}, another 1" if dear else "every mistake 1"
    best = int(evaluation.constant_costs.argmin())
    constant = evaluation.constant_costs[best] / evaluation.rows
    return [
        f"{'Mean cost':20}{evaluation.cost / evaluation.rows:.3f}  ({at})",
        f"{'':20}{constant:.3f}  if every row were predicted {names[best]}",
    ]


def _probability_lines(evaluation: Evaluation) -> list[str]:
    """Brier score and log-loss under both priors, and of a constant."""
    lines = [f"{'Probabilities for':38}{'Brier score':26}log-loss"]
    for name, scores in evaluation.probabilities.items():
        mark = " *" if name == evaluation.priors else ""
        brier, loss = (_with_interval(scores[key]) for key in ("brier", "log_loss"))
        lines.append(f"{PRIORS[name] + mark:38}{brier:26}{loss}")
    lines.append("* used here; --priors and --prior change it, in eem predict too")
    return lines


def _advice(evaluation: Evaluation) -> list[str]:
    """Where other priors would do better than those of the model."""
    brier = {name: scores["brier"].value or 0 for name, scores in evaluation.probabilities.items()}
    worse = ["The probabilities"] if brier[evaluation.priors] > brier["constant"] else []
    if evaluation.cost > evaluation.constant_costs.min():
        worse.append("The decisions" if not worse else "the decisions")
    if evaluation.priors != "balanced" or not worse:
        return []
    return [
        f"{' and '.join(worse)} are worse than a constant on these rows, since the classes are not "
        "equally frequent.\nTry --priors empirical, which needs no refitting."
    ]


def _with_interval(score: ScoreInterval) -> str:
    return f"{score.value:.3f}  ({score.low:.3f} to {score.high:.3f})"


def _matrix_text(names: list[str], evaluation: Evaluation) -> str:
    matrix = evaluation.confusion
    width = max(10, *(len(name) + 2 for name in names), len(f"{matrix.max():,}") + 2)
    lines = [["", "predicted"], ["true", *names]]
    lines += [[name, *(f"{n:,}" for n in row)] for name, row in zip(names, matrix, strict=True)]
    return "\n".join(
        f"{first:{width}}" + "".join(f"{cell:>{width}}" for cell in cells)
        for first, *cells in lines
    )
