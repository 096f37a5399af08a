"""Other libraries at work with ours: small functions, each a row of a table and a test.

A function returns None where it works, and the words of the refusal where that is what must happen.
`tools/integrations.py` makes docs/guide/integrations.md of them.
"""

import io
import pickle
import tempfile
import warnings
from collections.abc import Callable
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.utils.validation import check_is_fitted

import extreme_entropy
from extreme_entropy import (
    DivergenceSearch,
    EEKMClassifier,
    EEKMClassifierCV,
    EEMClassifier,
    EEMClassifierCV,
    ExtremeEntropyClassifier,
)

ALL, LABELS = load_breast_cancer(return_X_y=True)
X, y = ALL[:240, :6], LABELS[:240]
LEARNT, ASKED = slice(0, 160), slice(160, 240)
ACTIVATIONS = ("mixed", "sig", "nsig", "rbf", "tanimoto", "sorensen", "relu")
KERNELS = ("rbf", "laplacian", "polynomial", "linear", "cosine", "tanimoto")
CLASSIFIERS = [
    EEMClassifier(20, random_state=0),
    EEKMClassifier(20, random_state=0),
    ExtremeEntropyClassifier(n_landmarks=20, random_state=0),
]
SEARCHES = [
    EEMClassifierCV([5, 10], cv=3, random_state=0),
    EEKMClassifierCV([5, 10], cv=3, random_state=0),
    DivergenceSearch(EEMClassifier(random_state=0), {"n_hidden": [5, 10]}),
]


@dataclass(frozen=True)
class Integration:
    """Something of other packages that was tried with ours."""

    packages: tuple[str, ...]
    what: str
    work: Callable[[], str | None]
    module: str = "sklearn"  # that the versions installed must have

    @property
    def versions(self) -> dict[str, str | None]:
        """Versions of the packages, None for those that are not installed."""
        return {package: _version(package) for package in self.packages}

    @property
    def absent(self) -> list[str]:
        """What is not installed."""
        found = [package for package, number in self.versions.items() if number is None]
        return found if find_spec(self.module) else [*found, self.module]


INTEGRATIONS: list[Integration] = []


def tried(packages: str, what: str, **needs: str):
    """Add a function to the table."""

    def add(work):
        INTEGRATIONS.append(Integration(tuple(packages.split()), what, work, **needs))
        return work

    return add


def _version(package):
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def classifier():
    return EEMClassifier(20, random_state=0)


def fitted():
    return classifier().fit(X[LEARNT], y[LEARNT])


def frame():
    """A frame of pandas with numbers, text, dates and gaps."""
    import pandas as pd

    rows = pd.DataFrame(X.copy(), columns=[f"x{i}" for i in range(X.shape[1])])
    rows["size"] = np.array(["small", "large"])[(X[:, 0] > 14).astype(int)]
    rows["day"] = pd.date_range("2026-01-01", periods=len(X), freq="17h")
    rows.loc[::7, "x1"] = np.nan
    rows.loc[::9, "size"] = None
    return rows


def learns(model, rows=X, labels=y):
    """Fitted on some rows it finds most of the others."""
    model.fit(rows[LEARNT], labels[LEARNT])
    assert np.mean(np.asarray(model.predict(rows[ASKED])) == labels[ASKED]) > 0.8


def same(ours, theirs):
    np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs))


@contextmanager
def refused(words):
    """A refusal whose message goes to `words`."""
    try:
        yield
    except Exception as error:
        words.append(f"{type(error).__name__}: {str(error).splitlines()[0]}")
    else:
        raise AssertionError("It was not refused.")


# ------------------------------------------------------------------------------- scikit-learn


@tried("scikit-learn", "`Pipeline`, `ColumnTransformer` and `cross_validate`")
def pipelines():
    from sklearn.compose import make_column_transformer
    from sklearn.model_selection import cross_validate
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    columns = make_column_transformer((StandardScaler(), [0, 1, 2]), remainder="passthrough")
    scores = cross_validate(make_pipeline(columns, classifier()), X, y, cv=3)["test_score"]
    assert scores.mean() > 0.8


