"""From kept rows to rates: what summary.json holds."""

from __future__ import annotations

import statistics
from datetime import datetime, timedelta
from itertools import chain
from typing import TYPE_CHECKING, Any

from benchproof import error_rates, results
from benchproof.meters import METERS
from calibration import inject, rates
from calibration.gates import ALARMS, alarmed
from calibration.others import run as others

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from benchproof.settings import Settings

Rows = list[dict[str, Any]]
#: Meters that a whole gate may have, in groups that are judged on their own.
GROUPS = {
    "exact meters": tuple(name for name, meter in METERS.items() if meter.exact),
    "wall time": ("wall",),
    "all meters": tuple(METERS),
}
#: Verdicts as a reader of rates calls them.
SAID = {"regressed": "found", "undecided": "undecided", "equivalent": "called equivalent",
        "improved": "called improved", "not measured": "not measured"}  # fmt: skip
#: Verdicts on a slow-down, the one that would mislead most first.
WORST = ("improved", "equivalent", "not measured", "undecided", "regressed")
#: Gates with a longer time between them than this are of different occasions.
APART = timedelta(hours=2)
#: A slow-down that came out at this part of its size counts as one of that size.
REACHED = 0.8


def summarise(read: Callable[[str], Rows], policy: str, settings: Settings) -> dict[str, Any]:
    """All rates.

    Args:
        read: the rows of a part's file.
        policy: the harness's rules now.
        settings: limits and error budget now.
    """
    gates, stalled, exact = (
        of_one_policy(read(name), policy) for name in ("gates", "stalled", "exact")
    )
    slowed, resampled, other = read("injected"), read("resampled"), read("others")
    # A campaign may be of one meter: each has its own last rules.
    injected = {
        meter: of_one_policy([row for row in slowed if answers([row], meter)], policy)
        for meter in inject.METERS
    }
    summary: dict[str, Any] = {
        "schema": error_rates.SCHEMA, "created": results.now(), "settings": settings.describe(),
        "policy": policy,
        # Rates of different rules never stand in one line.
        "rules": {
            part: sorted({row["policy"] for row in rows})
            for part, rows in {"gates": gates, "stalled": stalled, "resampled": resampled,
                               **injected}.items()
        },
        # Gates of slowed commits may be of their targets alone, and then say so.
        "slowed": {meter: sizes_of(rows) for meter, rows in injected.items()},
        "same_wheel": same_wheel(exact + [row for row in gates if row["kind"] == "same"]),
        "gates": {kind: whole(gates, kind) for kind in ("same", "neutral")},
        "resampled": again([row for row in resampled if row["kind"] == "aa"]),
        "detection": {
            meter: detection(answers(rows, meter)) for meter, rows in injected.items()
        },
        "resampled_wall": detection(
            [row for row in resampled if row["kind"] == "slowed in a gate"]
        ),
        "simulated": detection([row for row in resampled if row["kind"] == "added"]),
        "stalls": of_stalls(answers(stalled)),
        "wall_of_one_suite": detection([row for row in resampled if row["kind"] == "slowed"]),
        "others": beside(other),
        "conditions": conditions(
            [*exact, *gates, *chain(*injected.values()), *stalled, *resampled, *other], policy
        ),
    }  # fmt: skip
    summary["rates"] = told(summary)
    return summary


def of_one_policy(rows: Rows, policy: str) -> Rows:
    """The rows that the rules of now decided, or, before there are any, those of the last rules.

    Rates of different rules are different rates: older rows stay in the file and are not counted.
    """
    policies = [row["policy"] for row in sorted(rows, key=lambda row: str(row.get("at", "")))]
    counted = policy if policy in policies else next(reversed(policies), policy)
    return [row for row in rows if row["policy"] == counted]


def sizes_of(gates: Rows) -> dict[str, int] | None:
    """How many gates there are, and the fewest and the most cases of one."""
    cases = [row["cases"] for row in gates if "cases" in row]
    return {"gates": len(cases), "least": min(cases), "most": max(cases)} if cases else None


def occasions(rows: Rows) -> list[Rows]:
    """Gates by occasion: hours without any gate lie between two, or another machine ran them."""
    found: list[Rows] = []
    for row in sorted(rows, key=lambda row: str(row["at"])):
        if not found or _is_apart(found[-1][-1], row):
            found.append([])
        found[-1].append(row)
    return found


def _is_apart(last: Mapping[str, Any], row: Mapping[str, Any]) -> bool:
    """Whether a gate is of another occasion; rows keep when it ended, and how long it took."""
    started = datetime.fromisoformat(row["at"]) - timedelta(seconds=row["seconds"])
    return row["machine"] != last["machine"] or started - datetime.fromisoformat(last["at"]) > APART


