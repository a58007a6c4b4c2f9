"""The files that `benchproof init` writes, as text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .found import Found

_EXAMPLE = '''"""A first benchmark of {name}: it runs, and measures nothing much yet.

A benchmark is a function `time_*`. `prove()` runs it once, and says which files ran and what came
out: both sides of a comparison must give the same answer, or their numbers mean nothing. The
package is imported in `setup`, so that benchmarks can be listed before anything is built.
"""

import hashlib
import importlib

PACKAGE = None


def setup():
    global PACKAGE
    PACKAGE = importlib.import_module("{name}")


def time_first():
    return PACKAGE.__name__


def prove():
    answer = time_first()
    return {{
        "modules": {{"__init__": PACKAGE.__file__}},
        "digest": hashlib.sha256(repr(answer).encode()).hexdigest(),
    }}


time_first.prove = prove
time_first.version = "1"
'''

#: Gates pull requests.
WORKFLOW = """\
name: benchproof

on: pull_request

permissions:
  contents: read

jobs:
  gate:
    runs-on: ubuntu-24.04
    timeout-minutes: 30
    steps:
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0 # the commit that the branch began from
          persist-credentials: false
      - uses: actions/setup-python@v5
        with:
          python-version: "3.13"
      - name: Install valgrind, which counts instructions
        run: sudo apt-get update -qq && sudo apt-get install --yes -qq valgrind
      - run: python -m pip install benchproof
      - name: benchproof gate
        env:
          BASE: ${{ github.event.pull_request.base.sha }}
          HEAD: ${{ github.event.pull_request.head.sha }}
        run: >-
          benchproof gate "$(git merge-base "$BASE" "$HEAD")" "$HEAD" --meters exact
          --markdown "$GITHUB_STEP_SUMMARY"
"""


def table(found: Found) -> str:
    """The lines for pyproject.toml."""
    return (
        "[tool.benchproof]\n"
        f"package = {json.dumps(found.package)}\n"
        f"suites = {json.dumps(found.suites)}\n"
    )


def example(found: Found) -> str:
    """A first benchmark."""
    return _EXAMPLE.format(name=found.package.rpartition("/")[2])
