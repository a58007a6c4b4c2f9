# Two commands do everything: `make bench` and `make test`. The rest are their parts.
#
# make bench   set up, measure this commit, write reports/html/index.html
# make test    set up, lint, build the documentation, test both implementations
# make check   the part of it for every few minutes: no JDK, no browser, no valgrind
# make nightly everything on both implementations, with ten times as many generated examples
# make gate    does HEAD regress against the commit at which this last passed? exact meters only
# make lint    ruff, mypy, cython-lint, actionlint, zizmor, the number of lines of code, stale figures
# make audit   known vulnerabilities of the pinned packages, as PyPI tells them
# make build   compile the modules in place again
# make integration   the tests against a real Cassandra, one node and three; fails without a JDK
# make docs    the documentation as a site: docs/_build/html/index.html
# make asv     the same benchmarks by asv: one quick run of HEAD, then its site
# make clean   forget environments, builds and caches

PYTHON ?= python3
VENV   ?= .venv
# Parts of the tests that run at a time.
JOBS   ?= 2
BIN    := $(VENV)/bin
# Installs as pip does, several times as fast.
UV     := 0.13.9
# Bytecode is made here and in `bytecode`: processes that measure write none, so that each of them would
# compile all that it imports again.
INSTALL = $(BIN)/uv pip install --python $(BIN)/python --compile-bytecode
# Asks PyPI; run apart from the environment that it looks at.
AUDIT  := 2.10.1
PYTEST  = $(BIN)/python -m pytest

.PHONY: help python setup tools-bench tools-test bytecode build bench check test nightly gate lint audit integration docs docs-check asv clean
.DEFAULT_GOAL := help

help:
	@sed -n '/^# make/s/^# //p' Makefile

python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "benchproof needs Python 3.11 or newer, and $(PYTHON) is " + sys.version.split()[0] + ": try make PYTHON=python3.12")'

# Environments are made once for each state of the files that describe them: `make bench` installs
# what measures, everything else what develops too. The driver is not compiled here: `make build` does.
$(BIN)/.bench: pyproject.toml setup.py harness/pyproject.toml | python
	@echo "benchproof: setting up $(VENV) to measure (once, about half a minute)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV)
	@$(INSTALL) --group bench --group tool --editable './harness[all]'
	@touch $@

$(BIN)/.ready: $(BIN)/.bench
	@echo "benchproof: setting up $(VENV) to develop (once, about half a minute)"
	@DRIVER_BUILD=python $(INSTALL) --group dev --editable . --editable './harness[all]'
	@touch $@

setup: $(BIN)/.ready

# What pip cannot install is installed where that needs no question; else the line to type is shown.
tools-bench:
	@sh scripts/system-tools valgrind

# gssapi is built here, against the headers of the system's library.
tools-test: setup
	@sh scripts/system-tools valgrind chromium \
		krb5kdc:krb5-kdc kadmin.local:krb5-admin-server krb5-config:libkrb5-dev
	@if command -v krb5-config >/dev/null 2>&1; then \
		$(INSTALL) --quiet --group kerberos; fi

bytecode: $(BIN)/.bench
	@$(BIN)/python -m compileall -q driver asv_benchmarks harness/benchproof

build: setup bytecode
	@$(BIN)/python setup.py --quiet build_ext --inplace

bench: $(BIN)/.bench bytecode tools-bench
	@$(BIN)/benchproof run

# GATE adds options: make gate GATE=--record
gate: $(BIN)/.bench tools-bench
	@$(BIN)/benchproof gate --meters exact --json reports/latest/gate.json \
		--markdown reports/latest/gate.md --junit reports/latest/gate.xml $(GATE)

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PATH="$(CURDIR)/$(BIN):$$PATH" cython-lint driver/_cython
	@sh scripts/actionlint $(BIN) .github/workflows/*.yml
	$(BIN)/zizmor --offline --no-progress --quiet .github/workflows
	@$(BIN)/python scripts/code-lines --totals
	@DRIVER_IMPL=python $(PYTEST) -q -p no:cacheprovider -m "not slow" tests/docs/test_figures.py

audit: setup
	$(BIN)/uv pip freeze --quiet --python $(BIN)/python --exclude-editable | \
		$(BIN)/uv tool run pip-audit==$(AUDIT) --no-deps --disable-pip --requirement /dev/stdin

# Their parts, which include set-up, are in scripts/parts/table.py. MORE=gate adds the gate.
check test nightly: python
	@$(PYTHON) scripts/in-parts $@ $(MORE) --jobs $(JOBS) --python $(BIN)/python

# The same tests are part of `make test`, which skips them, with the reason, where there is no JDK.
integration: setup build
	INTEGRATION=required DRIVER_IMPL=auto $(PYTEST) tests/integration
	INTEGRATION=required DRIVER_IMPL=python $(PYTEST) tests/integration

docs: setup
	@$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "benchproof: docs/_build/html/index.html"

# What could be wrong with them: the same without the pages of source code.
docs-check: setup
	@$(BIN)/python -m sphinx -W --keep-going -q -t check -b html docs docs/_build/check

# Without a machine file asv asks questions, or refuses where there is no terminal.
asv: setup
	@$(BIN)/python -m asv machine --yes
	@$(BIN)/python -m asv run --quick 'HEAD^!'
	@$(BIN)/python -m asv publish

clean:
	rm -rf $(VENV) build .benchproof .asv .mypy_cache .ruff_cache .pytest_cache .hypothesis *.egg-info harness/*.egg-info harness/build
	find driver -name '*.so' -delete
	rm -f driver/_cython/built.json
