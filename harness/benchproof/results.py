"""The results file of a comparison (JSON), and its raw wall samples (pyperf JSON)."""

from __future__ import annotations

import datetime as dt
import gzip
import io
from typing import TYPE_CHECKING, Any

import pyperf

from . import files
from .plan import SIDES, SideName

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from .build import Built
    from .collected import Sampled
    from .targets import Target


def now() -> str:
    """This second, as ISO 8601 in UTC."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


def describe(target: Target, built: Built | None) -> dict[str, Any]:
    """One side, as the results file describes it; None: it needed no build to know its answer."""
    impl = built.impl if built else target.spec.impl
    words = impl or (built.kind if built else "")
    return {
        "spec": target.spec.text,
        "commit": target.commit,
        "subject": target.subject,
        "dirty": target.dirty,
        "impl": impl,
        "content": target.content,
        "wheel_sha256": built.wheel_sha256 if built else None,
        "kind": built.kind if built else "",
        "description": f"{target.description} [{words}]" if words else target.description,
        "why_pure": built.why_pure if built else "",
        "dependencies": dict(built.versions) if built else {},
    }


def write_raw(each: Sampled, core: int | None, file: Path) -> list[Path]:
    """Write both sides' wall samples as pyperf JSON: one run a process, all of its values.

    Args:
        each: a variant.
        core: on which its processes ran, if they were held there.
        file: from whose name theirs are made.

    Raises:
        BenchproofError: they cannot be written.
    """
    written = []
    for side in SIDES:
        path = file.with_name(f"{file.name.removesuffix('.json')}.{side}.pyperf.json.gz")
        benchmarks = [
            _benchmark(each, name, side, core)
            for name in sorted(each.got.loops)
            if each.got.paired("wall", name)
        ]
        if benchmarks:
            # pyperf writes a file in place, and half of it would remain of a run that is killed.
            text = io.StringIO()
            pyperf.BenchmarkSuite(benchmarks).dump(text)
            files.write(gzip.compress(text.getvalue().encode(), mtime=0), path)
            written.append(path)
    return written


def _benchmark(each: Sampled, name: str, side: SideName, core: int | None) -> Any:  # noqa: ANN401
    """The processes of one case and side (pyperf is not typed)."""
    described = each.sides[side]
    about = {
        "name": name,
        "unit": "second",
        "loops": each.got.loops[name].wall,
        "inner_loops": 1,
        "benchproof_side": described["description"],
        "benchproof_commit": described["commit"] or "none",
        "benchproof_impl": described["impl"],
        "benchproof_wheel": described["wheel_sha256"],
        "cpu_affinity": None if core is None else str(core),
    }
    # A project without variants has no name of one, and an interpreter no wheel: pyperf refuses "".
    about = {key: value for key, value in about.items() if value not in {"", None}}
    runs = [
        pyperf.Run(
            each.got.taken("wall", side, name)[spot],
            metadata=about | {"benchproof_block": spot.process},
            collect_metadata=False,
        )
        for spot in each.got.paired("wall", name)
    ]
    return pyperf.Benchmark(runs)


def by_variant(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The comparisons of two sides that a results file of any version holds, one for each variant.

    Args:
        document: of `compare`, `gate` or `run`; or of their older versions: a comparison of one
            implementation, several of them, a gate.

    Returns:
        For each variant ``left``, ``right`` (described) and ``cases``.

    Raises:
        KeyError: it is none.
    """
    if "comparisons" in document:
        return [one for each in document["comparisons"] for one in by_variant(each)]
    if not document.get("sides"):
        return [{key: document[key] for key in (*SIDES, "cases")}]
    return [
        {**sides, "cases": [row for row in document["cases"] if row.get("impl", "") == name]}
        for name, sides in document["sides"].items()
    ]
