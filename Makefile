# Two commands are all one needs: `make run` and `make test`. Each sets up what is missing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run test check bench setup clean
.DEFAULT_GOAL := run

run: setup          ## the window on the first example; without a display the same headless
	@$(BIN)/tapeviz demo

test: setup         ## the whole test suite
	@$(BIN)/python -m pytest -q

check: setup        ## lint, types, import contracts
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

bench: setup        ## every benchmark beside its reference; rewrites the table in docs/performance.md
	@$(BIN)/python tests/benchmarks/bench.py

setup:
	@PYTHON="$(PYTHON)" VENV="$(VENV)" sh .ci/setup

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache out