@tried("scikit-learn", "`GridSearchCV` and `RandomizedSearchCV`")
def searches():
    from sklearn.model_selection import GridSearchCV, RandomizedSearchCV

    sizes = {"n_hidden": [10, 20]}
    assert GridSearchCV(classifier(), sizes, cv=3).fit(X, y).best_score_ > 0.8
    search = RandomizedSearchCV(classifier(), sizes, n_iter=2, cv=3, random_state=0)
    assert search.fit(X, y).best_score_ > 0.8


@tried("scikit-learn", "`CalibratedClassifierCV` and `TunedThresholdClassifierCV`")
def thresholds():
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.model_selection import TunedThresholdClassifierCV

    learns(CalibratedClassifierCV(classifier(), cv=3))
    learns(TunedThresholdClassifierCV(classifier(), cv=3))


@tried("scikit-learn", "`BaggingClassifier`, `VotingClassifier`, `StackingClassifier` and boosting")
def ensembles():
    from sklearn.ensemble import (
        AdaBoostClassifier,
        BaggingClassifier,
        StackingClassifier,
        VotingClassifier,
    )

    members = [("eem", classifier()), ("eekm", EEKMClassifier(20, random_state=0))]
    learns(BaggingClassifier(classifier(), 3, random_state=0))
    learns(VotingClassifier(members))
    learns(StackingClassifier(members, cv=3))
    learns(AdaBoostClassifier(classifier(), n_estimators=3, random_state=0))


@tried("scikit-learn", "`permutation_importance`, `partial_dependence`, `RFE`")
def inspection():
    from sklearn.feature_selection import RFE
    from sklearn.inspection import partial_dependence, permutation_importance

    model = fitted()
    assert (
        permutation_importance(model, X, y, n_repeats=2, random_state=0).importances_mean.max() > 0
    )
    assert np.isfinite(partial_dependence(model, X, [0])["average"]).all()
    learns(RFE(ExtremeEntropyClassifier(n_landmarks=20, random_state=0), n_features_to_select=3))


@tried("scikit-learn pandas", "features for another model, `set_output`")
def transformers():
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    learns(make_pipeline(classifier(), LogisticRegression(max_iter=2000)))
    named = classifier().set_output(transform="pandas").fit(X, y)
    assert named.transform(X).columns.tolist() == named.get_feature_names_out().tolist()


@tried("scikit-learn", "metadata routing of `sample_weight` and `groups`")
def routing():
    from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    weight = np.where(y == 1, 3.0, 1.0)
    groups = np.arange(len(y)) // 10
    with sklearn.config_context(enable_metadata_routing=True):
        for model in CLASSIFIERS[:2]:
            asks = clone(model).set_fit_request(sample_weight=True)
            asks.set_score_request(sample_weight=True)
            search = GridSearchCV(asks, {"scale": ["quantile"]}, cv=3)
            search.fit(X, y, sample_weight=weight)
            same(search.predict(X), clone(model).fit(X, y, weight).predict(X))
            scaled = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), asks)
            scaled.fit(X, y, sample_weight=weight)
            assert scaled[-1].summary_.counts.sum() == weight.sum()
        for search in SEARCHES[:2]:
            inner = clone(search).set_params(cv=GroupKFold(3)).set_fit_request(groups=True)
            folds = GroupKFold(2)
            found = cross_validate(inner, X, y, params={"groups": groups}, cv=folds)
            assert found["test_score"].mean() > 0.8


@tried("scikit-learn rich", "callbacks: the `ProgressBar` of a search", module="sklearn.callback")
def callbacks():
    from sklearn.callback import ProgressBar
    from sklearn.model_selection import GridSearchCV

    search = GridSearchCV(classifier(), {"n_hidden": [10, 20]}, cv=3)
    with redirect_stdout(io.StringIO()):
        search.set_callbacks(ProgressBar()).fit(X, y)
    assert search.best_score_ > 0.8


