"""A comparison as the harness writes it, made up: each state and gap that a page must show."""

import random

SUITES = {
    "encode_message": [
        f"{kind}_{size}_{codec}"
        for kind in ("query", "execute")
        for size in ("64b", "1kb", "16kb")
        for codec in ("plain", "lz4", "snappy")
    ],
    "bind": ["vector_128", "vector_768", "vector_1536", "ten_mixed_scalars", "vector_and_scalars"],
    "routing_key": ["single_int", "single_text", "composite_of_three", "composite_200_bytes"],
    "result_dispatch": [
        "rows", "void", "set_keyspace", "schema_change", "prepared",
        *(f"names_and_types_{n}" for n in (5, 10, 20, 50)),
    ],
    "decode_rows": [
        f"{shape}_{rows}"
        for shape in ("mixed", "wide_text", "vectors", "collections", "user_types")
        for rows in ("one_row", "page_of_100", "page_of_5000")
    ],
}  # fmt: skip
UNITS = {"wall": "s", "instructions": "count", "allocations": "count", "bytes": "B"}
LIMITS = {"wall": 0.05, "instructions": 0.01, "allocations": 0.0, "bytes": 0.01}


def _verdict(low, high, limit):
    if low > 1 + limit:
        return "regressed"
    if high < 1 / (1 + limit):
        return "improved"
    return "equivalent" if low >= 1 / (1 + limit) and high <= 1 + limit else "undecided"


def _figures(meter, base, ratio, width, rng):
    low, high = ratio / (1 + width), ratio * (1 + width)
    limit = LIMITS[meter]
    if meter != "wall":
        base = max(1, round(base))
        ratio = low = high = round(base * ratio) / base
    figures = {
        "left": base,
        "right": base * ratio,
        "ratio": ratio,
        "low": low,
        "high": high,
        "confidence": 0.95,
        "verdict": _verdict(low, high, limit),
        "limit": limit,
        "detectable": 1 + 1.4 * width,
    }
    if meter == "wall":
        spread = width * 1.6
        for side, value in (("left", base), ("right", base * ratio)):
            noise = [abs(rng.gauss(0, spread)) for _ in range(12)]
            figures[f"{side}_samples"] = [value * (1 + extra) for extra in noise]
    return figures


def _case(suite, case, ratio, noise, rng):
    base = 10 ** rng.uniform(-6.6, -3.2)
    instructions = ratio * rng.uniform(0.97, 1.03) if ratio < 0.9 else ratio
    meters = {
        "wall": _figures("wall", base, ratio * rng.gauss(1, noise / 4), noise, rng),
        "instructions": _figures("instructions", round(base * 9e9), instructions, 0.0, rng),
        "allocations": _figures("allocations", rng.randrange(1, 40), max(0.2, ratio), 0.0, rng),
        "bytes": _figures("bytes", rng.randrange(80, 90_000), max(0.5, ratio), 0.0, rng),
    }
    return {
        "name": f"{suite}.time_{case}",
        "suite": suite,
        "case": case,
        "status": "measured",
        "why": "",
        "proof": {
            side: {"modules": {"wire.codec": f"site-packages/driver/wire/codec.{ending}"},
                   "probe": {"rows": 100}, "digest": "9f86d081884c7d65"}
            for side, ending in (("left", "py"), ("right", "so"))
        },
        "meters": meters,
        "verdict": meters["wall"]["verdict"],
        "note": "",
    }  # fmt: skip


def _side(spec, commit, subject, impl):
    return {
        "spec": spec, "commit": commit * 5, "subject": subject, "dirty": False, "impl": impl,
        "content": commit[::-1] * 8, "wheel_sha256": commit * 8,
        "description": f"{spec} ({impl})", "why_pure": "",
    }  # fmt: skip


def make_comparison(kind="commits", seed=7):
    """A comparison of 51 cases: ``commits`` (near 1, all states) or ``impl`` (Cython, pure)."""
    rng = random.Random(seed)
    cases = []
    for suite, names in SUITES.items():
        for name in names:
            ratio = rng.uniform(0.12, 0.8) if kind == "impl" else rng.choice([1.0, 1.0, 1.0, 0.93])
            cases.append(_case(suite, name, ratio, rng.choice([0.012, 0.02, 0.07]), rng))
    comparison = {
        "schema": 1,
        "kind": "comparison",
        "title": "Cython against pure Python" if kind == "impl" else "HEAD~1 against HEAD",
        "created": "2026-03-02T09:14:05+00:00",
        "partial": False,
        "gates": kind != "impl",
        "note": "",
        "left": _side("HEAD@impl:python", "3f2a9c01", "Pack the routing key by hand", "python"),
        "right": _side("HEAD@impl:cython", "3f2a9c01", "Pack the routing key by hand", "cython"),
        "provenance": {
            "python": "3.13.2 (CPython)", "compiler": "gcc 14.2.0", "cpu": "AMD EPYC 9R14",
            "kernel": "6.12.1", "cores": 2, "load": [0.31, 0.4, 0.28], "valgrind": "3.24.0",
            "packages": {"asv_runner": "0.2.5", "memray": "1.20.0", "numpy": "2.4.6"},
        },
        "meters": {
            meter: {"measured": True, "why": "", "unit": unit, "processes": 12}
            for meter, unit in UNITS.items()
        },
        "cases": cases,
        "verdict": {
            "status": "no regression", "exit": 0,
            "summary": "51 benchmarks: 51 improved",
        },
    }  # fmt: skip
    if kind != "impl":
        comparison["left"] = _side("HEAD~1", "0be71d42", "Read warnings only if flagged", "cython")
        comparison["right"] = _side("HEAD", "3f2a9c01", "Pack the routing key by hand", "cython")
        _break_some(cases, rng)
        comparison["verdict"] = {
            "status": "regression", "exit": 1,
            "summary": "51 benchmarks: 2 regressed, and more",
        }  # fmt: skip
    return comparison


def _break_some(cases, rng):
    """One case of each state that is not a plain figure."""
    slower = cases[4]
    slower["meters"]["wall"] = _figures("wall", 2.1e-6, 1.12, 0.015, rng)
    slower["meters"]["instructions"] = _figures("instructions", 18_900, 1.094, 0.0, rng)
    slower["verdict"] = "regressed"
    for case, status, why in (
        (cases[20], "not applicable", "HEAD~1 has no driver.statements.bound"),
        (cases[24], "proof failed", "types.marshal is marshal.py, expected the compiled module"),
        (cases[30], "different answers", "digest 9f86d081 on the left, 60303ae2 on the right"),
        (cases[35], "error", "worker ended with status -9"),
    ):
        case.update(status=status, why=why, meters={}, verdict=None, proof={})
    odd = cases[26]
    odd["meters"]["wall"] = _figures("wall", 8.4e-7, 0.9, 0.02, rng)
    odd["meters"]["instructions"] = _figures("instructions", 7_400, 1.03, 0.0, rng)
    odd["meters"]["allocations"] |= {"left": 0, "right": 1, "ratio": None, "low": None,
                                     "high": None}  # fmt: skip
    odd["verdict"] = "regressed"  # the exact meter decides


def without_valgrind(comparison):
    """The same comparison on a machine that has no valgrind."""
    why = "valgrind is not installed; apt-get install valgrind"
    comparison["meters"]["instructions"] = {"measured": False, "why": why, "unit": "count"}
    for case in comparison["cases"]:
        case["meters"].pop("instructions", None)
    return comparison


#: A comparison in which nothing was measured.
BARE = make_comparison() | {"cases": []}
