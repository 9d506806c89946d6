# Everything runs from .venv, made from the lock files. `make` alone lists the targets.

PYTHON ?=
python := .venv/bin/python
selftests := $(python) -m pytest selftests
workers := -n auto --maxprocesses=4 --dist=worksteal

# Compiled files are kept: without them every process would compile, and rewrite, the whole suite anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help rehearse check lint types test external thorough machines bench docs lock clean stale

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

rehearse: .venv/.stamp ## decide every built gate against the embedded lab, drills included, and write a report
	@.ci/step 'rehearsal on the embedded lab' .ci/rehearse

check: lint types test ## linters, types and the suite's own tests

lint: .venv/.stamp ## ruff: rules and format
	@.ci/step 'ruff: rules' $(python) -m ruff check .
	@.ci/step 'ruff: format' $(python) -m ruff format --check .

types: .venv/.stamp ## mypy, strict
	@.ci/step 'mypy: strict' $(python) -m mypy

test: .venv/.stamp ## the suite's own tests that need nothing but Python
	@.ci/step 'selftests' $(selftests) $(workers) -m 'not external and not thorough' $(if $(JUNIT),--junitxml='$(JUNIT)')

thorough: .venv/.stamp ## the long selftests: every drill scenario, a runner killed at every step
	@.ci/step 'thorough selftests' $(selftests) $(workers) -m 'thorough and not external' $(if $(JUNIT),--junitxml='$(JUNIT)')

external: .venv/.stamp ## the selftests that need Chromium or OpenSSH
	@.ci/step 'external selftests' $(selftests) -m external $(if $(JUNIT),--junitxml='$(JUNIT)')

machines: .venv/.stamp ## as root on Linux: build the machines lab, run what it covers, stop it
	@.ci/step 'machines lab' .ci/machines

bench: .venv/.bench ## round trips, milliseconds and memory on 6, 24 and 100 nodes, beside testinfra's backends and ansible
	@.ci/step 'benchmark' $(python) -m bench

docs: .venv/.stamp ## write docs/gates.md, docs/limits.md and docs/coverage.md from the code
	@.ci/step 'docs/gates.md' $(python) docs/gate_list.py
	@.ci/step 'docs/limits.md' $(python) docs/limit_list.py
	@.ci/step 'docs/coverage.md' $(python) -m docs.coverage

lock: ## write the lock files anew from pyproject.toml (UPGRADE=1 moves versions)
	@.ci/step 'lock files' .ci/lock "$$(.ci/find-python '$(PYTHON)')"

clean: ## remove .venv and caches; reports/ is never touched
	@.ci/step 'clean' rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis *.egg-info

.venv/.stamp: requirements-build.lock requirements.lock pyproject.toml .ci/venv
	@.ci/step 'virtual environment from the lock files' .ci/venv '$(PYTHON)'

# What only the benchmark needs goes on top, when it is asked for.
.venv/.bench: requirements-bench.lock .venv/.stamp
	@.ci/step 'what the benchmark compares with' $(python) -m pip --disable-pip-version-check install --quiet --no-input \
		--no-compile --require-hashes --no-build-isolation --requirement requirements-bench.lock
	@touch $@

# A virtual environment knows its own path: one that came along with a copied checkout is made again. So is one made
# with another Python than the one named now.
ifneq ($(shell sed -n 1p .venv/.stamp 2>/dev/null),$(CURDIR))
.venv/.stamp: stale
else ifneq ($(PYTHON),)
ifneq ($(shell sed -n 2p .venv/.stamp),$(PYTHON))
.venv/.stamp: stale
endif
endif
stale:
