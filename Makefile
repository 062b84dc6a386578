# make demo   score the example stories and print a table
# make test   all tests          make check  tests, format, lint, types
# make first-hour  a newcomer's first hour, in an environment of its own
# make bench  speed, as ratios   make verify every figure we claim to reproduce
# make study  HANNA's whole paper again, from its data in $(DATA)
# make chains  how many files each daily command passes through
# make fuzz   thousands of odd texts, files, run folders and weights
# make migration  the studio's first tables as SQL, while no release holds them
# make web    bundles the editor again, where there is node
# make openapi  freezes the studio's API as it is now
# make columns  HANNA's 72 columns again, beside the published
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Processes that share the tests.
JOBS ?= 2
# One build of torch for all tests; a plain `torch` may bring gigabytes for accelerators.
TORCH ?= 2.13.0
# Public data to verify against, where there is any.
DATA ?= ../shared

# The string metrics that run on the light install; METEOR wants two files and a package more.
DEMO := baselines, bleu, chrf, cider, compression, coverage, density, dialogue, distinct, \
	length, novelty, readability, repetition, rouge(n=1), rouge(n=2), rouge, rovist_nr, self_bleu, sentences, user

# Rounds of every fuzzer in `make fuzz`.
ROUNDS ?= 10000

.PHONY: demo test first-hour fuzz style types check bench chains study columns verify docs migration web clean

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Fabula needs Python 3.11 or later: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.light: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check torch==$(TORCH)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@ $(VENV)/.light

demo: $(VENV)/.light
	$(BIN)/fabula score examples -m "$(DEMO)" -o runs/demo --overwrite
	@$(BIN)/python -c 'from fabula.core.installation import spell_studio, spell_way; print(f"{spell_way()}\n{spell_studio()}")'

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(JOBS) --durations=20 -m "not assets"
	$(BIN)/fabula models pull --all
	$(BIN)/python -m pytest -n $(JOBS) -m assets

# In a fresh environment with nothing but the light package, as a newcomer has it.
first-hour:
	home=$$(mktemp -d) && trap 'rm -rf "$$home"' EXIT && \
	FABULA_HOME=$$home/home VENV=$$home/venv bash examples/first_hour.sh

fuzz: $(VENV)/.dev
	FABULA_FUZZ=$(ROUNDS) $(BIN)/python -m pytest -n $(JOBS) tests/fuzz tests/web/test_odd_requests.py

style: $(VENV)/.dev
	$(BIN)/ruff format --check src tests benchmarks examples
	$(BIN)/ruff check src tests benchmarks examples

types: $(VENV)/.dev
	$(BIN)/mypy

check: style types test

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/strings.py
	$(BIN)/fabula models pull wordnet punkt_tab --quiet
	$(BIN)/python benchmarks/more_strings.py
	$(BIN)/python benchmarks/large_run.py
	$(BIN)/python benchmarks/comparing.py
	$(BIN)/python benchmarks/meta_correlation.py
	$(BIN)/python benchmarks/meta_bootstrap.py
	$(BIN)/python benchmarks/meta_permutation.py
	$(BIN)/fabula models pull minilm --quiet
	$(BIN)/python benchmarks/encoding.py
	$(BIN)/python benchmarks/bertscore.py
	$(BIN)/fabula models pull glove_50d --quiet
	$(BIN)/python benchmarks/rouge_we.py
	$(BIN)/python benchmarks/moverscore.py
	$(BIN)/python benchmarks/baryscore.py
	$(BIN)/python benchmarks/depthscore.py
	$(BIN)/python benchmarks/learned.py
	$(BIN)/python benchmarks/packing.py
	$(BIN)/fabula models pull smollm2 smollm2_stories --quiet
	$(BIN)/python benchmarks/co_author.py
	$(BIN)/fabula models pull ssd_mobilenet mobilenet_v2 --quiet
	$(BIN)/python benchmarks/pictures.py
	$(if $(wildcard $(DATA)),$(BIN)/fabula study run studies/hanna.toml -o runs/hanna-study --data $(DATA))

# Files of ours in which a function runs, command by command; fails where one is over its limit.
chains: $(VENV)/.dev
	$(BIN)/fabula models pull story_encoder preference reader coherence order sequence --quiet
	$(BIN)/python benchmarks/chains.py

study: $(VENV)/.dev
	$(BIN)/fabula study run studies/hanna.toml -o runs/hanna-study --data $(DATA)

# Every column of HANNA again, beside the published; goes on where it was stopped.
columns: $(VENV)/.dev
	$(BIN)/fabula models pull --all --quiet
	$(BIN)/fabula metrics regenerate hanna --path $(DATA)/data/hanna -o runs/columns
	cp runs/columns/columns.md docs/hanna_columns.md

verify: $(VENV)/.dev
	$(BIN)/fabula verify $(if $(wildcard $(DATA)),--data $(DATA))

docs: $(VENV)/.dev
	$(BIN)/fabula metrics docs -o docs/metrics --overwrite
	$(BIN)/fabula data docs -o docs/datasets --overwrite

# Only until a release has gone out; then a change of the tables is a revision of its own.
migration: $(VENV)/.dev
	$(BIN)/python tests/fakes/first_migration.py

# The editor of the studio in one file, which is committed: only who changes it needs node.
web:
	cd frontend && npm ci --ignore-scripts --no-audit --no-fund --silent && npm test --silent && node build.mjs

# What programs of others rely on; tests/web/test_openapi.py says when it has changed.
openapi: $(VENV)/.dev
	$(BIN)/fabula serve --openapi > docs/studio/openapi.json

clean:
	rm -rf $(VENV) runs build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
