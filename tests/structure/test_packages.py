"""Both distributions, installed from their built files into empty environments: what is in them."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOT_SOURCE = shutil.ignore_patterns("*.so", "__pycache__", "built.json", "*.egg-info")
#: What each distribution is built from, as a fresh clone has it.
PARTS = {
    "benchproof": ("harness", "LICENSE"),
    "cqlpath": (
        "driver",
        "pyproject.toml",
        "setup.py",
        "MANIFEST.in",
        "LICENSE",
        "CHANGELOG.md",
    ),
}
#: No compiler works, and nothing of the checkout is on the path.
BARE = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "DRIVER_"))} | {
    "CC": "/bin/false", "CXX": "/bin/false", "COLUMNS": "200",
}  # fmt: skip
#: A project that has folders and a module of the names that this repository uses.
PROJECT = {
    ".gitignore": ".benchproof/\n",
    "pyproject.toml": """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "acme"
version = "1"

[tool.setuptools]
packages = ["acme"]

[tool.benchproof]
package = "acme"
suites = "bench"
""",
    "driver.py": "raise ImportError('the driver.py of the project')\n",
    "harness/__init__.py": "raise ImportError('the harness of the project')\n",
    "tests/__init__.py": "raise ImportError('the tests of the project')\n",
    "acme/__init__.py": "",
    "acme/work.py": "def spin():\n    return [object() for _ in range(40)]\n",
    "bench/__init__.py": "",
    "bench/hot.py": """
from acme import work


def time_spin():
    return work.spin()


def prove():
    return {"modules": {"work": work.__file__}, "digest": str(type(time_spin()))}


