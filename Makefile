# Every target makes its own virtual environment first and installs pinned versions into it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
STAMP := $(VENV)/.installed
INSTALL := PIP_CONSTRAINT=$(CURDIR)/constraints.txt $(BIN)/python -m pip install --disable-pip-version-check -q
export PYTHONUNBUFFERED := 1

.DEFAULT_GOAL := help
.PHONY: help train test browser lint bench docs dist notebooks pictures figures results soak clean

help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-9s %s\n", $$1, $$2}'

train: $(STAMP) ## train an agent at Mexican Train (about 5 minutes) and measure it against the baselines
	$(BIN)/dominoenv train quickstart --overwrite

test: $(STAMP) browser ## run the whole test suite
	$(BIN)/python -m pytest -n auto --dist worksteal -q

# The replay page is tested in a headless Chromium; those tests are skipped, and say so, without one.
browser:
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || { \
	  [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && \
	  apt-get install -y -qq chromium chromium-driver >/dev/null; } || \
	  echo "no Chromium here and none could be installed: tests of the replay page may be skipped"

lint: $(STAMP) ## check style, types and the workflows of hosted CI
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/actionlint .github/workflows/ci.yml .github/workflows/publish.yml

soak: $(STAMP) ## damage files of every kind, and compare the engine with the plain reference for MINUTES (10)
	$(BIN)/python -m tests.soak --minutes $(or $(MINUTES),10) --seed $(or $(SEED),0)

bench: $(STAMP) ## measure speed (about 8 minutes) and put the tables into docs/performance.md
	$(INSTALL) -e '.[bench]'
	$(BIN)/python -m experiments.throughput --write docs/performance.md

docs: $(STAMP) ## build the documentation as a site into build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "read it: $(BIN)/python -m http.server -d build/site"

dist: $(STAMP) ## build the wheel and the source distribution into dist
	$(BIN)/python -m build --no-isolation --outdir dist

notebooks: $(STAMP) ## run the notebooks and keep their outputs
	$(BIN)/python -m experiments.notebooks

pictures: $(STAMP) ## draw the pictures of docs/rules.md
	$(BIN)/python -m experiments.pictures

figures: $(STAMP) ## reproduce the reference figures of random play (see docs/rules.md)
	$(BIN)/dominoenv figures

STUDIES := $(basename $(notdir $(wildcard configs/tournament_*.yaml configs/study_*.yaml)))
results: $(STAMP) ## play all ladders and studies again (an hour of one core) and put their reports into docs/results
	set -e; for name in $(filter-out %_quick,$(STUDIES)); do \
		$(BIN)/dominoenv $${name%%_*} $$name --overwrite; \
		mkdir -p docs/results/$$name; cp runs/$$name/report.md runs/$$name/*.png docs/results/$$name; \
	done

clean: ## remove what the other targets made, trained agents aside
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "dominoenv needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) -e '.[train,torchrl,render,notebooks,docs,test,lint]'
	@touch $@
