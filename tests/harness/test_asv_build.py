"""The build_command and install_command of asv's configuration are run as asv runs them."""

import json
from pathlib import Path

import pytest
from asv.util import UserError, interpolate_command

from benchproof import asv_build, builds, dependencies, targets
from benchproof.checkout import Checkout, Place
from benchproof.errors import BuildError
from benchproof.processes import Crew
from tests.harness.toy import Repository, wheel

KNOWN = {"build_dir": "/b d", "env_dir": "/e", "wheel_file": "/w.whl"}
#: A build script that needs no backend: what it is told goes into the wheel.
MAKE = """
import json, os, sys, zipfile
place, *told = sys.argv[1:]
told = {"told": told, "folder": os.getcwd(), "variables": {
    name: value for name, value in os.environ.items() if name.startswith(("ASV", "TOY"))}}
files = {
    "acme/__init__.py": open("acme/__init__.py").read(), "acme/told.json": json.dumps(told),
    "acme-1.dist-info/METADATA": "Metadata-Version: 2.1\\nName: acme\\nVersion: 1\\n"
                                 "Provides-Extra: more\\nRequires-Dist: dep; extra == 'more'\\n",
    "acme-1.dist-info/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    "acme-1.dist-info/RECORD": "",
}
with zipfile.ZipFile(os.path.join(place, "acme-1-py3-none-any.whl"), "w") as archive:
    for name, text in files.items():
        archive.writestr(name, text)
"""
BUILD = [
    "return-code=3 python -c 'raise SystemExit(3)'",
    "TOY_NEW=1 python make.py {build_cache_dir} {project} {env_type} {conf_dir} {commit}",
]


@pytest.mark.parametrize("text", [
    "python -m pip", "A=1 B='2 3' make {build_dir}", "make {nothing}", "return-code=no x",
    "in-dir={env_dir} return-code=0,3 x '{wheel_file}'", "return-code=any in-dir=a x in-dir=b",
    "A=1 return-code=2 B=3 make C=4", "x=  y", "return-code=1 return-code=2 x",
])  # fmt: skip
def test_a_command_is_read_as_asv_reads_it(text):
    try:
        expected = interpolate_command(text, KNOWN)
    except UserError:
        with pytest.raises(BuildError, match="asv's command"):
            asv_build.parse(text, KNOWN)
    else:
        assert tuple(asv_build.parse(text, KNOWN)) == expected


@pytest.mark.parametrize("text", ["", "A=1", "make 'x", "make {", "return-code=x make"])
def test_what_is_no_command_is_one_line(text):
    with pytest.raises(BuildError, match="asv's command") as error:
        asv_build.parse(text, KNOWN)
    assert "\n" not in str(error.value)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project that only its own script builds, and an index with what asv installs anywhere."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv"))
    for name in ("build", "wheel", "dep"):
        wheel(tmp_path / "index", {f"{name}.py": ""}, name)
    made = Repository(tmp_path / "acme")
    made.write("make.py", MAKE)
    made.write("setup.py", "raise SystemExit('nobody runs it')\n")
    made.write("acme/__init__.py", "ONE = 1\n")
    return made


def build(project, cache, toolchain, **conf):
    """The side of the newest commit."""
    project.write("asv.conf.json", json.dumps({"version": 1, "project": "acme", **conf}))
    project.commit("another configuration")
    checkout = Checkout.around(project.root)
    with Crew() as crew:
        target = targets.resolve(targets.parse("HEAD"), checkout)
        return builds.one("HEAD", Place(checkout, project.root, cache, toolchain), crew), target


def read(built, name):
    return Path(built.folder, "acme", name).read_text()


@pytest.mark.slow
def test_a_build_command_makes_the_side(project, tmp_path, toolchain):
    matrix = {"req": {"dep": ["1.0"]}, "env": {"TOY_SET": ["x"]}}
    built, target = build(
        project, tmp_path / "cache", toolchain, build_command=BUILD, matrix=matrix,
    )  # fmt: skip
    made = json.loads(read(built, "told.json"))
    assert made["told"] == ["acme", "virtualenv", str(project.root), target.commit]
    assert made["variables"]["TOY_NEW"] == "1"
    assert made["variables"]["TOY_SET"] == "x"
    assert made["variables"]["ASV"] == "true"
    assert made["variables"]["ASV_BUILD_DIR"] == made["folder"]
    assert made["variables"]["ASV_COMMIT"] == target.commit
    assert built.versions == {"dep": "1.0"}
    assert project.git("status", "--short") == ""
    # Other commands make another side; the same ones the same.
    again, _ = build(
        project, tmp_path / "cache", toolchain, build_command=BUILD[1:], matrix=matrix,
    )  # fmt: skip
    assert again.key != built.key


@pytest.mark.slow
@pytest.mark.parametrize("command", [
    "in-dir={env_dir} python -m pip install {wheel_file}[more]",
    ["python -m pip install {wheel_file}", "python -m pip install dep"],
])  # fmt: skip
def test_an_install_command_decides_what_is_installed_beside(project, tmp_path, toolchain, command):
    built, _ = build(
        project, tmp_path / "cache", toolchain, build_command=BUILD[1], install_command=command,
    )  # fmt: skip
    assert read(built, "__init__.py") == "ONE = 1\n"
    assert (built.package, built.needs) == ("acme", ("dep==1.0",))
    assert built.versions == {"dep": "1.0"}
    assert dependencies.identity(dependencies.site_packages(built.packages)) == '{"dep": "1.0"}'


@pytest.mark.slow
@pytest.mark.parametrize(("conf", "said"), [
    ({"build_command": ["python -c 'import sys; print(5); sys.exit(4)'"]},
     r"HEAD: python -c .* \(status 4\):\n  5"),
    ({"build_command": ["no-such-program"]}, "no-such-program: No such file"),
    ({"build_command": []}, r"build_command left 0 wheels in {build_cache_dir}"),
    ({"build_command": [], "install_command": ["python -m pip install {wheel_file}x"]},
     r"asv's command .*'wheel_file'; there are {build_cache_dir}"),
    ({"build_command": BUILD, "install_command": []},
     r"install_command left no package acme in {env_dir}"),
])  # fmt: skip
def test_commands_that_leave_nothing_are_told(project, tmp_path, toolchain, conf, said):
    with pytest.raises(BuildError, match=said):
        build(project, tmp_path / "cache", toolchain, **conf)
