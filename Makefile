# Everything runs in environments made here from the standard library; nothing global is touched.
ifeq ($(OS),Windows_NT)
PYTHON ?= python
SCRIPTS := Scripts
else
PYTHON ?= python3
SCRIPTS := bin
endif
BIN := .venv/$(SCRIPTS)
OLDEST := .venv-oldest/$(SCRIPTS)
INTEGRATIONS := .venv-integrations/$(SCRIPTS)
PYRIGHT := .venv/pyright/node_modules/pyright/index.js

# The mathematics, the laws of sums and what estimators accept: what a mistake breaks first.
CORE := src $(addprefix tests/test_,$(addsuffix .py,theorems moments step_sums machine stepping choice sums content scaling metrics \
	priors_and_costs files entropy degenerate engine divergence_search docs words packaging architecture typing))

.PHONY: help demo check test coverage oldest spark ray integrations fuzz docs dist fix hooks paper clean
.PHONY: lint types imports core pytest  # parts of check and test

help:  ## list these targets
	@grep -E '^[a-z]+:.*##' Makefile | sed 's/:.*## /\t/'

demo: .venv/ready  ## fit, judge, explain and report on a data set that ships with scikit-learn
	$(BIN)/eem demo

check: lint types imports core  ## an answer in under a minute: lint, types, import contract, core tests

# How much of the public API has known types is verified where there is npm, which fetches pyright.
test: lint types $(if $(shell npm --version 2>/dev/null),typing) imports pytest $(if $(wildcard paper/Makefile),papertest)  ## all that must hold: lint, types, import contract, tests with doctests

# `make lint types FILES="…"` looks at these files alone, as the hook before a commit does.
lint: .venv/tested
	$(BIN)/ruff check $(or $(FILES),.)
	$(BIN)/ruff format --check $(or $(FILES),.)

types: .venv/tested
	$(BIN)/mypy $(FILES)

.PHONY: typing
typing: .venv/tested $(PYRIGHT)
	$(BIN)/python tools/verify_types.py $(PYRIGHT)

imports: .venv/tested
	$(BIN)/lint-imports --no-cache

# One BLAS thread in each of the test processes: they share the cores already. SCIPY_ARRAY_API lets
# scikit-learn's array API checks run.
core pytest coverage oldest spark ray integrations fuzz docs: export OPENBLAS_NUM_THREADS := 1
core pytest coverage oldest spark ray integrations docs: export OMP_NUM_THREADS := 1
core pytest coverage oldest spark ray integrations: export SCIPY_ARRAY_API := 1
core pytest coverage oldest spark ray integrations docs: export PYTHONUTF8 := 1

core: .venv/tested
	$(BIN)/python -m pytest -n auto --dist worksteal $(CORE)

# axe-core holds the report's pages against rules of accessibility.
AXE := .venv/axe/node_modules/axe-core/axe.min.js
pytest coverage oldest: export EXTREME_ENTROPY_AXE := $(CURDIR)/$(AXE)

pytest: .venv/tested $(AXE)
	$(BIN)/python -m pytest -n auto --dist worksteal -rs

coverage: .venv/tested $(AXE)  ## the tests, and which lines and branches they reach
	$(BIN)/python -m pytest -n auto --dist worksteal --cov --cov-report=term

oldest: .venv-oldest/tested $(AXE)  ## the tests with exactly the lowest versions that pyproject.toml allows
	$(OLDEST)/python -m pytest -n auto --dist worksteal -rs

spark: .venv/spark  ## the tests on a local Spark with two executors; needs Java 17
	$(BIN)/python -m pytest -rs tests/test_spark.py

ray: .venv/ray  ## the tests on a local Ray
	$(BIN)/python -m pytest -rs tests/test_ray.py

integrations: .venv-integrations/ready  ## other libraries with ours: try them all, write their table, test each row
	$(INTEGRATIONS)/python tools/integrations.py
	$(INTEGRATIONS)/python -m pytest -rs tests/test_integrations.py

# `make fuzz MINUTES=30 SEED=7`
fuzz: .venv/tested  ## random tables, altered files, killed runs: what is promised holds
	$(BIN)/python -m fuzz --minutes $(or $(MINUTES),10) $(if $(SEED),--seed $(SEED))

docs: .venv/docs  ## the documentation site, with all examples run, in docs/_build/html; then its tests
	$(BIN)/python -m sphinx -q -j auto -W --keep-going -b html docs docs/_build/html
	$(BIN)/python -m pytest -n auto --dist worksteal docs/test_site.py

dist: .venv/dist  ## build the wheel and the source archive, and check what is in them
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python tools/check_dist.py dist

fix: .venv/tested  ## let ruff repair and format what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

hooks: .venv/tested  ## check what is committed before each commit (pre-commit)
	$(BIN)/python -m pip install -q pre-commit
	$(BIN)/pre-commit install

paper: .venv/ready  ## the paper, measured anew in a minute; `make -C paper help` lists the rest
	$(MAKE) -C paper PYTHON=$(PYTHON)

.PHONY: papertest
papertest: .venv/tested
	$(MAKE) -C paper test PYTHON=$(PYTHON)

# The library and its command; then what the tests and tools need, the site, and a release.
.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q -e '.[cli]'
	touch $@

.venv/tested: .venv/ready
	$(BIN)/python -m pip install -q -e '.[test,lint]'
	touch $@

.venv/spark: .venv/tested
	$(BIN)/python -m pip install -q -e '.[spark]'
	touch $@

.venv/ray: .venv/tested
	$(BIN)/python -m pip install -q -e '.[ray]'
	touch $@

# Without npm the tests that need it are skipped, or fail where nothing may be skipped.
$(AXE):
	mkdir -p .venv/axe
	npm install --silent --no-audit --no-fund --fetch-timeout=60000 --prefix .venv/axe axe-core@4.14.0 || echo "npm is missing: no axe-core"

$(PYRIGHT):
	mkdir -p .venv/pyright
	npm install --silent --no-audit --no-fund --fetch-timeout=60000 --prefix .venv/pyright pyright@1.1.414

.venv/dist: .venv/ready
	$(BIN)/python -m pip install -q -e '.[dist]'
	touch $@

.venv/docs: .venv/ready
	$(BIN)/python -m pip install -q -e '.[docs]'
	touch $@

.venv-oldest/tested: pyproject.toml tools/lower_bounds.py
	$(PYTHON) -m venv --clear .venv-oldest
	$(OLDEST)/python tools/lower_bounds.py > .venv-oldest/constraints.txt
	$(OLDEST)/python -m pip install -q --constraint .venv-oldest/constraints.txt -e '.[test]'
	touch $@

# Newest versions of all packages that go together.
.venv-integrations/ready: pyproject.toml tests/integrations.py
	$(PYTHON) -m venv --clear .venv-integrations
	$(INTEGRATIONS)/python -m pip install -q -e '.[test]'
	$(INTEGRATIONS)/python -m pip install -q -e '.[test]' $$($(INTEGRATIONS)/python tools/integrations.py --packages)
	touch $@

clean:  ## remove the environments, caches and the built site
	rm -rf .venv .venv-oldest .venv-integrations dist .coverage .mypy_cache .ruff_cache .hypothesis
	rm -rf docs/_build docs/auto_examples docs/api/generated
