"""Whole commands in made-up asv projects that know nothing of this tool."""

import json
import os
import subprocess
import sys

import pytest

from benchproof.meters import instructions
from tests.harness import toy
from tests.harness.toy import Repository

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(instructions.why_not()), reason=f"{instructions.why_not()}"),
]
CONF = '{\n // as asv quickstart writes it\n "version": 1, "project": "acme", "repo": ".",\n}\n'
PYPROJECT = (
    toy.BUILT_BY_SETUPTOOLS
    + """name = "acme"

[tool.setuptools.packages.find]
where = ["{where}"]
namespaces = true
include = ["acme*"]

[tool.benchproof]
package = "{package}"
"""
)
WORK = (
    toy.WORK
    + """

def size():
    return 10
"""
)
BENCHMARKS = """
import {module} as work


def time_spin():
    return work.spin(50)


def time_own():
    return sorted([3, 1, 2])


def timeraw_import():
    return "import {module}"


def mem_boxes():
    return work.boxes(100)


def peakmem_boxes():
    return work.boxes(50_000)


def track_size():
    return work.size()


track_size.unit = "boxes"


async def time_nothing():
    pass


class Sums:
    params = ([10, 200], ["a", "b"])
    param_names = ("times", "text")
    number = 4

    def setup_cache(self):
        return {{"a": 1, "b": 2}}

    def setup(self, made, times, text):
        if (times, text) == (200, "b"):
            raise NotImplementedError("too much")
        self.left = [times * made[text]] * self.number

    def teardown(self, made, times, text):
        del self.left

    def time_sum(self, made, times, text):
        return work.spin(self.left.pop())
"""
NAMES = [
    "kinds.Sums.time_sum(10, 'a')", "kinds.Sums.time_sum(10, 'b')",
    "kinds.Sums.time_sum(200, 'a')", "kinds.Sums.time_sum(200, 'b')",
]  # fmt: skip


@pytest.fixture(params=["flat", "src", "namespace"])
def project(request, tmp_path):
    """A project in a layout; its second commit spins twice as long and gives other values."""
    made = Repository(tmp_path / "acme")
    where, package, module = {
        "flat": (".", "acme", "acme.work"), "src": ("src", "src/acme", "acme.work"),
        "namespace": (".", "acme", "acme.inner.work"),
    }[request.param]  # fmt: skip
    folder = f"{where}/{'/'.join(module.split('.')[:-1])}"
    for name, text in {
        "asv.conf.json": CONF,
        "pyproject.toml": PYPROJECT.format(where=where, package=package),
        ".gitignore": ".benchproof/\n",
        f"{folder}/__init__.py": "",
        f"{folder}/work.py": WORK,
        "benchmarks/__init__.py": "",
        "benchmarks/kinds.py": BENCHMARKS.format(module=module),
    }.items():
        made.write(name, text)
    made.commit("a package")
    made.edit(f"{folder}/work.py", "range(times)", "range(2 * times)")
    made.edit(f"{folder}/work.py", "range(number)", "range(2 * number)")
    made.edit(f"{folder}/work.py", "return 10", "return 12")
    made.commit("more of everything")
    made.layout = request.param
    return made


def benchproof(project, cache, *words):
    return subprocess.run(
        [sys.executable, "-m", "benchproof.cli", *words], cwd=project.root, check=False,
        capture_output=True, text=True, timeout=300,
        env=os.environ | {"BENCHPROOF_CACHE": str(cache), "COLUMNS": "160"},
    )  # fmt: skip


@pytest.mark.parametrize("project", ["flat"], indirect=True)
def test_every_kind_of_benchmark_is_listed_and_compared(project, cache, tmp_path):
    listed = benchproof(project, cache, "list", "--json", str(tmp_path / "list.json"))
    assert listed.returncode == 0, listed.stderr
    found = json.loads((tmp_path / "list.json").read_text())
    meters = {each["name"]: each["meters"] for each in found["benchmarks"]}
    assert [name for name in meters if "Sums" in name] == NAMES
    assert meters["kinds.timeraw_import"] == ["wall"]
    assert meters["kinds.track_size"] == ["track"]
    assert [each["name"] for each in found["excluded"]] == ["kinds.time_nothing"]
    assert "kinds.time_nothing: not measured: an async function" in listed.stdout

    out = tmp_path / "compare.json"
    said = benchproof(
        project, cache, "compare", "HEAD~1", "HEAD", "--all", "--json", str(out),
        "--meters", "instructions,memory,peakmemory,track",
    )  # fmt: skip
    assert said.returncode == 1, said.stderr + said.stdout
    document = json.loads(out.read_text())
    rows = {row["name"]: row for row in document["cases"]}
    verdicts = {name: row["verdict"] or row["status"] for name, row in rows.items()}
    assert {name: verdicts[name] for name in verdicts if not name.startswith("import.")} == {
        "kinds.time_spin": "regressed", "kinds.time_own": "equivalent",
        "kinds.mem_boxes": "regressed", "kinds.peakmem_boxes": "regressed",
        "kinds.track_size": "changed",
        **dict.fromkeys(NAMES[:3], "regressed"), NAMES[3]: "not applicable",
    }  # fmt: skip
    assert "too much" in rows[NAMES[3]]["why"]
    tracked = rows["kinds.track_size"]
    assert tracked["meters"]["track"]["unit"] == "boxes"
    assert (tracked["meters"]["track"]["left"], tracked["meters"]["track"]["right"]) == (10, 12)
    assert "only the benchmark knows" in tracked["note"]
    # What each ran, and what it answered.
    assert rows["kinds.time_own"]["grade"] == "unseen"
    assert rows["kinds.time_spin"]["grade"] == "witnessed"
    (file,) = rows["kinds.time_spin"]["proof"]["right"]["modules"].values()
    assert file.endswith("work.py")
    assert "different answers" in rows["kinds.time_spin"]["note"]
    assert "witnessed" in said.stdout
    why = {each["name"]: each["why"] for each in document["excluded"]}
    assert set(why) == {"kinds.time_nothing", "kinds.timeraw_import"}
    assert "only wall could measure it" in why["kinds.timeraw_import"]


