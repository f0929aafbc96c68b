# Two commands do everything: `make run` and `make test`. Each sets up what it needs, and nothing twice.

SHELL := /bin/bash
MAKEFLAGS += --no-print-directory
PYTHON_IN := .venv/bin/python
UV_COMPILE := .venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
              --no-header --no-annotate --no-emit-index-url $(if $(UPGRADE),--upgrade)

# A part that is not there yet is not checked.
PYTHON_CODE := $(wildcard scoring webapp benchmarks scripts tests examples)
JS_CODE     := $(wildcard static/*.js tests/js)
JS_TESTS     = $(shell find tests/js -name '*.test.js' 2>/dev/null | sort)

COLOURS := $(if $(CI),--colors=off)

SHARED ?= ../shared

# Browser tests wait a lot, so there is work for more workers than cores. Idle workers take tests from busy ones. A fourth
# worker on two cores took 15 % more processor time: pages that wait draw and ask on.
WORKERS ?= $(shell expr $$(nproc) + 1)

# The programs of the agents, as npm names them, and the Node.js that pi needs. Without `@latest` npm takes the newest
# version that asks for no newer Node.js than the system's, which is an old one.
AGENTS = node@22 \
	$(addsuffix @latest,@anthropic-ai/claude-code @openai/codex @google/gemini-cli @earendil-works/pi-coding-agent opencode-ai)

.PHONY: agents turns help run test test-postgresql setup setup-run lint types js pytest fuzz fuzz-decoders kills reliability audit format bench fleet bench-retention bench-harms lock docs screenshots wheel client clean

help:  ## list the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

run: setup-run  ## set up everything and start the dashboard on http://127.0.0.1:5000 (ARGS="--port 5001" …)
	@exec .venv/bin/coppice serve $(ARGS)

# The types are checked beside the tests: one core would be idle meanwhile.
test: setup lint  ## set up everything and run all checks and tests, browser tests included
	@$(MAKE) --jobs=3 js types pytest

setup-run:
	@PYTHON="$(PYTHON)" scripts/setup.sh run

setup:  ## set up everything that the checks and tests need
	@PYTHON="$(PYTHON)" scripts/setup.sh dev

lint: setup  ## ruff and biome
	$(PYTHON_IN) -m ruff check --quiet $(PYTHON_CODE)
	$(PYTHON_IN) -m ruff format --quiet --check $(PYTHON_CODE)
	$(if $(JS_CODE),node_modules/.bin/biome ci $(COLOURS) --log-level=warn)

types: setup  ## mypy --strict, and tsc over the JavaScript
	$(PYTHON_IN) -m mypy --strict $(PYTHON_CODE)
	$(if $(JS_CODE),node_modules/.bin/tsc)

js: setup  ## the tests of the pure JavaScript
	$(if $(JS_TESTS),node --test --test-reporter=dot $(JS_TESTS))

# Compiled modules are kept, whatever the environment says: workers and the servers they start share them.
pytest fuzz fuzz-decoders: export PYTHONDONTWRITEBYTECODE =

pytest: setup  ## the Python and browser tests (ARGS="-k prune" …; WORKERS=0 runs them one after the other)
	$(PYTHON_IN) -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

test-postgresql: setup  ## the tests over PostgreSQL (`make test` has those of the store and one of the pages)
	$(PYTHON_IN) -m pytest -n $(WORKERS) --dist worksteal --engine postgresql $(or $(ARGS),tests/webapp tests/browser)

fuzz: setup  ## other examples than `make test` tries, five times as many, and broken files to import (DURATION=600 seconds)
	$(PYTHON_IN) -m pytest -n $(WORKERS) --dist worksteal -m hypothesis --hypothesis-profile=other $(ARGS)
	$(PYTHON_IN) -m tests.fuzzing $(or $(DURATION),600)
	$(PYTHON_IN) -m tests.odd_values

fuzz-decoders: setup  ## coverage-guided fuzzing of every decoder (INPUTS=20000)
	.venv/bin/uv pip install --quiet --group fuzz
	$(PYTHON_IN) -m tests.fuzz_decoders $(or $(INPUTS),20000)

agents: setup  ## the real agents from npm, resumed from pruned copies against a strict provider on this machine
	npm install --prefix build/agents --no-fund --no-audit --loglevel=error $(AGENTS)
	cd build/agents/node_modules/@anthropic-ai/claude-code && node install.cjs
	COPPICE_AGENTS=build/agents $(PYTHON_IN) -m pytest tests/reach $(ARGS)

turns: setup  ## long loops through the real SDKs, pruned and not, against a strict provider: refusals and cached share (TURNS=300)
	$(PYTHON_IN) -W ignore -m tests.reach.turns $(or $(TURNS),300)

kills: setup  ## kill a writing process so often (KILLS=1000, ENGINE=postgresql), cut the power of a file a third as often, and check the store
	$(PYTHON_IN) -m tests.kills $(or $(KILLS),1000) $(ENGINE)

reliability: setup  ## write the figures of docs/reliability.md: kills, power cuts, odd values, fuzzing, load, attacks
	.venv/bin/uv pip install --quiet --group fuzz
	PYTHONPATH=. $(PYTHON_IN) scripts/reliability.py $(or $(KILLS),1000) $(or $(INPUTS),20000)

audit: setup  ## look for known faults in what is installed; says what it could not look at
	@said=$$(.venv/bin/uv tool run --quiet pip-audit --disable-pip --require-hashes -r requirements.lock 2>&1); status=$$?; \
	left=$$(grep -c "could not be audited" <<<"$$said"); grep -v "could not be audited" <<<"$$said"; \
	[ "$$left" = 0 ] || echo "make audit: could not look at $$left packages: this registry has no advisories for them"; \
	exit $$status

format: setup  ## rewrite the sources as the checks want them
	$(PYTHON_IN) -m ruff check --quiet --fix-only $(PYTHON_CODE)
	$(PYTHON_IN) -m ruff format --quiet $(PYTHON_CODE)
	$(if $(JS_CODE),node_modules/.bin/biome check --write --log-level=warn)

bench: setup  ## how fast: append, plan, assemble, serve
	$(PYTHON_IN) -m benchmarks $(ARGS)

fleet: setup  ## 1, 2 and 3 workers over one PostgreSQL and one Redis, killed at random: nothing lost or doubled (ARGS="--seconds 60" …)
	$(PYTHON_IN) -m benchmarks.fleet $(ARGS)

bench-retention: setup  ## how much of what is needed later survives a prune
	PYTHONPATH=. $(PYTHON_IN) $(SHARED)/tools/retention_bench.py $(SHARED)/data/retention \
	  --pruner benchmarks.retention:prune --pruner benchmarks.retention:blueprint \
	  $$($(PYTHON_IN) -m benchmarks.peers) $(ARGS)

bench-harms: setup  ## how often a pruned context misleads
	PYTHONPATH=.:$(SHARED)/tools $(PYTHON_IN) $(SHARED)/tools/harms_bench.py $(SHARED)/data/retention \
	  --only benchmarks.retention:prune --only benchmarks.retention:blueprint --only recency --only oracle \
	  $$($(PYTHON_IN) -m benchmarks.peers --only) $(ARGS)

lock: setup  ## write the lock files (UPGRADE=1 takes newer versions)
	$(UV_COMPILE) pyproject.toml --group dev -o requirements-dev.lock
	$(UV_COMPILE) pyproject.toml -c requirements-dev.lock -o requirements.lock
	$(UV_COMPILE) --group build -c requirements-dev.lock -o requirements-build.lock
	npm install --package-lock-only --loglevel=error

docs: setup  ## write the generated pages again: each script writes its own
	for script in scripts/conformance.py $(wildcard scripts/document_*.py); do $(PYTHON_IN) $$script || exit 1; done

screenshots: setup  ## take the pictures in the documentation again
	$(PYTHON_IN) scripts/screenshots.py

wheel: setup  ## build the wheel, browser libraries included, into dist/
	$(PYTHON_IN) -m pip wheel -qq --no-deps --no-build-isolation --no-index --wheel-dir dist .

client: setup  ## build the wheel of the client alone into dist/
	$(PYTHON_IN) -m pip wheel -qq --no-deps --no-build-isolation --no-index --wheel-dir dist packages/coppice-client

clean:  ## remove everything that set-up and tools made
	rm -rf .venv node_modules static/vendor build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis test-results
