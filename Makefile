# `make` lists the targets. Arguments are passed along: make test ARGS="-k withdraw"
# What the tools need is installed once, into .venv; everything but `setup` then works without a network.

PYTHON ?= python3
export ARGS ?=
ENGINE ?=
VENV := .venv
PYTHONS ?= $(foreach minor,12 13 14 15,$(firstword $(wildcard $(HOME)/.pyenv/versions/3.$(minor).*/bin/python3) python3.$(minor)))
PY := $(VENV)/bin/python

# The stamp names the directory and what pyproject.toml says: another checkout, or a copy, sets up anew; a touched file does not.
STAMP := $(VENV)/ready-$(shell { pwd -P; cat pyproject.toml; } | cksum | tr -c '0-9\n' '-')

.DEFAULT_GOAL := help
.PHONY: help setup test check lint format demo bench day chaos pythons fuzz soak mutants clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP)  ## make .venv with all that is needed; PYTHON=python3.12 chooses another Python

$(STAMP):
	@command -v $(PYTHON) >/dev/null || { \
	    echo "make setup: there is no $(PYTHON); install Python 3.11 or newer, or name it: make setup PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "make setup: $(PYTHON) is $$($(PYTHON) -V 2>&1), and 3.11 or newer is needed; name one: make setup PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	    echo "make setup: $(PYTHON) cannot make virtual environments; install its venv module (apt-get install python3-venv)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@rm -f $(VENV)/ready-*
	$(PY) -m pip install --quiet --disable-pip-version-check --retries 2 --editable '.[dev]' || { \
	    echo "make setup: pip could not install what is needed (its words are above). It needs a Python package index once;" \
	         "without a network, put the wheels in a directory: PIP_NO_INDEX=1 PIP_FIND_LINKS=DIRECTORY make setup" >&2; exit 1; }
	@touch $@

# Two halves side by side, since tests with an engine mostly wait for it. In the other half, the tests alone cover the core; what
# draws much, and the properties, run after them, unmeasured, in a third of the time. Coverage is judged only when all tests ran; what
# was skipped is said last.
test: lint  ## lint, then all tests with the coverage of the core; ARGS go to pytest
	@rm -f $(VENV)/tests.xml $(VENV)/unmeasured.xml $(VENV)/properties.xml $(VENV)/engine.xml; failed=0; \
	if [ -n "$$ARGS" ]; then \
	    $(PY) -m pytest --junit-xml=$(VENV)/tests.xml $(ARGS) || failed=$$?; \
	    echo "Coverage is not judged, since ARGS chose among the tests."; \
	    $(PY) tests/skipped.py $(VENV)/tests.xml || failed=$$?; \
	else \
	    $(PY) -m pytest -m engine --junit-xml=$(VENV)/engine.xml >$(VENV)/engine.log 2>&1 & engine=$$!; \
	    trap "kill $$engine 2>/dev/null" EXIT; \
	    $(PY) -m coverage run -m pytest tests -m 'not engine and not unmeasured' --junit-xml=$(VENV)/tests.xml || failed=$$?; \
	    $(PY) -m pytest tests -m 'unmeasured and not engine' --junit-xml=$(VENV)/unmeasured.xml || failed=$$?; \
	    $(PY) -m pytest properties -m 'not engine' --junit-xml=$(VENV)/properties.xml || failed=$$?; \
	    wait $$engine || failed=$$?; \
	    echo; echo "The tests with an engine, which ran beside these:"; cat $(VENV)/engine.log; \
	    $(PY) -m coverage report || failed=$$?; \
	    $(PY) tests/skipped.py $(VENV)/tests.xml $(VENV)/unmeasured.xml $(VENV)/properties.xml $(VENV)/engine.xml || failed=$$?; \
	fi; \
	exit $$failed

check: $(STAMP)  ## every state of the small worlds (minutes); ARGS name some of them: make check ARGS=bare
	$(PY) -m properties.exhaustive $(ARGS)

lint: $(STAMP)  ## ruff and mypy
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

format: $(STAMP)  ## put the layout right, and what ruff can correct by itself
	$(PY) -m ruff check --fix --exit-zero --quiet .
	$(PY) -m ruff format .

demo: $(STAMP)  ## a crash loop in fast time without any engine; ENGINE=docker: with a real container
	ENGINE='$(ENGINE)' $(PY) -m gordon_shell.demo $(ARGS)

bench: $(STAMP)  ## the benchmarks, as ratios; ARGS go to benchmarks/run.py
	$(PY) benchmarks/run.py $(ARGS)

day: $(STAMP)  ## a day of 200 services in fast time, with every fault of the simulated world (minutes); ARGS="--seed 2"
	$(PY) -m properties.day $(ARGS)

chaos: $(STAMP)  ## MINUTES=60 of chaos on a real engine of its own and a real HAProxy; needs root; ARGS="--seed 2"
	$(PY) -m tests.chaos --minutes $(or $(MINUTES),60) $(ARGS)

pythons:  ## the tests without an engine on other Pythons, each in a venv of its own; PYTHONS="python3.12 PATH/python3.13" names them
	@failed=0; for each in $(PYTHONS); do \
	    "$$each" -c 'import sys' 2>/dev/null || { echo "make pythons: $$each is not there, and was not tried"; continue; }; \
	    venv=$(VENV)/$$("$$each" -c 'import platform; print("python" + platform.python_version())'); \
	    echo "make pythons: $$each in $$venv"; \
	    "$$each" -m venv $$venv && $$venv/bin/pip install --quiet --disable-pip-version-check --editable '.[dev]' \
	        && $$venv/bin/python -m pytest -q -m 'not engine' -p no:cacheprovider $(ARGS) || failed=1; \
	done; exit $$failed

fuzz: $(STAMP)  ## fuzz the readers of documents, guided by coverage, for five minutes; ARGS go to libFuzzer
	@$(PY) -c 'import atheris' 2>/dev/null || $(PY) -m pip install --quiet --disable-pip-version-check atheris || { \
	    echo "make fuzz: atheris could not be installed for $$($(PY) -V); make setup with a Python that it has a wheel for" >&2; exit 1; }
	$(PY) -m properties.fuzz_atheris $(ARGS)

soak: $(STAMP)  ## the properties for hours; SEEDS and SEEDS_FROM say which worlds, ARGS go to pytest
	HYPOTHESIS_PROFILE=nightly $(PY) -m pytest properties --timeout=0 $(ARGS)

# Up to half an hour on two cores. The tool is installed when it is first wanted; what it found before is used again where nothing changed.
mutants: $(STAMP)  ## break the core, by hand and with mutmut: every broken one must be found, or be explained in docs/mutants.md
	$(PY) -m properties.mutants
	@$(PY) -c 'import mutmut' 2>/dev/null || $(PY) -m pip install --quiet --disable-pip-version-check --editable '.[mutants]'
	$(PY) -m mutmut run $(ARGS)
	$(PY) -m properties.survivors

clean:  ## remove .venv and what the tools left behind
	rm -rf $(VENV) mutants .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage .coverage.* build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
