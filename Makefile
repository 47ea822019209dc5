# Needs make and Python 3.11 or newer; everything else is put into .venv on first use.
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test check bench conformance fuzz wheel clean

BIN := .venv/bin
READY := .venv/.ready
PYTHON ?=
# One that is named is taken or refused, never passed over.
CANDIDATES := $(or $(PYTHON),python3 python3.13 python3.12 python3.11)
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check
HEADLINE := @printf '\n==> %s\n'

help: ## Show this list
	@sed -n 's/^\([a-z]*\):.*## /\1 - /p' Makefile

# An environment of another Python than the one that is named is made anew.
ifneq ($(PYTHON),)
ifneq ($(shell $(PYTHON) -c 'import sys; print(sys.version)' 2>&1),$(shell $(BIN)/python -c 'import sys; print(sys.version)' 2>&1))
$(shell rm -rf .venv)
endif
endif

demo: $(READY) ## See Plait work, from submit to result, in one terminal
	@$(BIN)/python examples/demo.py

check: $(READY) ## Format, lint, floors, types and the fast tests, in under three minutes
	$(HEADLINE) 'Format'
	@$(BIN)/ruff format --check --quiet
	$(HEADLINE) 'Lint'
	@$(BIN)/ruff check --quiet
	$(HEADLINE) 'Floors'
	@$(BIN)/lint-imports --no-cache > .venv/floors.log || { cat .venv/floors.log; exit 1; }
	$(HEADLINE) 'Types'
	@$(BIN)/mypy
	$(HEADLINE) 'Fast tests'
	@$(BIN)/python -m pytest -q -n 2 -m 'not slow'

test: check ## All of check, then the slow tests and those of the built wheel
	$(HEADLINE) 'Slow tests and the wheel'
	@$(BIN)/python -m pytest -q -n 2 --dist loadfile -m slow

bench: $(READY) ## Measure Plait beside its peers and print the tables
	@$(BIN)/python bench/runner.py
	@$(BIN)/python bench/engine.py

conformance: $(READY) ## Run other Starlark engines' suites; CONFORMANCE, STARLARK_MIRROR and STARLARK_JAVA_DATA name them
	$(if $(CONFORMANCE),,$(error name the folder of the harness: make conformance CONFORMANCE=... STARLARK_MIRROR=... STARLARK_JAVA_DATA=...))
	@incomplete=; for suite in go spec java rust probe; do \
	    $(BIN)/python $(CONFORMANCE)/run_suite.py --suite $$suite --adapter tests/conformance/adapter.py $(SUITE_FLAGS) || incomplete="$$incomplete $$suite"; \
	done; printf '\nnot passed in full:%s\n' "$${incomplete:- none}"

fuzz: $(READY) ## Try random Starlark programs for MINUTES, 10 by default, and print what they find, shrunk
	@$(BIN)/python tests/starlark/test_fuzz.py --minutes $(or $(MINUTES),10)

wheel: $(READY) ## Build the wheel into dist/
	@$(PIP) wheel --no-deps --wheel-dir dist .
	@ls dist/*.whl

clean: ## Remove what was built and cached, but not the environment
	@rm -rf build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find src tests bench examples -name __pycache__ -type d -prune -exec rm -rf {} +

# The wheels beside the environment let the test of the built wheel install it again without a network.
$(READY): pyproject.toml constraints.txt
	@set -e; found=; for python in $(CANDIDATES); do \
	    if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' > /dev/null 2>&1; then \
	        found=$$python; \
	        if $$python -c 'import ensurepip, venv' > /dev/null 2>&1; then break; fi; \
	        found="$$python without venv"; \
	    fi; \
	done; \
	case "$$found" in \
	    '') echo 'Plait needs Python 3.11 or newer, and "$(CANDIDATES)" is none: install it, or name one with make PYTHON=/path/to/python' >&2; exit 1;; \
	    *' without venv') echo "$$found: install the venv module of that Python (Debian and Ubuntu: apt-get install python3-venv)" >&2; exit 1;; \
	esac; \
	printf '\n==> Set up .venv with %s (once; takes a minute)\n' "$$($$found --version)"; \
	$(BIN)/python -m pip --version > /dev/null 2>&1 || $$found -m venv --clear .venv
	@$(PIP) install --constraint constraints.txt --editable '.[dev]'
	@rm -rf .venv/wheels
	@$(PIP) wheel --constraint constraints.txt --wheel-dir .venv/wheels '.[all]' 'hatchling>=1.26'
	@rm -f .venv/wheels/plait-*
	@touch $@
