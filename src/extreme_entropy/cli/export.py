"""`eem export`: a model for other runtimes."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from .options import FILE, DecisionOptions, decision_options, json_option, output_option
from .output import echo_json, prepare_output


@click.command()
@click.argument("model", type=FILE)
@output_option("FILE", "The file to write, whose name ends in .onnx.")
@click.option("--float32", is_flag=True, help="In single precision: half as large.")
@decision_options()
@json_option
def export(
    model: Path, output: Path, float32: bool, decision: DecisionOptions, as_json: bool
) -> None:
    """Write MODEL as an ONNX file, which runs without Python. Needs the extra onnx.

    Each column is an input of its name and of shape (rows, 1): text as strings, numbers and
    booleans as numbers, dates as seconds since 1970. A missing number is NaN, and a missing text is
    empty. The outputs are the labels and the probabilities of the classes.
    """
    from ..errors import InputError
    from ..tables.model import TableModel

    if output.suffix != ".onnx":
        raise InputError(
            f"Models are exported to ONNX, whose files end in .onnx; the output is {output.name!r}."
        )
    prepare_output(output)
    fitted = decision.of(TableModel.load(model))
    dtype: Literal["float32", "float64"] = "float32" if float32 else "float64"
    fitted.classifier.to_onnx(output, dtype=dtype, columns=True)
    size = output.stat().st_size
    if as_json:
        values = {"onnx_file": str(output), "model_file": str(model), "bytes": size}
        echo_json({**values, "dtype": dtype, "classes": fitted.label_names})
    else:
        click.echo(f"Written: {output} ({size:,} bytes)")
