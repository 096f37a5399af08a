# Everything runs in .venv, made here from the standard library; nothing global is touched.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: help demo test lint types imports pytest paper papertest bench defaults clean

help:  ## list these targets
	@grep -E '^[a-z]+:.*##' Makefile | sed 's/:.*## /\t/'

demo: .venv/ready  ## fit, judge, explain and report on a data set that ships with scikit-learn
	$(BIN)/eem demo

test: lint types imports pytest papertest  ## all that must hold: lint, types, import contract, tests with doctests

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/ready
	$(BIN)/mypy

imports: .venv/ready
	$(BIN)/lint-imports --no-cache

# One BLAS thread in each of the test processes: they share the cores already. SCIPY_ARRAY_API lets
# scikit-learn's array API checks run.
pytest: .venv/ready
	SCIPY_ARRAY_API=1 OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto -rs

# The paper's package: its types, its import contract, its tests.
papertest: .venv/paper
	cd paper && ../$(BIN)/mypy
	cd paper && ../$(BIN)/lint-imports --no-cache
	cd paper && OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 ../$(BIN)/python -m pytest -n auto -rs

paper: .venv/paper  ## the paper, measured anew: set it up, and two of its data sets in a minute
	$(BIN)/eem-paper data get heart sonar
	OPENBLAS_NUM_THREADS=1 $(BIN)/eem-paper reproduce uci --dataset heart --dataset sonar --repeats 1

# `make bench FULL=--full` takes the big sets too.
bench: .venv/paper  ## how fast: the limit, growth, latency and baselines, in a few minutes
	$(BIN)/eem-paper bench limit $(FULL)
	$(BIN)/eem-paper bench growth $(FULL)
	$(BIN)/eem-paper bench latency
	$(BIN)/eem-paper bench one-pass $(FULL)
	$(BIN)/eem-paper bench entropy
	$(BIN)/eem-paper bench command
	$(BIN)/eem-paper bench cluster $(FULL)
	$(BIN)/eem-paper bench streaming $(FULL)
	$(BIN)/eem-paper bench calls
	$(BIN)/eem-paper bench speed $(if $(FULL),,--dataset mammography --dataset webpages --limit 60)
	$(BIN)/eem-paper bench speed-page

defaults: .venv/paper  ## the evidence behind the defaults (about an hour; needs EXTREME_ENTROPY_DATA)
	$(BIN)/eem-paper bench defaults

.venv/paper: .venv/ready paper/pyproject.toml
	$(BIN)/python -m pip install -q -e ./paper
	touch $@

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q -e '.[cli,test]'
	touch $@

clean:  ## remove the environment and caches
	rm -rf .venv .mypy_cache .ruff_cache .hypothesis
