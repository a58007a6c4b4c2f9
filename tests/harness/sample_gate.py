"""A gate's document, made up: every state that its table, Markdown, XML and schema must show."""

import copy
import random

from benchproof import families
from tests.harness.sample_comparison import SUITES

IMPLS = ("cython", "python")
METERS = {"wall": "s", "instructions": "instructions", "allocations": "allocations", "bytes": "B"}
LIMITS = {"wall": 0.01, "instructions": 0.003, "allocations": 0.0005, "bytes": 0.01}
BASE, HEAD = "3f2a9c01" * 5, "77b01de4" * 5
PROFILE = [
    {"function": "driver._cython.wire.rows.parse_rows", "file": "driver/_cython/wire/rows.so",
     "unit": "instructions", "left": 4120.0, "right": 5230.0, "change": 1110.0, "share": 0.71},
    {"function": "_PyEval_EvalFrameDefault", "file": "libpython3.11.so", "unit": "instructions",
     "left": 1800.0, "right": 2220.0, "change": 420.0, "share": 0.27},
    {"function": "bytes_concat", "file": "libpython3.11.so", "unit": "instructions",
     "left": 432.0, "right": 0.0, "change": -432.0, "share": 1.0},
    {"function": "ProtocolHandler.encode_message", "file": "driver/wire/codec.py",
     "unit": "bytecodes", "left": 141.0, "right": 163.0, "change": 22.0, "share": 0.9},
    {"function": "struct.pack", "file": "called by ProtocolHandler.encode_message, "
     "driver/wire/codec.py", "unit": "calls", "left": 0.0, "right": 3.0, "change": 3.0,
     "share": 1.0},
]  # fmt: skip
RATES = {
    "false_alarm": {"k": 1, "n": 220, "rate": 0.0045, "low": 0.0001, "high": 0.025,
                    "from": "200 resampled gates and 20 real ones"},
    "detection": {
        "instructions": {
            "0.005": {"k": 98, "n": 100, "rate": 0.98, "low": 0.93, "high": 0.998},
            "0.01": {"k": 100, "n": 100, "rate": 1.0, "low": 0.964, "high": 1.0},
        },
        "wall": {
            "0.02": {"k": 74, "n": 100, "rate": 0.74, "low": 0.643, "high": 0.823},
            "0.05": {"k": 99, "n": 100, "rate": 0.99, "low": 0.946, "high": 0.9997},
        },
    },
    "conditions": {"machines": [{"cpu": "AMD EPYC 9R14", "kernel": "Linux 6.12.1 x86_64"}],
                   "from": "2026-02-20", "to": "2026-02-27", "policies": ["12ab"],
                   "other_rules": []},
}  # fmt: skip


def _exact(meter, left, ratio, verdict, spread=0.0):
    right = round(left * ratio, 2)
    ratio = right / left
    sides = {"left_samples": [left] * 3, "right_samples": [right] * 3} if spread else {}
    return {
        "left": left, "right": right, "ratio": ratio, "low": ratio - spread,
        "high": ratio + spread, "confidence": 0.75 if spread else None, "verdict": verdict,
        "limit": LIMITS[meter], "detectable": 1 + LIMITS[meter],
    } | sides  # fmt: skip


def _wall(left, ratio, width, verdict, rng):
    samples = [left * abs(rng.gauss(1, 0.01)) for _ in range(12)]
    return {
        "left": left, "right": left * ratio, "ratio": ratio, "low": ratio / (1 + width),
        "high": ratio * (1 + width), "confidence": 0.99, "verdict": verdict, "limit": 0.01,
        "detectable": 1.01 + 1.4 * width, "p_holm": 0.5 if verdict == "undecided" else 0.0004,
        "left_samples": samples, "right_samples": [each * ratio for each in samples],
    }  # fmt: skip


def case(impl, suite, name, ratio=1.0, rng=None):
    """A measured case whose instructions changed by a ratio."""
    rng = rng or random.Random(f"{impl} {suite} {name}")
    limit = LIMITS["instructions"]
    verdict = ("regressed" if ratio > 1 + limit else "improved" if ratio < 1 - limit
               else "equivalent")  # fmt: skip
    seconds = 10 ** rng.uniform(-6.6, -3.2)
    side = {"modules": {"wire.codec": "driver/wire/codec.py"}, "probe": {"rows": 100},
            "digest": "9f86d081884c7d65"}  # fmt: skip
    return {
        "name": f"{suite}.time_{name}", "suite": suite, "case": name, "version": "1",
        "part_of": "", "impl": impl, "status": "measured", "why": "",
        "proof": {"left": side, "right": dict(side)},
        "loops": {"wall": 100, "instructions": {"warm": 64, "few": 32, "many": 64},
                  "allocations": {"warm": 64, "few": 32, "many": 64}},
        "meters": {
            "wall": _wall(seconds, ratio * rng.gauss(1, 0.004), rng.choice([0.008, 0.03]),
                          "undecided" if verdict == "equivalent" else verdict, rng),
            "instructions": _exact("instructions", round(seconds * 9e9), ratio, verdict, 0.0004),
            "allocations": _exact("allocations", rng.randrange(1, 40), 1.0, "equivalent"),
            "bytes": _exact("bytes", rng.randrange(80, 90_000), 1.0, "equivalent"),
        },
        "verdict": verdict, "note": "", "accepted": None,
        "profile": copy.deepcopy(PROFILE) if verdict == "regressed" else None,
    }  # fmt: skip