@tried("scikit-learn array-api-strict", "array API dispatch: arrays become NumPy's")
def array_api():
    import array_api_strict as xp

    with sklearn.config_context(array_api_dispatch=True):
        for model in [*CLASSIFIERS, *SEARCHES]:
            strict = clone(model).fit(xp.asarray(X), xp.asarray(y))
            answer = strict.predict(xp.asarray(X))
            assert isinstance(answer, np.ndarray)
            same(answer, clone(model).fit(X, y).predict(X))
            assert strict.score(xp.asarray(X), xp.asarray(y)) > 0.8


# ------------------------------------------------------------------------------- other estimators


@tried("imbalanced-learn", "`RandomOverSampler` in its pipeline")
def imbalanced():
    from imblearn.over_sampling import RandomOverSampler
    from imblearn.pipeline import make_pipeline

    learns(make_pipeline(RandomOverSampler(random_state=0), classifier()))


@tried("skrub", "`TableVectorizer` and `tabular_pipeline`")
def skrub_tables():
    from skrub import TableVectorizer, tabular_pipeline

    rows = frame()
    for model in (
        tabular_pipeline(classifier()),
        tabular_pipeline(EEKMClassifier(20, random_state=0)),
    ):
        model.fit(rows, y)
        assert model.score(rows, y) > 0.8
    assert TableVectorizer().fit(rows) is not None


@tried("optuna", "a study over sizes and scales")
def optuna_study():
    import optuna
    from sklearn.model_selection import cross_val_score

    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def objective(trial):
        model = EEMClassifier(
            trial.suggest_int("n_hidden", 5, 20),
            scale=trial.suggest_categorical("scale", ["quantile", "standard"]),
            random_state=0,
        )
        return cross_val_score(model, X, y, cv=3).mean()

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(objective, n_trials=3)
    assert study.best_value > 0.8


@tried("scikit-optimize", "`BayesSearchCV`")
def skopt_search():
    from skopt import BayesSearchCV

    search = BayesSearchCV(classifier(), {"n_hidden": (5, 20)}, n_iter=3, cv=3, random_state=0)
    assert search.fit(X, y).best_score_ > 0.8


@tried("mapie", "`SplitConformalClassifier`")
def mapie_sets():
    from mapie.classification import SplitConformalClassifier

    sets = SplitConformalClassifier(fitted(), confidence_level=0.9, prefit=True)
    sets.conformalize(X[ASKED], y[ASKED])
    _, kept = sets.predict_set(X[ASKED])
    assert kept[np.arange(80), y[ASKED], 0].mean() >= 0.85


@tried("fairlearn", "`ThresholdOptimizer`")
def fairlearn_thresholds():
    from fairlearn.postprocessing import ThresholdOptimizer

    group = (X[:, 1] > 19).astype(int)
    model = ThresholdOptimizer(
        estimator=fitted(), prefit=True, predict_method="predict_proba", objective="accuracy_score"
    )
    model.fit(X, y, sensitive_features=group)
    answer = model.predict(X, sensitive_features=group, random_state=0)
    assert np.mean(answer == y) > 0.7


# ------------------------------------------------------------------------------- explanations


@tried("shap", "`Explainer` of `predict_proba`")
def shap_values():
    import shap

    model = fitted()
    explain = shap.Explainer(lambda rows: model.predict_proba(rows)[:, 1], X[:20], seed=0)
    found = explain(X[:2])
    np.testing.assert_allclose(
        found.values.sum(axis=1) + found.base_values, model.predict_proba(X[:2])[:, 1], atol=1e-6
    )


@tried("lime", "`LimeTabularExplainer`")
def lime_reasons():
    from lime.lime_tabular import LimeTabularExplainer

    explainer = LimeTabularExplainer(X[LEARNT], random_state=0)
    found = explainer.explain_instance(X[200], fitted().predict_proba, num_samples=200)
    assert len(found.as_list()) == X.shape[1]


