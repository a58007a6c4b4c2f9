"""A history small enough to read: three suites, both implementations, known steps."""

import hashlib

import numpy as np

from benchproof.changes.sizes import Change
from benchproof.history.model import Commit, History, LeftOut, Series, SeriesKey

START, APART = 1_700_000_000_000, 7_200_000
#: Subjects that a page could take for markup, if it did not escape them.
HOSTILE = 'Compare a < b && "c" </script><img src=x onerror=alert(1)>'
BENCHMARKS = ("bind.time_one_row", "decode_rows.time_many_rows", "decode_rows.time_one_row")
METERS = {"wall": ("seconds", 2e-6), "instructions": ("instructions", 20_000.0)}
MACHINE = "box"
#: By benchmark, the place at which its instructions step, and by how much.
STEPS = {"bind.time_one_row": (20, 1.10), "decode_rows.time_one_row": (30, 0.80)}


def make_commits(many):
    return [
        Commit(
            hashlib.sha1(str(at).encode(), usedforsecurity=False).hexdigest(),
            START + at * APART,
            HOSTILE if at == 7 else f"Commit {at}",
            claims=("799-1",) if at == 30 else (),
        )
        for at in range(many)
    ]


def make_history(many=40, every=1):
    """A history of so many commits, of which one in ``every`` was measured."""
    index = np.arange(0, many, every)
    random = np.random.default_rng(1)
    series = {}
    for benchmark in BENCHMARKS:
        for meter, (unit, base) in METERS.items():
            for impl, share in (("cython", 0.5), ("python", 1.0)):
                value = np.full(len(index), base * share)
                at, ratio = STEPS.get(benchmark, (many, 1.0))
                value[index >= at] *= ratio
                width = 0.0
                if meter == "wall":
                    value, width = value * np.exp(random.normal(0, 0.01, 20_000)[index]), 0.02
                key = SeriesKey(benchmark, meter, impl, MACHINE)
                low, high = value * (1 - width), value * (1 + width)
                series[key] = Series(key, unit, index, value, low, high)
    return History(
        make_commits(many),
        dict(sorted(series.items())),
        left_out=[LeftOut(f"{MACHINE}/cut-off.json", "it ends in the middle")],
        machines={MACHINE: {"arch": "x86_64", "cpu": "a processor", "ram": "8 GB"}},
        platforms=[{"python": "3.11.9", "kernel": "6.1"}],
    )


def make_changes(history):
    """The steps that the history has, in instructions."""
    return [
        Change(
            SeriesKey(benchmark, "instructions", impl, MACHINE), at - 1, at, at, ratio,
            ratio * 0.999, ratio * 1.001, 1e-9,
        )
        for benchmark, (at, ratio) in STEPS.items()
        for impl in ("cython", "python")
        if at < len(history.commits)
    ]  # fmt: skip
