"""A board, made up: this driver twice, one that blocks, one that awaits and lacks a case."""

from scripts.against.board import results

CASES = results.case_names()[:2]
FAILED = "TypeError: no such value"


def numbers(microseconds, *names):
    """Of three blocks."""
    return {
        name: {
            "processor": [microseconds * 1e-6] * 3, "elapsed": [2e-6 * microseconds] * 3,
            "switches": [1.0] * 3, "p50": [1e-5] * 3, "p99": [2e-5] * 3, "node": [1e-6] * 3,
        }
        for name in names
    }  # fmt: skip


def looked(*failed):
    """What checking a client came to."""
    return {"looked": dict.fromkeys(set(CASES) - set(failed), 2),
            "failed": dict.fromkeys(failed, FAILED)}  # fmt: skip


def board(load=0.1):
    """The document."""
    measured = {
        "threads": {"cqlpath": numbers(12, *CASES), "cqlpath again": numbers(12, *CASES),
                    "scylla-driver 1": numbers(20, *CASES)},
        "asyncio": {"cqlpath": numbers(10, *CASES), "cqlpath again": numbers(10, *CASES),
                    "acsylla 2": numbers(5, CASES[0])},
    }  # fmt: skip
    checked = {way: {name: looked() for name in those} for way, those in measured.items()}
    checked["asyncio"]["acsylla 2"] = looked(CASES[1])
    kept = {
        "bare": 10 << 20, "idle": 12 << 20,
        "flying": {"1000": {"bytes": 2_000_000.0, "held": 1000}, "32768": "TypeError: full"},
        "rows": {"by default": ["Row", 200.0], "as tuples": ["tuple", 190.0]},
    }  # fmt: skip
    return {
        "created": "2026-11-25T11:00:00+00:00", "load": load, "scale": 1.0, "seed": 1,
        "provenance": {"python": "CPython 3.11.7", "cpu": "A", "cores": 2, "load": load},
        "members": {way: list(those) for way, those in measured.items()},
        "missing": {
            "threads": {"acsylla 2": "acsylla has no call that blocks"},
            "futures": {},
            "asyncio": {"scylla-driver 1": "scylla-driver has nothing to await"},
        },
        "nodes": {"load-test": {"blocks": 3, "checked": checked, "numbers": measured}},
        "memory": {"asyncio": {"cqlpath": kept}},
    }  # fmt: skip
