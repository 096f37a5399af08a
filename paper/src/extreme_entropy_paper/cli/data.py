"""`eem-paper data`: which data sets of the paper are here, and fetching the others."""

from __future__ import annotations

import json

import click

from extreme_entropy.errors import InputError

from ..datasets.loading import find, list_datasets, load_dataset, where
from ..datasets.registry import DATASETS, Dataset


@click.group()
def data() -> None:
    """The data sets of the paper: list them, fetch them."""


@data.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with all that is known.")
@click.option("--doubts", is_flag=True, help="Print what is not certain about their coding.")
def list_command(as_json: bool, doubts: bool) -> None:
    """Show every data set, its counts, and where it would come from."""
    if as_json:
        click.echo(json.dumps([_facts(dataset) for dataset in list_datasets()], indent=2))
        return
    click.echo(f"{'name':18}{'rows':>8}{'columns':>9}{'positive':>10}  {'group':12}from")
    for dataset in list_datasets():
        star = "*" if dataset.doubts else ""
        click.echo(
            f"{dataset.name + star:18}{dataset.rows:8}{dataset.columns:9}{dataset.positives:10}"
            f"  {dataset.group:12}{where(dataset)[0]}"
        )
    if not doubts:
        click.echo("* something about the coding is not certain: eem-paper data list --doubts")
    for dataset in list_datasets() if doubts else ():
        _tell_doubts(dataset)


@data.command()
@click.argument("names", nargs=-1, metavar="NAME...")
@click.option("--all", "everything", is_flag=True, help="Every data set.")
def get(names: tuple[str, ...], everything: bool) -> None:
    """Fetch data sets into the cache and check them."""
    if everything == bool(names):
        raise click.UsageError("Give the names of data sets, or --all. See: eem-paper data list")
    try:
        chosen = list(DATASETS.values()) if everything else [find(name) for name in names]
    except InputError as error:
        raise click.UsageError(str(error)) from error
    failed = 0
    for dataset in chosen:
        try:
            loaded = load_dataset(dataset.name)
        except KeyboardInterrupt as error:
            raise click.ClickException(
                f"Interrupted at {dataset.name}. What was fetched is kept; run the same command "
                "again to go on."
            ) from error
        except OSError as error:  # ours, or a cache that cannot be written
            click.echo(f"{dataset.name}: {error}", err=True)
            failed += 1
            continue
        click.echo(f"{dataset.name}: {dataset.rows} rows, checked, from {loaded.origin}")
        _tell_doubts(dataset)
    if failed:
        raise click.exceptions.Exit(1)


def _tell_doubts(dataset: Dataset) -> None:
    for doubt in dataset.doubts:
        click.echo(f"  {dataset.name}: {doubt}")


def _facts(dataset: Dataset) -> dict[str, object]:
    place, path = where(dataset)
    return {
        "name": dataset.name,
        "title": dataset.title,
        "group": dataset.group,
        "rows": dataset.rows,
        "columns": dataset.columns,
        "positives": dataset.positives,
        "positive": dataset.positive,
        "counted_by": dataset.counted_by,
        "source": dataset.source,
        "licence": dataset.licence,
        "digest": dataset.digest,
        "doubts": dataset.doubts,
        "urls": [url for download in dataset.downloads for url in download.urls],
        "from": place,
        "path": path,
    }
