"""Hints on a table: columns that give the label away, rows in an order, possible identifiers."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import roc_auc_score

from extreme_entropy.tables.hints import auc_alone, hints, neighbours_alike


def column(values):
    return pa.chunked_array([pa.array(values, from_pandas=True)])


def hints_on(y, **columns):
    table = pa.table({name: column(values) for name, values in columns.items()})
    return hints(table, y, np.arange(len(y)))


def test_the_auc_of_a_number_is_scikit_learn_s(rng):
    """Upwards or downwards, with ties and gaps left aside."""
    y = rng.integers(0, 2, 300)
    x = (rng.normal(size=300) + y).round(1)
    area = roc_auc_score(y, x)
    assert auc_alone(column(x), y) == pytest.approx(area)
    assert auc_alone(column(-x), y) == pytest.approx(area)


@pytest.mark.parametrize("n", [40, 2000])
@pytest.mark.parametrize("k", [2, 3])
def test_a_column_that_gives_the_label_away_is_named(n, k, rng):
    """As numbers, in any order of the classes, as categories, as gaps; noise is not."""
    y = rng.integers(0, k, n)
    leaks = {
        "code": np.array([5.0, -1.0, 2.0])[y],
        "word": np.array(["won", "lost", "open"])[y],
        "kind": np.char.add(np.array(["a", "b", "c"])[y], rng.integers(0, 3, n).astype(str)),
    }
    if k == 2:
        leaks |= {"refund": 100.0 * y + rng.normal(size=n), "gone": np.where(y, np.nan, 1.0 * n)}
    names = rng.permutation(n).astype(str)  # every value another: nothing to be learnt
    (hint,) = hints_on(y, noise=rng.normal(size=n), name=names, **leaks)
    for name in leaks:
        assert repr(name) in hint
    assert "noise" not in hint
    assert "'name'" not in hint


def test_a_column_of_few_values_gives_nothing_away(rng):
    """In order among themselves, but missing in all other rows."""
    y = rng.integers(0, 2, 200)
    few = np.where(np.arange(200) < 20, 1.0 * y, np.nan)
    assert hints_on(y, x=rng.normal(size=200), few=few) == []


def test_a_rare_class_can_be_given_away_too(rng):
    """Eight rows of two thousand, by a flag and by an amount."""
    y = (np.arange(2000) % 250 == 0).astype(int)
    (hint,) = hints_on(y, flag=1.0 * y, amount=rng.exponential(size=2000) * y, x=rng.random(2000))
    assert "'flag', 'amount'. " in hint


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_good_columns_are_no_leaks(load, rng):
    """Petals separate one class of iris, and the size of cells nearly all tumours."""
    data = load()
    mixed = rng.permutation(len(data.target))
    X, y = data.data[mixed], data.target[mixed]
    assert hints_on(y, **{f"x{j}": values for j, values in enumerate(X.T)}) == []


def test_rows_in_the_order_of_a_date_or_of_the_label_are_pointed_out(rng):
    """Newest first and with a few out of place, too; not where the order is random."""
    n = 300
    y, x = rng.integers(0, 2, n), rng.normal(size=n)
    days = np.datetime64("2020-01-01", "us") + np.arange(n).astype("timedelta64[D]")
    swapped = days.copy()
    swapped[[3, 200]] = days[[200, 3]]
    for ordered in (days, days[::-1], swapped):
        (hint,) = hints_on(y, x=x, day=ordered)
        assert hint.startswith("The rows are in the order of 'day'. ")
    assert hints_on(y, x=x, day=rng.permutation(days), same=np.full(n, days[0])) == []
    (hint,) = hints_on(np.sort(y), x=x)
    assert hint.startswith("Neighbouring rows often have the same label. ")
    leak, hint = hints_on(np.sort(y), x=x, day=days)
    assert "'day'" in leak
    assert " of 'day' and neighbouring rows " in hint


def test_neighbours_are_alike_by_chance_or_always(rng):
    """0 for random order whatever the frequencies, 1 for long runs, below 0 for alternation."""
    y = (rng.random(20_000) < 0.05).astype(int)
    assert abs(neighbours_alike(y)) < 0.03
    assert neighbours_alike(np.sort(y)) > 0.99
    assert neighbours_alike(np.arange(100) % 2) == pytest.approx(-1, abs=0.03)


def test_whole_numbers_that_all_differ_may_be_identifiers(rng):
    n = 150
    y = rng.integers(0, 2, n)
    (hint,) = hints_on(y, key=1.0 * rng.permutation(5 * n)[:n], some=rng.integers(0, 50, n) * 1.0)
    assert hint.startswith("Whole numbers that all differ: 'key'. ")


def test_repeated_rows_are_pointed_out(rng):
    """Where a column varies; rows of a few categories are equal by chance."""
    x, labels = rng.normal(size=300), np.arange(300) % 2
    once = pa.table({"x": x, "z": rng.integers(0, 3, 300)})
    often = np.concatenate([np.arange(300), np.repeat(np.arange(0, 40), 5)])
    found = hints(once.take(often), labels[often], np.arange(10))
    assert any(hint.startswith("40% of the rows are equal to another one") for hint in found)
    assert not any("equal to another" in hint for hint in hints(once, labels, np.arange(10)))
    few = pa.table({"z": rng.integers(0, 3, 300)})
    assert not any("equal to another" in hint for hint in hints(few, labels, np.arange(10)))


def test_whole_numbers_that_look_like_codes_are_pointed_out(rng):
    """Not years, scores, amounts in round steps, fractions or numbers that hardly repeat."""
    n = 600
    y = rng.integers(0, 2, n)
    codes = rng.choice(rng.choice(np.arange(10_000, 99_999), 30, replace=False), n)
    others = {
        "year": 1990 + rng.integers(0, 30, n),
        "price": 1000 * rng.integers(10, 99, n),
        "mileage": rng.integers(10_000, 99_999, n),
        "count": rng.integers(0, 50, n),
        "share": rng.choice(rng.uniform(100, 900, 30), n),
        "few": rng.choice([100, 999], n),
    }
    floats = {name: values.astype(float) for name, values in others.items()}
    assert not [hint for hint in hints_on(y, **floats) if "look like codes" in hint]
    [hint] = [h for h in hints_on(y, zip=codes.astype(float), **floats) if "look like codes" in h]
    assert hint.startswith("Whole numbers that look like codes: 'zip'. ")
    assert hint.endswith("--category zip")
