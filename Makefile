# Everything runs in .venv, made here from the standard library; nothing global is touched.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: help demo test lint types imports pytest bench defaults clean

help:  ## list these targets
	@grep -E '^[a-z]+:.*##' Makefile | sed 's/:.*## /\t/'

demo: .venv/ready  ## fit, judge, explain and report on a data set that ships with scikit-learn
	$(BIN)/eem demo

test: lint types imports pytest  ## all that must hold: lint, types, import contract, tests with doctests

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

# `make bench FULL=--full` takes the big sets too.
bench: .venv/ready  ## how fast: the limit, growth, latency and rivals, in a few minutes
	$(BIN)/python -m pip install -q -e '.[bench]'
	$(BIN)/python benchmarks/limit.py $(FULL)
	$(BIN)/python benchmarks/growth.py $(FULL)
	$(BIN)/python benchmarks/latency.py
	$(BIN)/python benchmarks/one_pass.py $(FULL)
	$(BIN)/python benchmarks/entropy.py
	$(BIN)/python benchmarks/command.py
	$(BIN)/python benchmarks/cluster.py $(FULL)
	$(BIN)/python benchmarks/streaming.py $(FULL)
	$(BIN)/python benchmarks/rivals.py $(if $(FULL),,--datasets mammography webpages --limit 60)

defaults: .venv/ready  ## the evidence behind the defaults (about an hour; needs EXTREME_ENTROPY_DATA)
	$(BIN)/python -m pip install -q -e '.[bench]'
	$(BIN)/python benchmarks/defaults.py

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q -e '.[cli,test]'
	touch $@

clean:  ## remove the environment and caches
	rm -rf .venv .mypy_cache .ruff_cache .hypothesis