@tried("dalex", "`Explainer` and its variable importance")
def dalex_parts():
    import dalex

    explainer = dalex.Explainer(fitted(), X, y, verbose=False)
    assert len(explainer.model_parts(B=1, N=50, random_state=0).result)


@tried("eli5", "`PermutationImportance`")
def eli5_importance():
    from eli5.sklearn import PermutationImportance

    found = PermutationImportance(fitted(), cv="prefit", n_iter=2, random_state=0).fit(X, y)
    assert found.feature_importances_.max() > 0


@tried("yellowbrick", "`ClassificationReport`, which refuses any classifier of scikit-learn's, too")
def yellowbrick_report():
    from sklearn.linear_model import LogisticRegression
    from yellowbrick.classifier import ClassificationReport

    words = []
    for model in (fitted(), LogisticRegression()):
        with refused(words):
            ClassificationReport(model, is_fitted=True)
    assert words[0] == words[1]
    return words[0]


# ------------------------------------------------------------------------------- tables


@tried("pandas", "frames with text, dates and gaps, whatever their index")
def pandas_frames():
    rows = frame()
    model = fitted_on(rows)
    assert model.score(rows[ASKED], y[ASKED]) > 0.8
    same(model.predict(rows[ASKED]), model.predict(rows[ASKED].reset_index(drop=True)))


@tried("polars pandas", "frames, and LazyFrames in batches")
def polars_frames():
    import polars as pl

    rows = pl.from_pandas(frame())
    same(fitted_on(rows).predict(rows[ASKED]), fitted_on(frame()).predict(frame()[ASKED]))
    lazy = rows.with_columns(pl.Series("y", y)).lazy()
    assert classifier().fit_batches(lazy, target="y").score(rows, y) > 0.8


@tried("pyarrow pandas", "tables, and datasets in batches")
def arrow_tables():
    import pyarrow as pa
    import pyarrow.dataset as ds

    rows = pa.Table.from_pandas(frame(), preserve_index=False)
    same(fitted_on(rows).predict(rows.slice(160)), fitted_on(frame()).predict(frame()[ASKED]))
    source = ds.dataset(rows.append_column("y", pa.array(y)))
    assert classifier().fit_batches(source, target="y").score(rows, y) > 0.8


@tried("duckdb pandas", "the result of a query, in batches")
def duckdb_relations():
    import duckdb

    rows = frame().assign(y=y)
    connection = duckdb.connect()
    relation = connection.from_df(rows).filter("x0 > 0")
    model = classifier().fit_batches(relation, target="y")
    assert model.score(rows.drop(columns="y"), y) > 0.8


@tried("dask", "arrays in blocks, with lazy predictions")
def dask_arrays():
    import dask.array as da

    rows, labels = da.from_array(X, chunks=(80, -1)), da.from_array(y, chunks=80)
    model = classifier().fit(rows, labels)
    same(model.predict(rows).compute(), model.predict(X))


@tried("ray pyarrow", "a `Dataset` of Ray Data, with lazy predictions")
def ray_datasets():
    import pyarrow as pa
    import ray

    rows = {f"x{j}": column for j, column in enumerate(X.T)}
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    try:
        dataset = ray.data.from_arrow(pa.table({**rows, "y": y}))
        model = classifier().fit(dataset, y="y")
        answers = model.predict(dataset).to_pandas()["prediction"]
        same(answers.to_numpy(), model.predict(pa.table(rows)))
    finally:
        ray.shutdown()


@tried("xarray", "`DataArray` of two dimensions")
def xarray_arrays():
    import xarray as xr

    rows = xr.DataArray(X, dims=("row", "column"))
    same(classifier().fit(rows, y).predict(rows), classifier().fit(X, y).predict(X))


def fitted_on(rows):
    n = 160
    return classifier().fit(rows[:n] if not hasattr(rows, "slice") else rows.slice(0, n), y[:n])


# ------------------------------------------------------------------------------- saving, tracking


