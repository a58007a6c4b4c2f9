"""An interpreter that is there already as a side: found, asked, refused in one line, measured."""

import sys
import venv
from pathlib import Path

import pytest

from benchproof import build, dependencies, interpreters, targets
from benchproof.bench import Bench
from benchproof.build import Builder
from benchproof.checkout import Checkout
from benchproof.errors import TargetError
from benchproof.processes import Crew
from benchproof.suite import Case
from tests.harness.conftest import SUITES

METADATA = "Metadata-Version: 2.1\nName: toy-driver\nVersion: 2.5\n"


@pytest.fixture
def environment(tmp_path):
    """An environment with a package in it; the folder of its packages."""
    root = tmp_path / "environment"
    venv.create(root, symlinks=True)
    (site,) = root.glob("lib/python*/site-packages")
    return site


def install(site, toy, record=("driver/__init__.py", "beside.py")):
    (site / "driver").mkdir()
    for file in (toy.root / "driver").glob("*.py"):
        (site / "driver" / file.name).write_text(file.read_text())
    (site / "beside.py").write_text("ONE = 1\n")
    (site / "another.py").write_text("")
    (site / "driver/__pycache__").mkdir()
    (site / "driver/__pycache__/work.pyc").write_text("")
    about = site / "toy_driver-2.5.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(METADATA)
    (about / "top_level.txt").write_text("driver\n")
    lines = [*record, "../../../bin/toy", "toy_driver-2.5.dist-info/METADATA"]
    (about / "RECORD").write_text("".join(f"{each},,\n" for each in lines))
    return site.parents[2] / "bin/python"


def test_the_package_is_found_as_it_is_installed(environment, toy, tmp_path):
    python = install(environment, toy)
    found = interpreters.find(f"python:{python}", "driver", tmp_path / "cache")
    version = ".".join(map(str, sys.version_info[:3]))
    assert found.description == f"toy-driver 2.5 in CPython {version} ({python})"
    assert interpreters.find(f"python:{python}", "driver", tmp_path / "cache") == found
    (environment / "driver/work.py").write_text("changed = True\n")
    other = interpreters.find(f"python:{python}", "driver", tmp_path / "cache")
    assert other.content != found.content


def test_what_it_requires_there_is_noted_in_the_versions_that_are_installed(
    environment, toy, tmp_path
):
    python = install(environment, toy)
    about = environment / "toy_driver-2.5.dist-info/METADATA"
    about.write_text(about.read_text() + "Requires-Dist: dep (>1)\nRequires-Dist: absent\n")
    for name, needs in {
        "dep": "deeper[Fast]\nRequires-Dist: textract\nRequires-Dist: Toy.Driver",
        "deeper": "dep; extra == 'x'\nRequires-Dist: turbo; extra == 'fast'",
        "unused": "dep", "textract": "absent", "turbo": "dep",
    }.items():  # fmt: skip
        folder = environment / f"{name}-3.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: 3\nRequires-Dist: {needs}\n"
        )
    found = interpreters.find(f"python:{python}", "driver", tmp_path / "cache")
    _, _, metadata = build.unpack(Path(found.wheel), tmp_path / "side", "driver")
    assert dependencies.of_wheel(metadata) == ("deeper==3", "dep==3", "textract==3", "turbo==3")
    (environment / "deeper-3.dist-info/METADATA").write_text(
        "Metadata-Version: 2.1\nName: deeper\nVersion: 4\n"
    )
    other = interpreters.find(f"python:{python}", "driver", tmp_path / "cache")
    assert other.content != found.content


@pytest.mark.parametrize(("text", "package", "said"), [
    ("python:{tmp}/nothing", "driver", "there is no file"),
    ("python:{tmp}", "driver", "there is no file"),
    ("python:/bin/true", "driver", "is no Python interpreter that runs here"),
    ("python:{tmp}/file", "driver", "is no Python interpreter that runs here"),
    ("python:{tmp}/old", "driver", "CPython 3.11 or newer is needed"),
    ("python:{python}", "absent", "has no package absent: install it there"),
    ("python:{python}", "", "it is not clear which package is measured"),
])  # fmt: skip
def test_what_cannot_be_a_side_is_one_line(environment, toy, tmp_path, text, package, said):
    python = install(environment, toy)
    (tmp_path / "file").write_text("no program")
    (tmp_path / "old").write_text(
        '#!/bin/sh\necho \'{"version": [3, 9, 1], "implementation": "cpython"}\'\n'
    )
    (tmp_path / "old").chmod(0o755)
    with pytest.raises(TargetError, match=said) as error:
        interpreters.find(text.format(tmp=tmp_path, python=python), package, tmp_path / "cache")
    assert "\n" not in str(error.value)


def test_an_implementation_cannot_be_chosen():
    with pytest.raises(TargetError, match="measured as it is"):
        targets.parse("python:/usr/bin/python3@impl:python")


def test_it_runs_the_copy_by_that_interpreter_beside_a_commit(
    environment, toy, cache, toolchain, monkeypatch
):
    monkeypatch.setenv("DRIVER_IMPL", "python")  # what is installed is no variant: it reads ours
    python = install(environment, toy)
    (environment / "driver/work.py").write_text(
        (toy.root / "driver/work.py").read_text().replace("range(times)", "range(3 * times)")
    )
    checkout = Checkout.around(toy.root)
    with Crew() as crew:
        builder = Builder(checkout, cache, crew, toolchain)
        sides = {
            "left": targets.resolve(targets.parse(f"python:{python}"), checkout),
            "right": targets.resolve(targets.parse("HEAD@impl:python"), checkout),
        }
        assert sides["left"].description.startswith("toy-driver 2.5 in CPython")
        found = builder.share({side: [builder.build(each)] for side, each in sides.items()})
        built = {side: each for side, (each,) in found.items()}
        assert built["left"].python == str(python)
        assert built["right"].python == f"{built['right'].packages}/bin/python"
        assert not built["left"].same_as(built["right"])
        bench = Bench(built, SUITES, crew, crew.scratch, None)
        case = Case("toy.time_spin", "toy.time_spin", None, "1", answers_may_differ=True)
        bench.prove([case])
        for side in ("left", "right"):
            assert bench.got.proofs[side][case.name]["proof"]["modules"], bench.got.proofs
        digests = {bench.got.proofs[side][case.name]["proof"]["digest"] for side in built}
        assert len(digests) == 2
        bench.count_allocations([case])
        assert not bench.got.failures
        folder = Path(built["left"].folder)
        assert (folder / "beside.py").is_file()
        assert not (folder / "another.py").exists()