def _unmeasured(impl, suite, name, status, why):
    row = case(impl, suite, name)
    row |= {"status": status, "why": why, "meters": {}, "verdict": None, "loops": None}
    row["proof"] = {"left": None, "right": None}
    return row


def _described(commit, subject, impl):
    return {
        "spec": commit[:10], "commit": commit, "subject": subject, "dirty": False, "impl": impl,
        "content": commit[::-1], "wheel_sha256": commit + commit[:24],
        "description": f"{commit[:10]} {subject} [{impl}]", "why_pure": "",
    }  # fmt: skip


def make_gate(changed=None, unmeasured=True, accepted=True, excluded=True):
    """A gate over both implementations and 51 cases each.

    Without arguments it holds a regression with a profile, an accepted one, an improvement, a case
    that raised, one that is not applicable, a case with a change from nothing, and an exclusion.
    """
    changed = {
        ("cython", "decode_rows.time_mixed_one_row"): 1.0312,
        ("python", "encode_message.time_query_64b_plain"): 1.0174,
        ("python", "routing_key.time_single_int"): 0.8813,
    } if changed is None else changed  # fmt: skip
    cases = []
    for impl in IMPLS:
        for suite, names in SUITES.items():
            cases += [
                case(impl, suite, name, changed.get((impl, f"{suite}.time_{name}"), 1.0))
                for name in names
            ]
    if unmeasured:
        at = {(row["impl"], row["name"]): number for number, row in enumerate(cases)}
        cases[at["cython", "bind.time_vector_128"]] = _unmeasured(
            "cython", "bind", "vector_128", "error", "right: ZeroDivisionError: (bind.py:41)"
        )
        cases[at["python", "bind.time_vector_768"]] = _unmeasured(
            "python", "bind", "vector_768", "not applicable", "left: no vectors here"
        )
        gone = cases[at["python", "result_dispatch.time_void"]]
        gone["meters"]["allocations"] |= {"left": 0.0, "right": 1.0, "ratio": None, "low": None,
                                          "high": None, "verdict": "regressed"}  # fmt: skip
        gone |= {"verdict": "regressed", "profile": []}
    entries = []
    if accepted:
        row = next(row for row in cases if row["impl"] == "python" and row["case"] == "rows")
        row["meters"]["instructions"] = _exact("instructions", 50_000, 1.021, "regressed")
        row |= {
            "verdict": "regressed", "profile": None,
            "accepted": {"reason": "payloads are checked now", "until": "2026-12-31",
                         "amount": 0.03},
        }  # fmt: skip
        entries.append({
            "benchmark": "result_dispatch.time_rows", "meters": ["instructions"], "impl": "python",
            "amount": 0.03, "reason": "payloads are checked now", "until": "2026-12-31",
            "line": 3, "state": "used",
        })  # fmt: skip
    return judged({
        "schema": 2, "kind": "gate", "created": "2026-03-02T09:14:05+00:00", "partial": False,
        "seed": 1,
        "base": {"spec": "main", "commit": BASE, "subject": "Pack the routing key by hand",
                 "dirty": False},
        "head": {"spec": "HEAD", "commit": HEAD, "subject": "Check the payload", "dirty": False},
        "sides": {
            impl: {"left": _described(BASE, "Pack the routing key by hand", impl),
                   "right": _described(HEAD, "Check the payload", impl)}
            for impl in IMPLS
        },
        "provenance": {
            "python": "CPython 3.13.2", "compiler": "gcc 14.2.0", "cpu": "AMD EPYC 9R14",
            "kernel": "Linux 6.12.1 x86_64", "cores": 2, "load": 0.31,
            "valgrind": "valgrind-3.24.0",
            "packages": {"asv_runner": "0.2.5", "memray": "1.20.0", "numpy": "2.4.6"},
        },
        "settings": {
            "alpha": 0.01, "limits": dict(LIMITS), "benchmarks": {"routing_key.*": {"wall": 0.02}},
            "suites": "asv_benchmarks", "accepted": "accepted.toml", "builds": 1, "budget": 300.0,
        },
        "meters": {
            name: {"measured": True, "why": "", "unit": unit, "processes": 12 * (name == "wall")}
            for name, unit in METERS.items()
        },
        "impls": list(IMPLS), "builds": 1, "cases": cases, "suites": families.judge(cases),
        "excluded": [{"name": "bind.time_old_name", "impl": "cython",
                      "why": "the base has it, the head does not (renamed or removed)"}]
        if excluded else [],
        "accepted": entries, "trouble": [],
        "error_rates": copy.deepcopy(RATES),
    })  # fmt: skip


def judged(document):
    """The document with a verdict that follows from its cases."""
    cases = document["cases"]
    count = {
        word: sum(row["verdict"] == word for row in cases)
        for word in ("regressed", "improved", "equivalent", "undecided")
    }
    open_ = sum(row["verdict"] == "regressed" and not row["accepted"] for row in cases)
    failed = sum(row["status"] not in {"measured", "not applicable"} for row in cases)
    status, code = (("regression", 1) if open_ else ("could not measure", 2) if failed
                    else ("no regression", 0))  # fmt: skip
    parts = ", ".join(f"{number} {word}" for word, number in count.items() if number)
    summary = f"{len(cases)} benchmarks: {parts}" + (f", {failed} not measured" * bool(failed))
    return document | {"verdict": {"status": status, "exit": code, "summary": summary}}