@tried("joblib", "`dump`, `load` and `Parallel` with processes")
def joblib_files():
    import joblib

    for model in [*CLASSIFIERS, *SEARCHES]:
        model, buffer = clone(model).fit(X, y), io.BytesIO()
        joblib.dump(model, buffer)
        buffer.seek(0)
        same(joblib.load(buffer).predict(X), model.predict(X))
    answers = joblib.Parallel(n_jobs=2)(joblib.delayed(fitted().predict)(X) for _ in range(2))
    same(answers[0], answers[1])


@tried("cloudpickle", "`dumps` and `loads`, with kernels written in a notebook")
def cloudpickled():
    import cloudpickle

    model = EEKMClassifier(10, kernel=lambda a, b: float(a @ b), random_state=0).fit(X, y)
    again = pickle.loads(cloudpickle.dumps(model))  # noqa: S301 (our own bytes)
    same(again.predict(X), model.predict(X))


@tried("skops", "`dumps` and `loads` with `trusted=extreme_entropy.TRUSTED_TYPES`")
def skops_files():
    from skops.io import dumps, loads

    for model in [*CLASSIFIERS, *SEARCHES]:
        model = clone(model).fit(X, y)
        again = loads(dumps(model), trusted=extreme_entropy.TRUSTED_TYPES)
        check_is_fitted(again)
        same(again.predict(X), model.predict(X))


@tried("skops pandas", "the same of frames, and of every activation, kernel and scaling")
def skops_parts():
    from skops.io import dumps, get_untrusted_types

    models = [
        *(EEMClassifier(6, activation=a, random_state=0) for a in ACTIVATIONS),
        *(EEKMClassifier(6, kernel=k, random_state=0) for k in KERNELS),
        *(EEMClassifier(6, scale=scale, random_state=0) for scale in ("minmax", "standard", None)),
        ExtremeEntropyClassifier(n_landmarks=6, n_leaves=3, random_state=0),
        EEMClassifier(6, random_state=0).fit(X, y).slim(),
    ]
    for model in models:
        if not hasattr(model, "classes_"):
            model.fit(frame() if model.scale == "quantile" else X, y)
        types = set(get_untrusted_types(data=dumps(model)))
        assert types <= set(extreme_entropy.TRUSTED_TYPES), types


@tried("skops", "`loads` without a list of trusted types")
def skops_without_trust():
    from skops.io import dumps, loads

    words = []
    with refused(words):
        loads(dumps(fitted()))
    assert "Untrusted types" in words[0]
    return words[0]


@tried(
    "mlflow-skinny",
    "`extreme_entropy.mlflow.save_model`, its `load_model` and `mlflow.pyfunc.load_model`",
)
def mlflow_flavour():
    import mlflow

    from extreme_entropy.mlflow import load_model, save_model

    model = fitted()
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "model"))
        save_model(model, path)
        same(load_model(path).predict_proba(X), model.predict_proba(X))
        same(mlflow.pyfunc.load_model(path).predict(X), model.predict(X))


@tried(
    "mlflow skops",
    "`mlflow.sklearn.save_model` and `load_model` with `skops_trusted_types=TRUSTED_TYPES`",
)
def mlflow_models():
    same(*_through_mlflow(skops_trusted_types=extreme_entropy.TRUSTED_TYPES))


@tried("mlflow", 'the same with `serialization_format="cloudpickle"`')
def mlflow_pickled():
    same(*_through_mlflow(serialization_format="cloudpickle"))


@tried("mlflow skops", "the same without either argument")
def mlflow_without_trust():
    words = []
    with refused(words):
        _through_mlflow()
    assert "skops_trusted_types" in words[0]
    return words[0]


def _through_mlflow(**options):
    """Predictions of a classifier that mlflow has written and read, and its own."""
    import mlflow

    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = str(Path(folder, "model"))
        model = fitted()
        mlflow.sklearn.save_model(model, path, pip_requirements=[], **options)
        return mlflow.sklearn.load_model(path).predict(X), model.predict(X)
