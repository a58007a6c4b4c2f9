"""``pyperf compare_to``: both sides run one after the other, 40 processes each (``--rigorous``)."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from benchproof.errors import WorkerError
from benchproof.plan import SIDES
from calibration.others import one_case
from calibration.others.sides import SCRIPT, both

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchproof.plan import SideName
    from benchproof.progress import Teller
    from calibration.others.sides import Sides
    from calibration.pairs import Pair
    from calibration.scene import Scene

SETTINGS = "--rigorous (40 processes of 3 values), --affinity, compare_to"
#: Least changes that compare_to is told to show, in percent: 0 is its default.
SPEEDS = (0, 1, 2, 5)
_SLOWER = re.compile(r": ([\d.]+)x (slower|faster)")


def measure(scene: Scene, pair: Pair, names: Sequence[str]) -> list[dict[str, Any]]:
    """Time both sides of each case, and let pyperf compare them.

    Raises:
        WorkerError: pyperf failed.
    """
    rows = []
    with both(scene, pair, names) as sides:
        for name in sides.cases:
            files = {side: _time(sides, side, name, scene.tell) for side in SIDES}
            row: dict[str, Any] = {"target": name, "impl": pair[2]}
            row["said"] = {str(speed): _compare(files, speed) for speed in SPEEDS}
            row |= {side: _values(file) for side, file in files.items()}
            rows.append(row)
    return rows


def _time(sides: Sides, side: SideName, name: str, tell: Teller) -> Path:
    """Run pyperf on one side of one case; its file."""
    tell.stage(f"pyperf, {side}: {name}")
    stem = f"pyperf-{len(list(sides.bench.scratch.glob('pyperf-*')))}"
    file, log = (sides.bench.scratch / f"{stem}.{ending}" for ending in ("json", "log"))
    request = json.dumps(sides.request(side, "pyperf", [name]))
    # No hash seed: pyperf varies it from process to process, as its documentation recommends.
    env = sides.environment(side) | {one_case.REQUEST: request}
    del env["PYTHONHASHSEED"]
    command = [
        sys.executable, "-P", str(SCRIPT), "--rigorous", "--quiet", "-o", str(file),
        "--inherit-environ", f"{one_case.REQUEST},DRIVER_IMPL,HOME,TMPDIR",
    ]  # fmt: skip
    if sides.bench.core is not None:
        command += ["--affinity", str(sides.bench.core)]
    ended = sides.bench.crew.wait(
        sides.bench.crew.start(command, log=log, cwd=sides.bench.scratch, env=env)
    )
    if ended.status:
        raise WorkerError(f"pyperf failed on {name}: {(ended.last_lines(1) or ['no words'])[0]}")
    return file


def _compare(files: dict[SideName, Path], speed: int) -> str:
    """What compare_to says."""
    command = [sys.executable, "-m", "pyperf", "compare_to", f"--min-speed={speed}",
               *(str(files[side]) for side in SIDES)]  # fmt: skip
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    found = _SLOWER.search(answer.stdout)
    if found is None:
        return "equivalent"
    return "regressed" if found[2] == "slower" else "improved"


def _values(file: Path) -> list[list[float]]:
    """The values of each process."""
    import pyperf  # noqa: PLC0415

    (benchmark,) = pyperf.BenchmarkSuite.load(str(file)).get_benchmarks()
    runs = [run.values for run in benchmark.get_runs() if run.values]
    return [[float(f"{value:.5g}") for value in values] for values in runs]