def same_wheel(rows: Rows) -> dict[str, Any] | None:
    """Exact meters on the same wheel: comparisons, identical ones, and alarms."""
    found: dict[str, dict[str, int]] = {}
    for row in rows:
        for meter, said in row["meters"].items():
            if METERS[meter].exact:
                kept = found.setdefault(meter, {"tests": 0, "identical": 0, "alarms": 0})
                kept["tests"] += sum(n for verdict, n in said.items() if verdict != "identical")
                kept["identical"] += said.get("identical", 0)
                kept["alarms"] += sum(said.get(verdict, 0) for verdict in ALARMS)
    return {"gates": len(rows), "meters": found} if rows else None


def again(rows: Rows) -> dict[str, Any] | None:
    """Resampled gates in which nothing changed.

    Gates whose blocks overlap are no independent trials: the rate is of runs of blocks that have
    none in common, as many as fit into what was recorded, each with an alarm if a gate that was
    drawn there had one. `gates` is how many were drawn.
    """
    if not rows:
        return None
    runs = [each for row in rows for each in row["blocks"].values()]
    # Rows of before say how many blocks were recorded by the last one that they took.
    recorded = max(whole[0] if whole else start + many for start, many, *whole in runs)
    many = max(many for _, many, *_ in runs)
    windows: dict[int, bool] = dict.fromkeys(range(max(1, recorded // many)), False)
    for row in rows:
        start = min(start for start, *_ in row["blocks"].values())
        windows[min(start // many, len(windows) - 1)] |= bool(row["alarms"])
    return {
        **(rates.of(windows.values()) or {}),
        "gates": len(rows), "alarmed": sum(bool(row["alarms"]) for row in rows),
        "tests": sum(row["tests"] for row in rows),
        "undecided": sum(row["undecided"] for row in rows),
    }  # fmt: skip


def whole(gates: Rows, kind: str) -> dict[str, Any] | None:
    """Real gates of one kind in which nothing changed."""
    chosen = [row for row in gates if row["kind"] == kind]
    if not chosen:
        return None
    said = {
        name: rates.of(
            alarmed(row, meters)
            for row in chosen
            if any(meter in row["meters"] for meter in meters)
        )
        for name, meters in GROUPS.items()
    }
    by_meter = decided(chosen)
    return {
        "gates": len(chosen),
        "tests": sum(about["tests"] for about in by_meter.values()),
        # A meter that decides nothing cannot be wrong, and shows nothing either.
        "decided": by_meter,
        # Gates of one hour may be wrong together: at worst each occasion is a single trial.
        "occasions": rates.of(
            any(alarmed(row, GROUPS["all meters"]) for row in each) for each in occasions(chosen)
        ),
        "failed": rates.of(row["verdict"]["exit"] == 1 for row in chosen),
        "could_not_measure": sum(row["verdict"]["exit"] == 2 for row in chosen),
        "alarms": said,
        "seconds": round(statistics.median(row["seconds"] for row in chosen), 1),
        "which": [
            {"number": row["number"], **each}
            for row in chosen for each in row["said"] if each["verdict"] in ALARMS
        ],
    }  # fmt: skip


def decided(gates: Rows) -> dict[str, dict[str, int]]:
    """By meter, the tests of some gates, and how many of them were not left undecided."""
    found: dict[str, dict[str, int]] = {}
    for meter in dict.fromkeys(name for row in gates for name in row["meters"]):
        said = [row["meters"][meter] for row in gates if meter in row["meters"]]
        tests = sum(n for each in said for verdict, n in each.items() if verdict != "identical")
        left = sum(each.get("undecided", 0) for each in said)
        found[meter] = {"tests": tests, "decided": tests - left}
    return found


def of_stalls(rows: Rows) -> dict[str, Any]:
    """Stalls by size: what the gate said of the clock and of the case, and by kind of stall."""
    return {
        size: about | {
            "by_stall": {
                stall: rates.of(
                    row["case"] == "regressed" for row in rows
                    if f"{row['size']:g}" == size and row["stall"] == stall
                )
                for stall in sorted({row["stall"] for row in rows})
            },
        }
        for size, about in detection(rows).items()
    }  # fmt: skip


def answers(injected: Rows, meter: str = "") -> Rows:
    """The gate's answers about targets, by size, with what was really achieved.

    Args:
        injected: rows of whole gates; those of before there was more than one meter name none.
        meter: of the answers; without it all of them.
    """
    return [
        {**each, "achieved": (each.get("ratio") or 1.0) - 1, "repetition": row["number"]}
        for row in injected for each in row["found"]
        if not meter or each.get("meter", "instructions") == meter
    ]  # fmt: skip


def detection(rows: Rows) -> dict[str, Any]:
    """By size, how many slow-downs were found, and what was said of the others."""
    found = {}
    for size in sorted({row["size"] for row in rows}):
        chosen = [row for row in rows if row["size"] == size]
        found[f"{size:g}"] = {
            **(rates.of(row["verdict"] == "regressed" for row in chosen) or {}),
            # Of the case, where only this meter sees the work that was added.
            "case": rates.of(row["case"] == "regressed" for row in chosen if "case" in row),
            "blocks": max((row["blocks"] for row in chosen if "blocks" in row), default=None),
            "reached": rates.of(
                row["verdict"] == "regressed" for row in chosen
                if row["achieved"] >= REACHED * row["size"]
            ),
            "said": {
                word: sum(row["verdict"] == verdict for row in chosen)
                for verdict, word in SAID.items()
            },
            "by_impl": {
                impl: rates.of(row["verdict"] == "regressed" for row in chosen
                               if row["impl"] == impl)
                for impl in sorted({row["impl"] for row in chosen})
            },
            "targets": len({(row["site"], row["target"], row["impl"]) for row in chosen}),
            "achieved": spread([row["achieved"] for row in chosen]),
            "missed": [
                {key: row.get(key) for key in ("site", "target", "impl", "verdict", "ratio", "low",
                                               "high", "predicted", "achieved", "why")}
                for row in sorted(chosen, key=lambda row: WORST.index(row["verdict"]))
                if row["verdict"] != "regressed"
            ][:20],
        }  # fmt: skip
    return found


def spread(values: Sequence[float]) -> dict[str, float]:
    """Median, and the range that nine in ten lie in."""
    ordered = sorted(values)
    last = len(ordered) - 1
    return {
        "low": round(ordered[round(0.05 * last)], 6),
        "median": round(statistics.median(ordered), 6),
        "high": round(ordered[round(0.95 * last)], 6),
    }


def beside(rows: Rows) -> list[dict[str, Any]]:
    """By tool and rule, both kinds of error on the same commits."""
    said = others.verdicts(rows)
    found = []
    for tool, rule in dict.fromkeys((row["tool"], row["rule"]) for row in said):
        mine = [row for row in said if (row["tool"], row["rule"]) == (tool, rule)]
        quiet = [row for row in mine if row["kind"] != "injected"]
        gates: dict[tuple[Any, ...], bool] = {}
        for row in quiet:
            key = (row["kind"], row["number"], row["base"])
            gates[key] = gates.get(key, False) or row["verdict"] in ALARMS
        sizes = sorted({row["size"] for row in mine if row["kind"] == "injected"})
        found.append({
            "tool": tool, "rule": rule, "settings": others.SETTINGS[tool],
            "false_alarms": rates.of(row["verdict"] in ALARMS for row in quiet),
            "false_gates": rates.of(gates.values()),
            "detection": {
                f"{size:g}": rates.of(row["verdict"] == "regressed"
                                      for row in mine if row["size"] == size)
                for size in sizes
            },
            "seconds": round(statistics.median(
                row["seconds"] / max(1, len(row["rows"])) for row in rows if row["tool"] == tool
            ), 1),
        })  # fmt: skip
    return found


def conditions(rows: Rows, policy: str) -> dict[str, Any]:
    """Where and when rows were measured, and whether by the rules that hold now."""
    machines = list({str(row["machine"]): row["machine"] for row in rows}.values())
    policies = sorted({row["policy"] for row in rows})
    dates = sorted(row["at"][:10] for row in rows if "at" in row)
    return {
        "machines": machines,
        "from": dates[0] if dates else None,
        "to": dates[-1] if dates else None,
        "policies": policies,
        "other_rules": [each for each in policies if each != policy],
    }


def found_by_meter(summary: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What whole gates found, by meter and size; of wall time what they would have, before any."""
    detected: dict[str, dict[str, Any]] = summary["detection"]
    return detected | {"wall": detected["wall"] or summary["resampled_wall"]}


def told(summary: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the gate prints of its own: `error_rates.load` returns this."""
    real = [each for each in summary["gates"].values() if each and each["alarms"]["all meters"]]
    k = sum(each["alarms"]["all meters"]["k"] for each in real)
    n = sum(each["alarms"]["all meters"]["n"] for each in real)
    pooled = rates.rate(k, n)
    resampled = summary["resampled"]
    alarm = pooled.asdict() | {"from": "real gates"} if pooled else None
    if alarm and resampled:
        alarm["from"] += f"; wall time resampled: {rates.told(resampled)}"
    elif resampled:
        alarm = resampled | {"from": "wall time, resampled"}
    found = {meter: sizes for meter, sizes in found_by_meter(summary).items() if sizes}
    if alarm is None and not found:
        return None
    keys = ("k", "n", "rate", "low", "high")
    return {
        "false_alarm": alarm,
        "detection": {
            meter: {size: {key: about[key] for key in keys} for size, about in sizes.items()}
            for meter, sizes in found.items()
        },
        "conditions": summary["conditions"],
    }


def reader(folder: Path) -> Callable[[str], Rows]:
    """Reads the files of the parts in a folder."""
    from calibration.kept import Kept  # noqa: PLC0415

    return lambda name: Kept(folder / f"{name}.jsonl.gz").rows()
