"""`[tool.benchproof]` of pyproject.toml: what a project may set about its gate, checked on load.

Everything has a default, so the table may be absent::

    [tool.benchproof]
    alpha = 0.01                # chance of even one false alarm in a gate in which nothing changed
    package = "src/mine"        # folder of the package that is measured, where it is not clear
    sources = ["src", "setup.py"]  # what it is built from; else everything but the benchmarks
    build-variables = []        # variables that its build reads, beside the usual ones: ["TOY_*"]
    suites = "asv_benchmarks"   # folder of the benchmark definitions, if asv's does not name it
    accepted = "accepted.toml"  # regressions that a reviewer has accepted
    builds = 1                  # how often each side is built
    budget = 300                # seconds for wall time; exact meters always finish
    trade_off = "pass"          # or "fail": fewer instructions or less time for more memory
    decide = "all"              # a benchmark that stays undecided fails: exit status 3
    proof = "proved"            # or "witnessed": what less is known of is refused; default: none
    suite_limit = 0.001         # the largest change of a whole suite that counts as none
    test = "pytest -q -x"       # what must pass before a change is kept (benchproof try)

    [tool.benchproof.variants.fast]  # named environments; without any there is one, without a name
    kind = "compiled"              # or "pure": what must run of modules that have both
    build = { TOY_BUILD = "fast" } # variables of its build
    run = { TOY_IMPL = "fast" }    # variables of what is measured
    requires = ["numpy==2.1"]      # packages beside those of the project

    [tool.benchproof.limits]       # the largest change that counts as none, as a part of 1
    instructions = 0.003

    [tool.benchproof.benchmarks."routing_key.*"]   # for some benchmarks; the last match wins
    wall = 0.02

A table that cannot be meant as it stands is an error with its line: an unknown key or meter, a
wrong type, a limit below what the meter can tell on any machine (`noise.LIMITS` says it), a
pattern that matches no benchmark.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from . import renamed, toml, variants
from .errors import SettingsError, told
from .noise import LIMITS, Limit
from .package import are_paths, are_patterns, is_place
from .verdict import ALONE, ALPHA, SUITE_LEAST, SUITE_LIMIT, TradeOff

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from .toml import Where

FILE = "pyproject.toml"
#: What the plain keys hold.
CHECKS: toml.Rules = {
    "alpha": (float, lambda value: 0 < value <= 0.5, "a number above 0, at most 0.5"),
    "package": (str, is_place, "the folder of an importable package, below the project"),
    "sources": (list, are_paths, "a list of files and folders below the project"),
    "build-variables": (list, are_patterns, "a list of names of variables, with * in them or not"),
    "suites": (str, bool, "the name of a folder"),
    "accepted": (str, bool, "the name of a file"),
    "builds": (int, lambda value: 1 <= value <= 16, "a whole number from 1 to 16"),
    "budget": ((int, float), lambda value: 0 < value < math.inf, "a number of seconds above 0"),
    "trade_off": (str, lambda value: value in {"pass", "fail"}, '"pass" or "fail"'),
    "decide": (str, lambda value: value == "all", '"all"'),
    "proof": (str, lambda value: value in {"proved", "witnessed"}, '"proved" or "witnessed"'),
    "test": (str, lambda value: bool(value.strip()), "a command, as a shell reads it"),
    "suite_limit": (
        float,
        lambda value: SUITE_LEAST <= value < 1,
        f"a number from {SUITE_LEAST:g} to below 1 (equal code moves a suite by nearly that much)",
    ),
}
#: And the tables.
TABLES: toml.Rules = dict.fromkeys(
    ("limits", "benchmarks", "variants"), (dict, lambda _: True, "a table")
)


@dataclass(frozen=True)
class Override:
    """Limits of some benchmarks.

    Attributes:
        pattern: a benchmark's name, or a shell pattern of names.
        limits: by meter, the ratio.
        line: of the table, for messages.
    """

    pattern: str
    limits: Mapping[str, float]
    line: int


@dataclass(frozen=True)
class Settings:
    """What is in force; made by `load`, or by nobody: then it is the defaults.

    Attributes:
        alpha: the chance of even one false alarm in a whole gate in which nothing changed: both
            implementations, all cases, all looks at wall time.
        limits: by meter.
        overrides: limits of some benchmarks, in the order of the file.
        package: folder of the package that is measured, relative to the project; "" to look for it.
        sources: what it is built from, relative to the project; empty for the whole tree.
        build_variables: patterns of the variables that its build reads, beside `variables.PASSED`.
        suites: folder of the benchmark definitions, relative to the project.
        accepted: file of accepted regressions, relative to the project.
        builds: how often each side is built.
        budget: seconds for wall time.
        trade_off: whether a gate passes where instructions or time improved, and memory paid.
        decide: "all" where a benchmark that stays undecided fails, else "".
        proof: the least that must be known of the files that a benchmark ran; "" for nothing.
        suite_limit: the largest change of a whole suite that counts as none.
        test: the command of the project's tests, as a shell reads it; "" for none.
        variants: that the project names, in the order of the file.
    """

    alpha: float = ALPHA
    limits: Mapping[str, Limit] = field(default_factory=lambda: MappingProxyType(LIMITS))
    overrides: tuple[Override, ...] = ()
    package: str = ""
    sources: tuple[str, ...] = ()
    build_variables: tuple[str, ...] = ()
    suites: str = "asv_benchmarks"
    accepted: str = "accepted.toml"
    builds: int = 1
    budget: float = 300.0
    trade_off: TradeOff = "pass"
    decide: str = ""
    proof: str = ""
    suite_limit: float = SUITE_LIMIT
    test: str = ""
    variants: tuple[variants.Variant, ...] = ()

    def limit(self, meter: str, benchmark: str) -> Limit:
        """The limit of a meter for a benchmark; of overrides that match, the last one counts."""
        chosen = self.limits[meter]
        for override in self.overrides:
            if meter in override.limits and fnmatchcase(benchmark, override.pattern):
                chosen = replace(chosen, ratio=override.limits[meter])
        return chosen

    def check(self, benchmarks: Collection[str]) -> None:
        """Hold the overrides against the benchmarks that exist.

        Args:
            benchmarks: names of all benchmarks, not only of those that somebody chose to run.

        Raises:
            SettingsError: a pattern matches none of them.
        """
        for override in self.overrides:
            if not any(fnmatchcase(name, override.pattern) for name in benchmarks):
                raise SettingsError(
                    f"{FILE}:{override.line}: {override.pattern!r} matches none of "
                    f"{len(benchmarks)} benchmarks"
                )

    def describe(self) -> dict[str, Any]:
        """What is in force, as a results file keeps it."""
        plain = {key: getattr(self, key.replace("-", "_")) for key in CHECKS if key != "sources"}
        return plain | {
            "build-variables": list(self.build_variables),
            "limits": {meter: limit.ratio for meter, limit in self.limits.items()},
            "benchmarks": {each.pattern: dict(each.limits) for each in self.overrides},
        }


#: What is in force where nobody says otherwise.
DEFAULTS = Settings()
#: Of times in builds whose code lies elsewhere: they confirm what is beyond where it lies.
BEYOND_PLACE = Settings(limits=LIMITS | {"wall": replace(LIMITS["wall"], ratio=ALONE)})


def load(root: Path) -> Settings:
    """Read the table of a project.

    Args:
        root: the folder that holds pyproject.toml; without that file, or without the table in it,
            the defaults are in force.

    Raises:
        SettingsError: the table cannot be meant as it stands; the message begins with the line.
        BenchproofError: the file cannot be read.
    """
    try:
        text = Path(root, FILE).read_text(encoding="utf-8")
    except FileNotFoundError:
        return Settings()
    except UnicodeDecodeError as error:
        raise SettingsError(f"{FILE}: it is not UTF-8") from error
    except OSError as error:
        raise told(error) from error
    return parse(text)


def parse(text: str) -> Settings:
    """The settings in a pyproject.toml.

    Raises:
        SettingsError: as `load`.
    """
    file = toml.File(text, FILE, SettingsError)
    tools = file.data.get("tool", {})
    name = renamed.table_name(tools)
    return _Reader(file, ("tool", name)).settings(tools.get(name, {}))


def described(about: Mapping[str, Any]) -> Settings:
    """The settings that `Settings.describe` described.

    Raises:
        SettingsError: as `load`.
    """
    given = {key: value for key, value in about.items() if value not in ("", [])}
    return _Reader(toml.File("", FILE, SettingsError), ("tool", "benchproof")).settings(given)


@dataclass(frozen=True)
class _Reader:
    """Checks values."""

    file: toml.File
    path: Where

    def settings(self, table: object) -> Settings:
        """The whole table."""
        given = dict(self.file.check(self.path, table, {**CHECKS, **TABLES}))
        limits = self.limits((*self.path, "limits"), given.pop("limits", {}))
        overrides = []
        for pattern, inner in given.pop("benchmarks", {}).items():
            where = (*self.path, "benchmarks", pattern)
            overrides.append(Override(pattern, self.limits(where, inner), self.file.line(where)))
        named = variants.parse(self.file, (*self.path, "variants"), given.pop("variants", {}))
        given["build_variables"] = tuple(given.pop("build-variables", ()))
        given["sources"] = tuple(given.get("sources", ()))
        return Settings(
            **given,
            limits=MappingProxyType(
                {m: replace(limit, ratio=limits.get(m, limit.ratio)) for m, limit in LIMITS.items()}
            ),
            overrides=tuple(overrides),
            variants=named,
        )

    def limits(self, where: Where, table: object) -> dict[str, float]:
        """Limits by meter."""
        found = self.file.table(where, table)
        for meter, ratio in found.items():
            place = (*where, meter)
            if meter not in LIMITS:
                self.file.refuse(place, f"unknown meter {meter!r} (known: {', '.join(LIMITS)})")
            if not isinstance(ratio, int | float) or isinstance(ratio, bool):
                self.file.refuse(place, f"the limit of {meter} must be a number, not {ratio!r}")
            known = LIMITS[meter]
            if not known.least <= ratio < 1:
                self.file.refuse(
                    place,
                    f"the limit of {meter} must be from {known.least:g} to below 1, not {ratio:g}: "
                    f"{known.why_least}",
                )
        return found
