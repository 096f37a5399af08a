"""`eem evaluate`: how good a model is on rows with known labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .options import ModelOnTable, on_table
from .output import echo_json, note, quoted, rows_text

if TYPE_CHECKING:
    from ..metrics import Outcome, ScoreInterval
    from ..report.evaluation import Evaluation, Metric
    from ..tables.model import TableModel

METHODS = "95 % intervals: Beta (of recalls) for GMean and balanced accuracy, normal for the others"
WIDEST = 100  # characters of a confusion matrix; of a wider one the commonest mistakes are listed
MOST_MISTAKES = 10
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

    Says whether the model pays: what its mistakes cost, compared with giving every row the same
    answer. Then how many rows of each class are found and missed, at how many false alarms, and
    GMean, balanced accuracy, AUC, Brier score and log-loss.
    """
    from ..report.verdict import to_be_found, verdict
    from ..tables.model import LabelledRows
    from .outcomes import classes_text, costs_line, outcome_lines, plain

    fitted, source = use.open()
    rows = LabelledRows(fitted, source, "evaluate on", progress="evaluating")
    evaluation = _evaluation(fitted, rows)
    if learnt := _note_on_rows_learnt(evaluation, fitted, use.data):
        note(f"{learnt} Evaluate it on rows that were held out.")
    names, outcome = fitted.label_names, evaluation.outcome
    rare = to_be_found(list(fitted.facts.class_counts.values()))
    saved = outcome.saving_on_constant(outcome.cheapest_constant)
    judged = verdict(outcome, saved, [quoted(n) for n in names], rare, evaluation.share_learnt)
    if as_json:
        echo_json(
            {
                "rows": rows.rows,
                "rows_without_label": rows.rows_without_label,
                "classes": names,
                "share_of_rows_learnt": evaluation.share_learnt,
                "verdict": judged.kind,
                "saved_per_row": asdict(saved),
                "confusion": evaluation.confusion.tolist(),
                "recall": _by_name(names, outcome.recalls),
                "precision": _by_name(names, outcome.precisions),
                **{metric.key: asdict(score) for metric, score in evaluation.scores()},
                "costs": dict(zip(names, evaluation.class_costs, strict=True)),
                "mean_cost": outcome.cost,
                "constant_mean_cost": outcome.constant(outcome.cheapest_constant).cost,
                "priors": evaluation.priors,
                "probabilities": {
                    name: {key: asdict(score) for key, score in scores.items()}
                    for name, scores in evaluation.probabilities.items()
                },
                "intervals": METHODS,
            }
        )
        return
    stated = not isinstance(fitted.classifier.costs, str)
    absent = ", ".join(quoted(n) for n, rows in zip(names, outcome.rows, strict=True) if not rows)
    lines = [
        rows_text(rows.rows, fitted.target, rows.rows_without_label),
        f"Classes: {classes_text(rows.class_counts)}",
        costs_line(evaluation.class_costs, names, rare, stated=stated),
        "",
        plain(f"{judged.headline} {judged.reason}")
        if not absent
        else f"There are no rows of {absent}.",
        "",
        *outcome_lines({"This model": outcome}, names, rare),
        "",
        *_class_lines(names, outcome),
        "",
        *_mistake_lines(names, evaluation.confusion),
        "",
        *score_lines(evaluation.scores(), f"not defined: no rows of {absent}"),
        "",
        *_probability_lines(evaluation),
        "",
        *_advice(evaluation),
        METHODS,
    ]
    click.echo("\n".join(lines))


def _by_name(names: Sequence[str], shares: Any) -> dict[str, float | None]:
    """Shares of classes; None where one is not defined."""
    return {n: None if x != x else x for n, x in zip(names, shares.tolist(), strict=True)}


def _class_lines(names: Sequence[str], outcome: Outcome) -> list[str]:
    """How the rows of each class fare."""
    from ..report.numbers import percent
    from .outcomes import table_lines

    matrix = outcome.confusion
    lines = [["class", "rows", "found", "missed", "false alarms", "recall", "precision"]]
    for c, name in enumerate(names):
        n, found, predicted = matrix[c].sum(), matrix[c, c], matrix[:, c].sum()
        counts = [f"{m:,}" for m in (n, found, n - found, predicted - found)]
        shares = [percent(x[c]) for x in (outcome.recalls, outcome.precisions)]
        lines.append([quoted(name), *counts, *shares])
    return table_lines(lines)


def _mistake_lines(names: Sequence[str], matrix: Any) -> list[str]:
    """The confusion matrix, or the commonest mistakes where it is too wide for a terminal."""
    from ..report.sections.short import worst_confusions
    from .outcomes import table_lines

    labels = [quoted(name) for name in names]
    cells = [[f"{n:,}" for n in row] for row in matrix.tolist()]
    rows = zip(labels, cells, strict=True)
    lines = table_lines([["true \\ predicted", *labels], *([name, *row] for name, row in rows)])
    if len(lines[0]) <= WIDEST:
        return lines
    worst = worst_confusions(matrix, MOST_MISTAKES)
    mistakes = [[f"{labels[w.true]} taken for {labels[w.predicted]}", f"{w.rows:,}"] for w in worst]
    return [
        "Most frequent mistakes (--json has the whole confusion matrix):",
        *table_lines(mistakes),
    ]


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
    from ..report.verdict import learnt_text
    from .outcomes import plain

    if share := evaluation.share_learnt:
        which = plain(learnt_text(share))
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
    """The scores of decisions, with what GMean is; those of probabilities are in a table."""
    from .outcomes import GMEAN

    lines = [
        f"{metric.title:20}{undefined if score.value is None else _with_interval(score)}"
        for metric, score in scores
        if not metric.of_probabilities
    ]
    return [*lines, GMEAN]


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
    outcome = evaluation.outcome
    if outcome.cost > outcome.constant(outcome.cheapest_constant).cost:
        worse.append("The decisions" if not worse else "the decisions")
    if evaluation.priors != "balanced" or not worse:
        return []
    return [
        f"{' and '.join(worse)} are worse than a constant on these rows, since the classes are not "
        "equally frequent.\nTry --priors empirical, which needs no refitting."
    ]


def _with_interval(score: ScoreInterval) -> str:
    return f"{score.value:.3f}  ({score.low:.3f} to {score.high:.3f})"
