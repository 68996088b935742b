# make demo and make test set up all they need the first time and start at once the second.

PYTHON ?= $(firstword $(foreach p,python3.11 python3.12 python3.13 python3.14 python3,$(shell $(p) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $(p))))
# Python reads the path of an editable install as ASCII in the C locale, and the folder may be called otherwise
ifneq (,$(filter C POSIX,$(LC_ALL)))
export LC_ALL := C.UTF-8
endif
VENV ?= .venv
BIN := $(VENV)/bin

# Tools that some tests compare with: what cannot be had here is left out, and its tests are skipped. Some have no wheel.
PEERS := -m pip install -qqq --only-binary :all: --no-binary antlr4-python3-runtime,cwl-eval,obp
# RecTools and RePlay need an older numpy, and so, with LensKit, an environment of their own and a Python that it was built for
RECOMMENDERS := .venv-recommenders
OLDER = $(firstword $(shell for p in python3.11 python3.12; do command -v $$p; done) $(PYTHON))
# the large ones are fetched where their tests must run
LARGE := $(VENV)/.large $(RECOMMENDERS)/.test
# what drives a browser is fetched where one is here, or must be
BROWSER := $(or $(RANKSCOPE_CHROMIUM),$(shell command -v chromium || command -v chromium-browser || command -v google-chrome))
group = $(shell $(BIN)/python -c 'import tomllib; print(*map(repr, tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]["$(1)"]))')
# a group as a whole or, where that fails, its members one by one
fetch = $(BIN)/python $(PEERS) --group $(1) 2>/dev/null || for peer in $(call group,$(1)); do \
	  $(BIN)/python $(PEERS) $$peer 2>/dev/null || echo "no ready-made package of $$peer here: the tests against it will be skipped"; \
	done

.PHONY: demo test lint bench fuzz calibrate pythons mutants peers docs clean

demo: $(VENV)/.run
	@$(BIN)/rankscope demo --report demo-report.html

# what needs no other tool, browser or Java, on samples; a RANKSCOPE_REQUIRE_ switch: slow tests and other tools (.ci/run sets all); RANKSCOPE_ALL=1: every case
test: $(VENV)/.test $(if $(filter 1,$(RANKSCOPE_REQUIRE_PARITY)),$(LARGE)) $(if $(filter 1,$(RANKSCOPE_ALL)),$(VENV)/.parity) $(if $(BROWSER)$(filter 1,$(RANKSCOPE_REQUIRE_BROWSER)),$(VENV)/.browser) $(if $(filter 1,$(RANKSCOPE_REQUIRE_SPARK)),$(VENV)/.spark)
	$(BIN)/python -m pytest -n auto --dist loadfile $(ARGS)

lint: $(VENV)/.test
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

bench: $(VENV)/.parity
	$(BIN)/python -m benchmarks $(ARGS)

# broken files of every format against a plain reference; goes on where it was stopped
fuzz: $(VENV)/.test
	@$(BIN)/python -m fuzzing --seconds $(or $(SECONDS),60) --seed $(or $(SEED),1) $(ARGS)

# what outputs claim, measured in worlds whose truth is known; goes on where it was stopped
calibrate: $(VENV)/.test
	$(BIN)/python tools/claims.py --seconds $(or $(SECONDS),3600) $(ARGS)

# a part of the tests on every Python that is here, and on the oldest packages that are promised
pythons: $(VENV)/.test
	$(BIN)/python tools/try_pythons.py $(ARGS)

# changes the package in one place at a time and sees whether a test notices; goes on where it was stopped (SECONDS=600 for ten minutes)
mutants: $(VENV)/.parity
	$(BIN)/python -m pip install --quiet --group mutants
	RANKSCOPE_ALL=1 $(BIN)/python tools/mutants.py --seconds $(or $(SECONDS),3600) $(ARGS)

# all tools that are timed, some of them large; bench leaves out those that are not here
peers: $(LARGE)
	@$(RECOMMENDERS)/bin/python -m pip install -qqq $(call group,bench) 2>/dev/null || echo "no pyspark here: RePlay on Spark is left out"

docs: $(VENV)/.test $(LARGE)
	$(BIN)/python tools/write_metrics_page.py
	$(BIN)/python tools/write_conformance_page.py
	$(BIN)/python tools/write_advise_page.py
	$(BIN)/python tools/write_rules_page.py
	$(BIN)/python -m benchmarks.pages

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "rankscope needs Python 3.11 or newer; none was found (say which: make PYTHON=...)"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"

$(VENV)/.run: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[report]"
	@touch $@

$(VENV)/.test: $(VENV)/.run
	$(BIN)/python -m pip install --quiet --group test
	@$(call fetch,frames)
	@$(call fetch,postgres)
	@touch $@

$(VENV)/.parity: $(VENV)/.test
	@$(call fetch,parity)
	@touch $@

$(VENV)/.large: $(VENV)/.parity
	@$(BIN)/python $(PEERS) $(filter 'torch==%,$(call group,parity-large)) 2>/dev/null || echo "no ready-made package of torch here"
	@$(call fetch,parity-large)
	@$(BIN)/python $(PEERS) --group clax 2>/dev/null || echo "clax-models cannot be had here: the tests against it will be skipped"
	@$(BIN)/python $(PEERS) --no-deps --ignore-requires-python --group obp 2>/dev/null || echo "obp cannot be had here: the tests against it will be skipped"
	@touch $@

$(VENV)/.browser: $(VENV)/.test
	@$(BIN)/python $(PEERS) --group browser && touch $@ || echo "playwright cannot be had here: tests in a browser need it"

# pyspark comes as source without anything to compile
$(VENV)/.spark: $(VENV)/.test
	@$(BIN)/python -m pip install -qqq --group spark && touch $@ || echo "pyspark cannot be had here: tests on Spark need it"

$(RECOMMENDERS)/.test: pyproject.toml
	@mkdir -p $(RECOMMENDERS)
	@{ $(OLDER) -m venv $(RECOMMENDERS) && $(RECOMMENDERS)/bin/python -m pip install -qqq --upgrade "pip>=25.1" && \
	  $(RECOMMENDERS)/bin/python $(PEERS) --group recommenders; } >/dev/null 2>&1 || \
	  echo "no ready-made packages of rectools or replay-rec here: the tests against them will be skipped"
	@{ $(foreach peer,$(call group,lenskit),$(RECOMMENDERS)/bin/python $(PEERS) $(peer) &&) true; } 2>/dev/null || \
	  echo "no ready-made package of lenskit here: the tests against it will be skipped"
	@touch $@

clean:
	rm -rf $(VENV) $(RECOMMENDERS) .venv-pythons .mutants .fuzz .pytest_cache .mypy_cache .ruff_cache .hypothesis
