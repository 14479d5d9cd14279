PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DOCS ?= docs
PORT ?= 8700
JOBS ?= 3

.PHONY: setup up test lint bench docs

setup: $(VENV)/ready

$(VENV)/ready: pyproject.toml uv.lock
	@$(PYTHON) -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info[:2] <= (3, 14) else "docmill needs Python 3.11 to 3.14; name one: make setup PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	UV_PYTHON_DOWNLOADS=never $(BIN)/uv sync --quiet --frozen --inexact --all-extras --python $(BIN)/python
	@touch $@

up: setup
	@trap : INT; $(BIN)/docmill up "$(DOCS)" --port "$(PORT)" || [ $$? -eq 4 ] # 4: ended by Ctrl-C

test: setup
	$(BIN)/pytest -n $(JOBS) --dist loadfile

lint: setup
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: setup
	$(BIN)/python -m benchmarks

docs: setup
	$(BIN)/python -m docmill_services.cli.reference docs/reference
