"""``asv continuous`` with interleaved rounds, on the wheels that the gate measured.

asv would build each commit in an environment of its own. Its build command copies the gate's wheel
instead, so that both measure the same bytes. Decisions are asv's own, at several factors.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchproof import provenance, targets
from benchproof.build import Builder
from benchproof.errors import WorkerError
from benchproof.processes import Crew
from calibration import gates

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from calibration.scene import Scene

ROUNDS = 4
SETTINGS = f"--interleave-rounds, {ROUNDS} rounds, --cpu-affinity"
#: asv's own default is 1.1.
FACTORS = (1.1, 1.05, 1.02, 1.01)
MACHINE = "calibration"
#: asv runs only what it finds in its own environment, so that this is no `cp`.
COPY = "import shutil, sys; shutil.copytree(sys.argv[1], sys.argv[2], dirs_exist_ok=True)"


def measure(scene: Scene, pair: tuple[str, str], names: Sequence[str]) -> list[dict[str, Any]]:
    """Run ``asv continuous`` on both implementations of both commits; by case, what asv says.

    Raises:
        WorkerError: asv failed.
    """
    home = scene.outside.cache / "calibrate" / "asv"
    home.mkdir(parents=True, exist_ok=True)
    for name in ("results", "wheels"):
        shutil.rmtree(home / name, ignore_errors=True)
    config = _config(scene, home)
    with Crew() as crew:
        for commit in pair:
            _wheel(scene, commit, home / "wheels", crew)
        _asv(crew, home, config, ["machine", "--yes", "--machine", MACHINE])
        affinity = provenance.pinned_core()
        scene.tell.stage(f"asv continuous: {len(names)} benchmarks")
        command = ["continuous", "--interleave-rounds", "--factor", "1.01", "--machine", MACHINE,
                   "--bench", gates.pattern(names), "--attribute", f"rounds={ROUNDS}",
                   *pair]  # fmt: skip
        if affinity is not None:
            command += ["--cpu-affinity", str(affinity)]
        _asv(crew, home, config, command)
    return list(_decided(home / "results", pair))


def _config(scene: Scene, home: Path) -> Path:
    """The checkout's own configuration, on the clone, with copied wheels."""
    from asv.util import load_json  # noqa: PLC0415  (slow to import)

    own = scene.outside.checkout.root / "asv.conf.json"
    if not own.exists():
        raise WorkerError(f"asv needs its configuration, and there is no {own}")
    config: dict[str, Any] = load_json(str(own), js_comments=True)
    wheels = home / "wheels"
    config |= {
        "repo": str(scene.clone.root), "branches": ["HEAD"],
        "benchmark_dir": str(scene.place.suites.resolve()),
        "env_dir": str(home / "env"), "results_dir": str(home / "results"),
        "html_dir": str(home / "html"),
        "build_command": [f"python -c '{COPY}' {wheels}/{{commit}} {{build_cache_dir}}"],
    }  # fmt: skip
    file = home / "asv.conf.json"
    file.write_text(json.dumps(config, indent=1), encoding="utf-8")
    return file


def _wheel(scene: Scene, commit: str, folder: Path, crew: Crew) -> None:
    """Put the compiled wheel of a commit where asv's build command looks."""
    place = scene.place
    target = targets.resolve(targets.parse(f"{commit}@impl:cython"), place.checkout)
    built = Builder(place.checkout, place.cache, crew, place.toolchain).build(target)
    here = folder / commit
    here.mkdir(parents=True, exist_ok=True)
    for wheel in Path(built.folder).glob("*.whl"):
        shutil.copy2(wheel, here / wheel.name)


def _asv(crew: Crew, home: Path, config: Path, arguments: Sequence[str]) -> None:
    """Run asv with a home of its own: its machine file belongs to the campaign."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHONPATH", "DRIVER_"))}
    words = [arguments[0], "--config", str(config), *arguments[1:]]
    if arguments[0] == "machine":
        words = [*arguments]
    child = crew.start(
        [sys.executable, "-m", "asv", *words], log=home / "asv.log", cwd=home,
        env=env | {"HOME": str(home)},
    )  # fmt: skip
    ended = crew.wait(child)
    # asv continuous ends with 1 where something changed.
    if ended.status not in {0, 1} or (ended.status and arguments[0] == "machine"):
        raise WorkerError(f"asv {arguments[0]} failed: {' / '.join(ended.last_lines(3))}")


def _decided(results: Path, pair: tuple[str, str]) -> Iterator[dict[str, Any]]:
    """By implementation and case: both medians, both sides' samples, asv's word at each factor."""
    from asv.commands.compare import _is_result_better as better  # noqa: PLC0415
    from asv.results import iter_results_for_machine_and_hash as stored  # noqa: PLC0415

    found: dict[tuple[str, str], dict[str, Any]] = {}
    for side, commit in zip(("left", "right"), pair, strict=True):
        for result in stored(str(results), MACHINE, commit):
            impl = result.env_vars.get("DRIVER_IMPL", "")
            for name in result.get_all_result_keys():
                parameters = result.get_result_params(name)
                (value,) = result.get_result_value(name, parameters)
                (stats,) = result.get_result_stats(name, parameters) or [None]
                (samples,) = result.get_result_samples(name, parameters) or [None]
                found.setdefault((impl, name), {})[side] = (value, (stats, samples))
    for (impl, name), sides in found.items():
        if len(sides) < 2 or any(value is None or value != value for value, _ in sides.values()):  # noqa: PLR0124  (a NaN)
            continue
        (left, left_samples), (right, right_samples) = sides["left"], sides["right"]
        said = {}
        for factor in FACTORS:
            slower = better(left, right, left_samples, right_samples, factor)
            faster = better(right, left, right_samples, left_samples, factor)
            said[f"{factor:g}"] = "regressed" if slower else "improved" if faster else "equivalent"
        yield {
            "target": name, "impl": impl, "said": said,
            "left": _rounded(left_samples[1] or [left]),
            "right": _rounded(right_samples[1] or [right]),
        }  # fmt: skip


def _rounded(samples: Sequence[float]) -> list[float]:
    return [float(f"{value:.5g}") for value in samples]
