"""The names of before the rename from `hotpath`: still read, each with one line that says so.

The table `[tool.hotpath]`, the variable `HOTPATH_CACHE` and the mark of a pull request's comment
are read as if they had the new name; the cache `.hotpath/` is not, because it is only a cache.
"""

import os
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

NEW, OLD = "benchproof", "hotpath"
#: How the comment of an older gate on a pull request begins.
OLD_MARK = "<!-- hotpath gate -->"


@cache
def say(text: str) -> None:
    """Say something on standard error, once in a process."""
    sys.stderr.write(f"{NEW}: {text}\n")


def table_name(tools: Mapping[str, Any]) -> str:
    """The table of a pyproject.toml's `[tool]` that holds the settings."""
    if NEW in tools or OLD not in tools:
        return NEW
    say(f"[tool.{OLD}] is read as [tool.{NEW}]: rename the table in pyproject.toml")
    return OLD


def variable(name: str) -> str | None:
    """A variable of the environment, such as ``BENCHPROOF_CACHE``; None if it is empty."""
    old = name.replace(NEW.upper(), OLD.upper())
    value = os.environ.get(name)
    if not value and (value := os.environ.get(old)):
        say(f"{old} is read as {name}: rename the variable")
    return value or None


def old_cache(root: Path) -> None:
    """Say where a cache of an older version lies in a checkout."""
    if (root / f".{OLD}").is_dir():
        say(f"the cache of an older version is not used any more: remove {root / f'.{OLD}'}")