@pytest.mark.parametrize("project", ["src", "namespace"], indirect=True)
def test_a_project_of_any_layout_is_listed_compared_and_seen_to_run(project, cache, tmp_path):
    listed = benchproof(project, cache, "list")
    assert listed.returncode == 0, listed.stderr
    assert "kinds.Sums.time_sum" in listed.stdout
    out = tmp_path / "compare.json"
    said = benchproof(
        project, cache, "compare", "HEAD~1", "HEAD", "--bench", "spin|own|size", "--json", str(out),
        "--meters", "instructions,track",
    )  # fmt: skip
    assert said.returncode == 1, said.stderr + said.stdout
    rows = {row["name"]: row for row in json.loads(out.read_text())["cases"]}
    assert {name: row["verdict"] for name, row in rows.items()} == {
        "kinds.time_spin": "regressed", "kinds.time_own": "equivalent",
        "kinds.track_size": "changed",
    }  # fmt: skip
    assert rows["kinds.time_spin"]["grade"] == "witnessed"
    (file,) = rows["kinds.time_spin"]["proof"]["right"]["modules"].values()
    assert file.endswith("work.py")


def compared_size(project, cache, tmp_path):
    """What comparing the last two commits by `track_size` alone says, and its case."""
    out = tmp_path / "compare.json"
    said = benchproof(
        project, cache, "compare", "HEAD~1", "HEAD", "--bench", "size", "--json", str(out),
        "--meters", "track",
    )  # fmt: skip
    assert said.returncode == 0, said.stderr
    (row,) = json.loads(out.read_text())["cases"]
    return said, row


@pytest.mark.parametrize("project", ["flat"], indirect=True)
def test_a_suite_one_folder_below_the_root_is_measured(project, cache, tmp_path):
    (project.root / "bench").mkdir()
    for name in ("asv.conf.json", "benchmarks"):
        project.git("mv", name, f"bench/{name}")
    project.commit("benchmarks and their configuration in a folder of their own")
    project.edit("acme/work.py", "return 12", "return 13")
    project.commit("one more")
    said, row = compared_size(project, cache, tmp_path)
    assert "benchmarks: bench/benchmarks/, named by bench/asv.conf.json" in said.stderr
    assert (row["name"], row["verdict"]) == ("kinds.track_size", "changed")
    assert (row["meters"]["track"]["left"], row["meters"]["track"]["right"]) == (12, 13)


@pytest.mark.parametrize(
    ("project", "moved"), [("flat", "src/acme"), ("src", "acme")], indirect=["project"]
)
def test_a_package_that_moved_is_compared_with_where_it_was(project, moved, cache, tmp_path):
    here = "acme" if moved.startswith("src/") else "src/acme"
    (project.root / moved).parent.mkdir(exist_ok=True)
    project.git("mv", here, moved)
    where = moved.rpartition("/")[0] or "."
    project.write("pyproject.toml", PYPROJECT.format(where=where, package=moved))
    project.edit(f"{moved}/work.py", "return 12", "return 13")
    project.commit("a layout of another kind")
    _, row = compared_size(project, cache, tmp_path)
    assert (row["meters"]["track"]["left"], row["meters"]["track"]["right"]) == (12, 13)


@pytest.mark.parametrize("project", ["flat"], indirect=True)
def test_wall_time_measures_raw_statements_too(project, cache, tmp_path):
    out = tmp_path / "compare.json"
    said = benchproof(
        project, cache, "compare", "HEAD~1", "HEAD", "--bench", "raw|sum\\(10", "--json", str(out),
        "--meters", "wall", "--quick",
    )  # fmt: skip
    document = json.loads(out.read_text())
    rows = {row["name"]: row for row in document["cases"]}
    assert set(rows) == {"kinds.timeraw_import", *NAMES[:2]}, said.stderr
    assert all(row["meters"]["wall"]["left"] > 0 for row in rows.values())
    assert rows[NAMES[0]]["loops"]["wall"] == 4


@pytest.mark.parametrize("project", ["flat"], indirect=True)
def test_a_project_may_demand_a_grade_of_proof(project, cache):
    project.write(
        "pyproject.toml", (project.root / "pyproject.toml").read_text() + 'proof = "witnessed"\n'
    )
    project.commit("demands to see")
    project.edit("acme/work.py", "return 12", "return 13")
    project.commit("one more")
    said = benchproof(
        project, cache, "compare", "HEAD~1", "HEAD", "--bench", "own|spin",
        "--meters", "instructions", "--all",
    )  # fmt: skip
    assert said.returncode == 2
    assert "nothing of acme was seen to run" in said.stdout


@pytest.mark.parametrize("project", ["flat"], indirect=True)
@pytest.mark.parametrize("command", [
    ("compare", "HEAD~1", "HEAD", "--meters", "instructions"), ("gate", "HEAD~1", "HEAD"),
    ("run",), ("list",),
])  # fmt: skip
def test_where_there_is_nothing_to_measure_no_command_succeeds(project, cache, command):
    project.write("benchmarks/kinds.py", "async def time_nothing():\n    pass\n")
    project.commit("no benchmark is left")
    project.edit("acme/work.py", "return 12", "return 13")
    project.commit("a change")
    said = benchproof(project, cache, *command)
    assert said.returncode == 2, said.stdout
    assert "no benchmark was found" in said.stderr + said.stdout or command == ("list",)