time_spin.prove = prove
time_spin.version = "1"
""",
}
pytestmark = pytest.mark.slow


def run(*words, cwd, status=0, **environment):
    answer = subprocess.run(
        [str(word) for word in words], cwd=cwd, env=BARE | environment,
        check=False, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert answer.returncode == status, f"{words}\n{answer.stdout}{answer.stderr}"
    return answer.stdout


def names_of(file):
    """What a wheel or an sdist holds; of an sdist without its top folder."""
    if file.suffix == ".whl":
        with zipfile.ZipFile(file) as archive:
            return set(archive.namelist())
    with tarfile.open(file) as archive:
        assert all(each.isfile() or each.isdir() for each in archive), "a link in an sdist"
        return {each.name.partition("/")[2] for each in archive if each.isfile()}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Of each distribution its sdist, and the wheel that was built from this sdist."""
    folder, files = tmp_path_factory.mktemp("built"), {}
    for name, parts in PARTS.items():
        for part in parts:
            source, target = ROOT / part, folder / name / part
            if source.is_dir():
                shutil.copytree(source, target, ignore=NOT_SOURCE, symlinks=True)
            else:
                target.parent.mkdir(exist_ok=True)
                shutil.copy(source, target)
        tree = folder / name / ("harness" if name == "benchproof" else "")
        run(
            sys.executable, "-m", "uv", "build", "--quiet", "--no-build-isolation",
            "--python", sys.executable, "--out-dir", folder / "dist", tree, cwd=folder,
        )  # fmt: skip
        (sdist,) = (folder / "dist").glob(f"{name}-*.tar.gz")
        (wheel,) = (folder / "dist").glob(f"{name}-*.whl")
        files[name] = (sdist, wheel)
    return files


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A repository with a change to measure, in which nothing of ours lies."""
    root = tmp_path_factory.mktemp("project")
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", root)
    run("git", "init", "-q", root, cwd=root)
    for name, text in PROJECT.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    run(*git, "add", "-A", cwd=root)
    run(*git, "commit", "-qm", "a package", cwd=root)
    more = PROJECT["acme/work.py"].replace("40", "41")
    (root / "acme/work.py").write_text(more)
    run(*git, "commit", "-qam", "one object more", cwd=root)
    return root


def installed(wheel, folder, *options):
    """An environment of its own with a wheel in it; its folder of commands, and of packages."""
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
    commands = folder / "bin"
    run(
        sys.executable, "-m", "uv", "pip", "install", "--quiet", "--only-binary", ":all:", *options,
        "--python", commands / "python", wheel, cwd=folder.parent,
    )  # fmt: skip
    (packages,) = folder.glob("lib/python*/site-packages")
    return commands, packages


@pytest.fixture(scope="module")
def tool(built, tmp_path_factory):
    """The tool with what it needs, as its users install it."""
    return installed(built["benchproof"][1], tmp_path_factory.mktemp("tool") / "venv")


def data_files(folder, package):
    """What a package holds beside code."""
    tracked = subprocess.run(
        ["git", "ls-files", package], cwd=folder, check=True, capture_output=True, text=True
    )
    return {name for name in tracked.stdout.splitlines() if not name.endswith(".py")}


def test_the_tool_s_wheel_is_pure_and_whole(built):
    sdist, wheel = built["benchproof"]
    names = names_of(wheel)
    assert wheel.name.endswith("-py3-none-any.whl")
    assert {name.split("/")[0].partition("-")[0] for name in names} == {"benchproof"}
    assert names >= data_files(ROOT / "harness", "benchproof")
    assert {"benchproof/py.typed", "benchproof/schema.json"} <= names
    assert names_of(sdist) >= {name for name in names if name.startswith("benchproof/")}


def test_the_driver_s_wheel_is_pure_without_a_compiler_and_holds_the_driver_alone(built):
    sdist, wheel = built["cqlpath"]
    names, sources = names_of(wheel), names_of(sdist)
    assert wheel.name.endswith("-py3-none-any.whl")
    assert {re.split("[-/]", name)[0] for name in names} == {"driver", "cqlpath"}
    assert {"driver/py.typed", "driver/_cython/built.json"} <= names
    compiled_from = data_files(ROOT, "driver/_cython")
    assert compiled_from
    assert compiled_from <= sources
    assert {name.split("/")[0] for name in sources} == {
        "driver", "cqlpath.egg-info", "pyproject.toml", "setup.py", "setup.cfg", "MANIFEST.in",
        "LICENSE", "CHANGELOG.md", "PKG-INFO",
    }  # fmt: skip


@pytest.mark.parametrize("name", PARTS)
def test_the_licence_is_a_file_of_every_distribution(built, name):
    text = (ROOT / "LICENSE").read_bytes()
    sdist, wheel = built[name]
    with zipfile.ZipFile(wheel) as archive:
        (place,) = (each for each in archive.namelist() if each.endswith("/licenses/LICENSE"))
        assert archive.read(place) == text
    with tarfile.open(sdist) as archive:
        (top,) = {each.partition("/")[0] for each in archive.getnames()}
        assert archive.extractfile(f"{top}/LICENSE").read() == text


def test_the_tool_brings_nothing_that_a_project_may_have(tool):
    packages = tool[1]
    assert (packages / "benchproof").is_dir()
    assert not [n for n in ("driver", "harness", "tests", "bench") if (packages / n).exists()]


def test_the_tool_answers_in_a_project_with_modules_of_the_same_names(tool, project):
    commands, packages = tool
    assert "benchproof" in run(commands / "benchproof", "--help", cwd=project)
    where = run(commands / "python", "-c", "import benchproof; print(benchproof)", cwd=project)
    assert str(packages / "benchproof") in where


def test_the_tool_gates_a_project_with_modules_of_the_same_names(tool, project, tmp_path):
    file = tmp_path / "gate.json"
    run(
        tool[0] / "benchproof", "gate", "HEAD~1", "HEAD",
        "--meters", "allocations", "--json", file, cwd=project, status=1,
        BENCHPROOF_CACHE=str(tmp_path / "cache"),
    )  # fmt: skip
    (row,) = json.loads(file.read_text())["cases"]
    assert (row["name"], row["meters"]["allocations"]["verdict"]) == ("hot.time_spin", "regressed")


def test_the_driver_is_installed_alone(built, tmp_path):
    commands, packages = installed(built["cqlpath"][1], tmp_path / "venv", "--no-deps")
    words = "import driver, driver.cluster; print(driver.IMPL, driver.__file__)"
    impl, file = run(commands / "python", "-c", words, cwd=tmp_path).split()
    assert impl == "python"
    assert file == str(packages / "driver" / "__init__.py")
    here = {path.name for path in packages.iterdir() if not path.name.startswith("_")}
    assert {name.split("-")[0] for name in here} == {"driver", "cqlpath"}
