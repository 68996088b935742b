# make demo and make test set up all they need the first time and start at once the second.

PYTHON ?= $(firstword $(foreach p,python3.11 python3.12 python3.13 python3.14 python3,$(shell $(p) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $(p))))
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test lint bench docs clean

demo: $(VENV)/.run
	@$(BIN)/rankscope demo

test: $(VENV)/.test
	$(BIN)/python -m pytest $(ARGS)

lint: $(VENV)/.test
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

bench: $(VENV)/.test
	$(BIN)/python -m benchmarks $(ARGS)

docs: $(VENV)/.test
	$(BIN)/python tools/write_metrics_page.py

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "rankscope needs Python 3.11 or newer; none was found (say which: make PYTHON=...)"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"

$(VENV)/.run: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/.test: $(VENV)/.run
	$(BIN)/python -m pip install --quiet --group test
	@$(BIN)/python -m pip install --quiet --only-binary :all: --group frames --group parity || \
	  echo "no ready-made packages of pandas, duckdb, pytrec_eval or scikit-learn here: the tests against them will be skipped"
	@touch $@

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
