# make demo    set everything up, measure a real llama.cpp server, print where the report is
# make test    set everything up and run the whole suite
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOWEST := build/lowest
# Engine tests mostly wait; three at a time keep two cores busy. PARALLEL= runs them one by one.
PARALLEL ?= -n 3 --dist worksteal
REPORTS_DATE := 2026-11-29

.PHONY: demo test test-fast test-lowest check format docs reports system system-test clean

demo: $(VENV)/.demo system
	$(BIN)/benchspec run specs/quickstart/spec.yaml

test: $(VENV)/.dev system-test
	$(BIN)/python -m pytest $(PARALLEL)

test-fast: $(VENV)/.dev system
	$(BIN)/python -m pytest $(PARALLEL) -m "not slow and not engine"

# The same code on the oldest version of every dependency that pyproject.toml admits.
test-lowest: $(LOWEST)/.installed system
	$(LOWEST)/bin/python -m pytest $(PARALLEL) -m "not slow and not engine"

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Write the generated pages again: commands, spec language, checks, rules, JSON Schema.
docs: $(VENV)/.dev
	$(BIN)/python docs/generate.py

# Write the sample reports again, from the specs and the evidence that are committed: audits exit 1
# where the linter has something to say, and the quickstart's run is judged, not repeated.
reports: $(VENV)/.demo system
	$(BIN)/benchspec audit specs/casebook/*.yaml --date $(REPORTS_DATE) --output reports/casebook > /dev/null || test $$? = 1
	rm -f reports/casebook/*/spec.yaml reports/casebook/*/observations.json
	test ! -e reports/quickstart/journal.jsonl || $(BIN)/benchspec report reports/quickstart
	$(BIN)/benchspec report reports --all

system:
	@bash .ci/system-packages

system-test:
	@bash .ci/system-packages --browser

$(VENV)/.venv:
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.demo: $(VENV)/.venv pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[llama]'
	@# Compiled once, here: a linter that works for milliseconds must not compile itself each time.
	$(BIN)/python -m compileall -q benchspec
	@touch $@

$(VENV)/.dev: $(VENV)/.demo
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[llama,dev]'
	@touch $@

$(LOWEST)/.installed: pyproject.toml
	rm -rf $(LOWEST)
	$(PYTHON) -m venv $(LOWEST)
	$(PYTHON) .ci/lowest-versions > $(LOWEST)/constraints.txt
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check -c $(LOWEST)/constraints.txt -e '.[llama,dev]'
	@touch $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache
