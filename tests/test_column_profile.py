"""How far the columns of new rows are from those of training."""

from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest

from extreme_entropy.tables.column_profile import ColumnProfile, Drift, profiles_of, stability_index


def test_rows_of_the_same_kind_have_no_drift_and_others_do(rng):
    """Numbers, dates and categories; of the same kind it is about 0, however few the rows."""

    def table(n, shift=0.0):
        days = rng.integers(0, 300, n) + int(200 * shift)
        return pa.table(
            {
                "x": rng.normal(size=n) + shift,
                "day": pa.array([datetime(2020, 1, 1) + timedelta(int(d)) for d in days]),
                "kind": rng.choice(["a", "b", "c"], n, p=[0.8 - shift / 2, 0.1, 0.1 + shift / 2]),
            }
        )

    profiles = profiles_of(table(2000))
    for n in (50, 1000):
        for shift, low, high in ((0.0, 0.0, 0.1 if n > 50 else 0.25), (1.0, 0.25, 9.0)):
            drift = Drift(profiles)
            drift.add(table(n // 2, shift))
            drift.add(table(n - n // 2, shift))
            assert all(low <= change.drift < high for change in drift.changes())


def test_missing_values_are_a_change():
    x = pa.array([float(i % 17) for i in range(200)])
    drift = Drift({"x": ColumnProfile.of(x)})
    drift.add(pa.table({"x": pa.array([None if i % 2 else 3.0 + i % 5 for i in range(100)])}))
    (change,) = drift.changes()
    assert (change.missing_before, change.missing, change.typical) == (0.0, 0.5, "8")
    assert change.drift > 0.25


def test_the_index_is_that_of_its_formula():
    """Of very many rows, where nothing is due to chance; half a row more in each range."""
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
    expected = ((q - p) * np.log(q / p)).sum()
    assert stability_index(1e9 * p, 1e9 * q) == pytest.approx(expected)


@pytest.mark.parametrize("cells", [pa.nulls(5, pa.float64()), pa.nulls(5, pa.string())])
def test_a_column_without_values_has_a_profile(cells):
    profile = ColumnProfile.of(cells)
    assert (profile.rows, profile.missing, profile.typical, sum(profile.counts)) == (5, 5, "", 0)
