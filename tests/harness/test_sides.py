"""Sides that are no commits of this repository; projects that need what is not installed here."""

import json
import os
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from benchproof import build, dependencies, released, targets
from benchproof.checkout import Checkout
from benchproof.errors import BuildError, TargetError
from benchproof.processes import Crew
from tests.harness.toy import BUILT_BY_SETUPTOOLS, Repository, wheel

BENCH = """
import acme


def time_spin():
    return acme.spin(40)


def prove():
    return {"modules": {"__init__": acme.__file__}, "digest": str(time_spin())}


time_spin.prove = prove
"""
SPIN = "def spin(times):\n    return sum([number for number in range(times)])\n"
DEARER = "def spin(times):\n    return sum([object() and number for number in range(times)])\n"
HATCH = """
[build-system]
requires = ["hatchling==1.27.0"]
build-backend = "hatchling.build"

[project]
name = "acme"
version = "1"
"""


def benchproof(where, cache, *words):
    env = os.environ | {"BENCHPROOF_CACHE": str(cache), "COLUMNS": "200"}
    return subprocess.run(
        [sys.executable, "-m", "benchproof.cli", *words],
        check=False, capture_output=True, text=True, env=env, cwd=where,
    )  # fmt: skip


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A folder that pip takes for the whole index: what it holds is in no cache of another test."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    return tmp_path / "index"


@pytest.mark.parametrize(
    ("files", "place", "package"),
    [
        ({"acme/__init__.py": ""}, "src/acme", "acme"),
        ({"ns/acme/__init__.py": ""}, "src/ns/acme", "ns.acme"),
        ({"acme.py": ""}, "acme", "acme"),
        ({"acme/__init__.py": "", "acme/core/__init__.py": ""}, "", "acme"),
        ({"other/__init__.py": ""}, "", "other"),
        ({"other/__init__.py": "", "acme/__init__.py": ""}, "", "acme"),
        ({"acme-1.0.data/purelib/acme/__init__.py": ""}, "", "acme"),
    ],
)
def test_the_package_in_a_wheel(tmp_path, files, place, package):
    side = tmp_path / "side"
    side.mkdir()
    found, compiled, metadata = build.unpack(wheel(tmp_path / "w", files), side, place)
    assert (found, compiled) == (package, False)
    assert "Name: acme" in metadata
    assert any(side.joinpath(*package.split(".")).parent.iterdir())


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"a/__init__.py": "", "b/__init__.py": ""}, "holds the packages a, b: 'package' of"),
        ({"readme.txt": ""}, "holds no package"),
        ({"../acme/__init__.py": ""}, "a file outside of it"),
    ],
)
def test_a_wheel_that_cannot_be_measured(tmp_path, files, said):
    side = tmp_path / "side"
    side.mkdir()
    with pytest.raises(BuildError, match=said):
        build.unpack(wheel(tmp_path / "w", files), side)


def test_what_is_no_zip_is_no_wheel(tmp_path):
    file = tmp_path / "acme-1.0-py3-none-any.whl"
    file.write_bytes(b"nothing")
    with pytest.raises(BuildError, match="cannot be read as a wheel"):
        build.unpack(file, tmp_path / "side")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pypi:acme", "write pypi:NAME==VERSION"),
        ("pypi:acme==one two", "write pypi:NAME==VERSION"),
        ("pypi:acme==abc", "'abc' is no version"),
        ("pypi:acme==2.0", r"no wheel of acme 2\.0 for this interpreter \(the newest is 1\.1\)"),
        ("pypi:nothing==1", "no wheel of nothing for this interpreter, or no such project"),
        ("dist/acme-9-py3-none-any.whl", "there is no file dist/acme-9"),
        ("repo:nowhere", "write repo:ADDRESS@REVISION"),
        ("repo:file:///no/such/place@main", "cannot be cloned"),
        ("pypi:acme==1.0@impl:python", "measured as it is"),
    ],
)
def test_a_side_that_cannot_be_had_is_one_line(tmp_path, index, text, said):
    for version in ("1.0", "1.1"):
        wheel(index, {"acme/__init__.py": ""}, version=version)
    with pytest.raises(TargetError, match=said) as error:
        targets.resolve(targets.parse(text), Checkout(tmp_path))
    assert "\n" not in str(error.value)


def test_a_wheel_for_another_interpreter_is_one_line(tmp_path):
    file = wheel(tmp_path, {"acme/__init__.py": ""}, tags="cp27-cp27mu-win32")
    with pytest.raises(TargetError, match="is for cp27-cp27mu-win32, and this interpreter is"):
        released.find(str(file), tmp_path)


def test_a_release_is_downloaded_once(tmp_path, index, monkeypatch):
    wheel(index, {"acme/__init__.py": ""})
    first = released.find("pypi:acme==1.0", tmp_path)
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "empty"))
    assert released.find("pypi:acme==1.0", tmp_path) == first


def test_what_is_missing():
    assert dependencies.missing(["pytest>=1", "nothing-like-it>=2", "pytest<1"]) == [
        "nothing-like-it>=2", "pytest<1",
    ]  # fmt: skip
    assert not dependencies.missing(["nothing; sys_platform == 'nowhere'"])
    assert dependencies.missing(["not a requirement"]) == ["not a requirement"]
    needs = dependencies.of_wheel(
        "Name: a\nRequires-Dist: b>1\nRequires-Dist: c; extra == 'all'\n\nRequires-Dist: d\n"
    )
    assert dependencies.missing(needs) == ["b>1"]


@pytest.fixture(params=["pip", "uv"])
def installer(request, index, monkeypatch):
    """Who installs: both must give the same."""
    monkeypatch.setenv("UV_CACHE_DIR", str(index / "cache"))
    uv = dependencies.uv()
    if request.param == "uv" and not uv:
        pytest.skip("there is no uv here")
    if request.param == "uv":
        words = uv[1:]
        monkeypatch.setattr(dependencies, "uv", lambda *more: [uv[0], *more, *words])
        monkeypatch.setattr(dependencies, "_PIP", ["false"])
    else:
        monkeypatch.setattr(dependencies, "uv", lambda *_: [])


@pytest.fixture
def provider(tmp_path):
    with Crew() as crew:
        yield dependencies.Dependencies(tmp_path / "cache", crew)


def held(folder):
    return json.loads(dependencies.identity(folder) or "{}")


@pytest.mark.usefixtures("installer")
def test_missing_packages_are_installed_once_with_what_they_need(provider, index):
    wheel(index, {"dep/__init__.py": ""}, "dep", needs=["deeper"])
    wheel(index, {"deeper.py": ""}, "deeper")
    folder = provider.provide(["dep==1.0"])
    assert held(folder) == {"deeper": "1.0", "dep": "1.0"}
    assert list(Path(folder).rglob("deeper*.pyc"))
    assert provider.provide(["dep==1.0"]) == folder
    # What is installed here is not installed again.
    assert held(provider.provide(["dep==1.0", "pytest"])) == held(folder)
    assert provider.provide(["pytest"]) == ""
    with pytest.raises(BuildError, match=r"pip cannot install dep==2:"):
        provider.provide(["dep==2"])


def test_why_pip_cannot_install_is_quoted(provider, index):
    wheel(index, {"dep/__init__.py": ""}, "dep")
    with pytest.raises(BuildError, match=r"pip cannot install dep==2:\n.*dep==2"):
        provider.provide(["dep==2"])


def test_what_is_installed_is_told_by_what_holds_here_and_in_few_words(provider, index, tell):
    for name in ("one", "two", "three", "four"):
        wheel(index, {f"{name}.py": ""}, name)
    whole = replace(provider, whole=True, tell=tell)
    whole.provide(["four", "one; python_version > '3'", "three<2,>=1", "two; extra == 'all'",
                   "two; sys_platform == 'nowhere'"])  # fmt: skip
    whole.provide(["two; sys_platform == 'nowhere'"])
    assert tell.text.count("installing") == 1
    assert "installing four, one, three<2,>=1\n" in tell.text
    with pytest.raises(BuildError, match=r"^pip cannot install one, three, three>1 and 1 more:\n"):
        whole.provide(["one; python_version > '3'", "three", "three>1", "two"])


@pytest.fixture
def unreached(index, monkeypatch):
    """A folder of packages, and an index at which nobody answers."""
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "1")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    return index


def test_an_index_that_is_not_reached_is_asked_once_and_named_as_the_reason(
    provider, unreached, here, monkeypatch
):
    wheel(unreached, {"dep.py": ""}, "dep")
    here("near", "1.0")
    started, start = [], Crew.start

    def noted(crew, words, **about):
        started.append(words)
        return start(crew, words, **about)

    monkeypatch.setattr(Crew, "start", noted)
    monkeypatch.setattr(dependencies, "uv", lambda *_: [])
    for each in (provider, replace(provider, whole=True)):
        with pytest.raises(BuildError) as error:
            each.together({"left": {"absent", "near"}, "right": {"absent>=2", "near"}})
        assert str(error.value).startswith("pip cannot install absent")
        assert str(error.value).endswith(f": {dependencies.UNREACHED}")
        assert len([words for words in started if "--no-index" not in words]) == 1
        started.clear()
    # What the folder and the packages here have is enough.
    folder = replace(provider, whole=True).provide(["dep", "near"])
    assert run_by(folder, "import dep, near; print('found')") == "found"


def test_a_release_that_an_index_may_have_which_is_not_reached_is_not_said_to_be_missing(
    tmp_path, unreached
):
    with pytest.raises(TargetError, match=r"^acme 1\.0 cannot be downloaded: a package index was"):
        released.find("pypi:acme==1.0", tmp_path)
    assert not unreached.exists()


def test_settings_of_pip_that_uv_does_not_know_leave_it_to_pip(index, monkeypatch):
    if not dependencies.uv("pip"):
        pytest.skip("there is no uv here")
    assert dependencies.uv("pip")[1:] == ["pip", "--find-links", str(index), "--no-index"]
    monkeypatch.setenv("PIP_CONSTRAINT", "limits.txt")
    assert dependencies.uv("pip") == []


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Packages as if they were installed beside the tool."""

    def install(name, version, needs=(), top=""):
        held = {f"{top or name}.py": "", f"{name}-{version}.dist-info/top_level.txt": top or name}
        wheel(tmp_path / "built", held, name, version, needs=needs)
        with zipfile.ZipFile(tmp_path / f"built/{name}-{version}-py3-none-any.whl") as archive:
            archive.extractall(tmp_path / "here/site-packages")

    monkeypatch.syspath_prepend(tmp_path / "here/site-packages")
    return install


@pytest.mark.usefixtures("installer")
def test_what_is_installed_counts_only_with_all_that_it_needs(provider, index, here):
    here("near", "1.0", ["deeper>=2"])
    here("deeper", "1.0")
    assert dependencies.missing(["near"]) == ["near"]
    here("whole", "1.0", ["deeper<2; python_version > '3'", "absent; extra == 'all'"])
    assert dependencies.missing(["whole"]) == []
    assert dependencies.missing(["whole[all]"]) == ["whole[all]"]
    assert dependencies.versions(["whole"]) == {"deeper": "1.0", "whole": "1.0"}
    # What is missing brings no other version of what is used as it is installed...
    wheel(index, {"dep.py": ""}, "dep", needs=["deeper"])
    for version in ("1.0", "2.0"):
        wheel(index, {"deeper.py": ""}, "deeper", version)
        wheel(index, {"whole.py": ""}, "whole", version, needs=[f"deeper=={version}"])
    folder = provider.provide(["dep", "whole"])
    assert held(folder) == {"deeper": "1.0", "dep": "1.0"}
    assert dependencies.versions(["dep", "whole"], provider.path(folder)) == {
        "deeper": "1.0", "dep": "1.0", "whole": "1.0",
    }  # fmt: skip
    # ... but where it must: then nothing is used as it is.
    wanted = ["deeper>=2", "whole", "absent; extra == 'all'"]
    assert held(provider.provide(wanted)) == {"deeper": "2.0", "whole": "2.0"}


@pytest.mark.usefixtures("installer")
def test_sides_that_exclude_each_other_differ_in_nothing_else(provider, index, here, monkeypatch):
    here("attrs", "1.0")
    for version in ("1.0", "2.0"):
        wheel(index, {"attrs.py": ""}, "attrs", version)
        wheel(index, {"shared.py": ""}, "shared", version)
        wheel(index, {"old.py": ""}, "old", version, needs=["attrs<2", "shared<2"])
    # The left one is content with what is installed, but the right one is not.
    assert provider.together({"left": {"attrs<2"}, "right": {"attrs>=2"}}) == {
        "left": "", "right": provider.provide(["attrs>=2"]),
    }  # fmt: skip
    assert provider.together({"left": {"attrs"}, "right": {"attrs>=2"}}) == dict.fromkeys(
        ("left", "right"), provider.provide(["attrs", "attrs>=2"])
    )
    wanted = {"left": {"attrs>=2", "shared"}, "right": {"old"}}
    found = provider.together(wanted)
    assert held(found["left"]) == {"attrs": "2.0", "shared": "1.0"}
    assert held(found["right"])["shared"] == "1.0"
    monkeypatch.setattr(dependencies.Dependencies, "install", None)  # a second install would fail
    assert provider.together(wanted) == found


def run_by(folder, text):
    """What the interpreter of an environment says, in a process of its own."""
    words = [f"{folder}/bin/python", "-P", "-c", text]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.usefixtures("installer")
def test_an_environment_has_what_is_asked_for_and_nothing_that_lies_beside_the_tool(
    provider, index, here
):
    here("deeper", "1.0")
    here("other", "1.0")
    points = "[console_scripts]\ndep-run = dep:main\n[some.group]\nname = dep:main\n"
    held = {
        "dep.py": "def main():\n    print('ran')\n",
        "dep-1.0.dist-info/entry_points.txt": points,
    }
    wheel(index, held, "dep", needs=["deeper"])
    for version in ("1.0", "2.0"):
        wheel(index, {"deeper.py": ""}, "deeper", version)
    whole = replace(provider, whole=True)
    folder = whole.provide(["dep", "deeper"])
    # In the version that lies beside the tool, where that will do.
    assert dependencies.versions(["dep"], whole.path(folder)) == {"deeper": "1.0", "dep": "1.0"}
    assert dependencies.versions(["other", "pytest"], whole.path(folder)) == {}
    names = ["dep", "deeper", "other", "pytest", "benchproof"]
    asked = f"import importlib.util as u; print(*[n for n in {names} if u.find_spec(n)])"
    assert run_by(folder, asked) == "dep deeper"
    points = "from importlib.metadata import entry_points as e; print(*e(group='some.group').names)"
    assert run_by(folder, points) == "name"
    script = [f"{folder}/bin/dep-run"]
    assert subprocess.run(script, check=True, capture_output=True, text=True).stdout == "ran\n"
    assert whole.provide(["deeper", "dep"]) == folder
    assert run_by(whole.provide([]), asked) == ""


def test_an_environment_that_was_left_half_made_is_made_again(provider, index):
    wheel(index, {"dep.py": ""}, "dep")
    whole = replace(provider, whole=True)
    folder = Path(whole.provide(["dep"]))
    (folder / "made").unlink()
    (folder / "bin/python").unlink()
    assert whole.provide(["dep"]) == str(folder)
    assert run_by(folder, "import dep; print('found')") == "found"


def test_what_no_index_has_is_taken_with_all_that_is_installed_here_and_that_is_told(
    provider, index, here, tell
):
    index.mkdir()
    here("near", "1.0")
    whole = replace(provider, whole=True, tell=tell)
    folder = whole.provide(["near"])
    said = "no index gives all that the sides require as it is installed beside benchproof, so both"
    assert tell.text.count(said) == 1
    assert run_by(folder, "import near, pytest; print('found')") == "found"
    assert dependencies.versions(["near"], whole.path(folder)) == {"near": "1.0"}
    # It is told again, and nothing is asked for again.
    assert replace(whole, crew=None).provide(["near"]) == folder
    assert tell.text.count(said) == 2
    with pytest.raises(BuildError, match="pip cannot install absent:"):
        whole.provide(["near", "absent"])
    wheel(index, {"dep.py": ""}, "dep")
    assert run_by(whole.provide(["near", "dep"]), "import near, dep; print('found')") == "found"


def test_an_index_is_not_asked_for_what_was_installed_from_a_folder(
    provider, tmp_path, index, here
):
    here("near", "1.0")
    about = tmp_path / "here/site-packages/near-1.0.dist-info/direct_url.json"
    about.write_text('{"url": "file:///near", "dir_info": {"editable": true}}')
    wheel(index, {"near.py": "raise SystemExit('a stranger')"}, "near", "1.0")
    folder = replace(provider, whole=True).provide(["near"])
    assert run_by(folder, "import near; print('found')") == "found"
    # Beside another interpreter something else is installed.
    (tmp_path / "other/site-packages").mkdir(parents=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(tmp_path / "other/site-packages")
        assert replace(provider, whole=True).provide(["near"]) != folder


def test_what_benchmarks_import_and_nothing_declares_comes_from_beside_the_tool(
    tmp_path, index, here, toolchain, tell
):
    here("extra", "1.0", top="extra_module")
    here("unused", "1.0")
    for version in ("1.0", "2.0"):
        wheel(index, {"extra_module.py": ""}, "extra", version)
    project = Repository(tmp_path / "acme")
    rest = 'name = "acme"\n[tool.setuptools]\npackages = ["acme"]\n'
    project.write("pyproject.toml", BUILT_BY_SETUPTOOLS + rest)
    project.write("acme/__init__.py", SPIN)
    project.write("benchmarks/helper.py", "")
    project.write("extra_module.ini", "")
    project.write("acme/optional.py", "import unused")
    project.write(
        "benchmarks/hot.py", "import helper, json, no_such\nimport extra_module\n" + BENCH
    )
    project.commit("one")
    checkout = Checkout.around(project.root)
    with Crew() as crew:
        builder = build.Builder(checkout, tmp_path / "cache", crew, toolchain, tell)
        built = builder.build(targets.resolve(targets.parse("HEAD"), checkout))
    assert built.versions == {"extra": "1.0"}
    assert "the benchmarks import extra, which nothing declares: added as installed" in tell.text


def test_both_sides_are_built_by_the_same_tools_where_both_allow_it(
    tmp_path, index, here, toolchain
):
    here("maker", "1.0")
    for version in ("1.0", "2.0"):
        wheel(index, {"maker.py": ""}, "maker", version)
    project = Repository(tmp_path / "acme")
    for asked in ("maker", "maker>=2", "maker<2"):
        project.write("pyproject.toml", f'[build-system]\nrequires = ["{asked}"]\n')
        project.write("acme/__init__.py", SPIN)
        project.commit(asked)
    checkout = Checkout.around(project.root)
    any_, new, old = (
        targets.resolve(targets.parse(text), checkout) for text in ("HEAD~2", "HEAD~1", "HEAD")
    )
    with Crew() as crew:
        builder = build.Builder(checkout, tmp_path / "cache", crew, toolchain)
        found = builder.tools({"left": any_, "right": new})
        assert [held(found[side]) for side in ("left", "right")] == [{"maker": "2.0"}] * 2
        assert builder.tools({"left": any_, "right": old}) == {"left": "", "right": ""}
        found = builder.tools({"left": old, "right": new})
        assert [held(found[side]) for side in ("left", "right")] == [{}, {"maker": "2.0"}]


@pytest.mark.slow
def test_two_wheels_are_compared_outside_of_any_repository(tmp_path, index):
    wheel(index, {"dep/__init__.py": ""}, "dep")
    where = tmp_path / "where"
    where.mkdir()
    (where / "bench.py").write_text(BENCH, encoding="utf-8")
    # What lies beside the tool is not there.
    alone = "import dep, importlib.util\nassert not importlib.util.find_spec('packaging')\n"
    wheel(index, {"acme/__init__.py": alone + SPIN}, needs=["dep"])
    file = wheel(tmp_path, {"acme/__init__.py": alone + DEARER}, version="2", needs=["dep"])
    words = ("compare", "pypi:acme==1.0", str(file), "--suites", "bench.py", "--meters",
             "allocations", "--json", "out.json")  # fmt: skip
    answer = benchproof(where, tmp_path / "cache", *words)
    assert answer.returncode == 1, answer.stdout + answer.stderr
    assert "installing dep" in answer.stderr
    document = json.loads((where / "out.json").read_text())
    assert document["left"]["description"] == "acme 1.0 [pure]"
    assert document["right"]["description"] == "acme 2 [pure]"
    (row,) = (row for row in document["cases"] if row["suite"] == "bench")
    assert row["meters"]["allocations"]["verdict"] == "regressed"


@pytest.mark.slow
def test_sides_that_exclude_each_other_get_packages_of_their_own(tmp_path, index):
    for version in ("1.0", "2.0"):
        wheel(index, {"dep/__init__.py": ""}, "dep", version=version)
        # The same files: what they need alone makes them two sides.
        wheel(index, {"acme/__init__.py": f"import dep\n{SPIN}"}, version=version,
              needs=[f"dep=={version}"])  # fmt: skip
    (tmp_path / "bench.py").write_text(BENCH, encoding="utf-8")
    answer = benchproof(
        tmp_path, tmp_path / "cache", "compare", "pypi:acme==1.0", "pypi:acme==2.0",
        "--suites", "bench.py", "--meters", "allocations", "--json", "out.json",
    )  # fmt: skip
    assert answer.returncode == 0, answer.stdout + answer.stderr
    said = "the sides need different packages: dep 1.0 and 2.0"
    assert said in answer.stderr, answer.stderr
    assert f"warning: dependencies: {said}" in answer.stdout
    document = json.loads((tmp_path / "out.json").read_text())
    assert [document[side]["dependencies"] for side in ("left", "right")] == [
        {"dep": "1.0"}, {"dep": "2.0"},
    ]  # fmt: skip


@pytest.mark.slow
def test_a_commit_that_excludes_the_other_one_s_dependency_is_measured_with_its_own(
    tmp_path, index
):
    for version, text in (("1.0", SPIN), ("2.0", DEARER)):
        wheel(index, {"dep.py": text}, "dep", version)
    project = Repository(tmp_path / "acme")
    project.write("acme/__init__.py", "from dep import spin\n")
    project.write("benchmarks/hot.py", BENCH)
    for bound in ("dep<2", "dep>=2"):
        rest = (
            f'name = "acme"\ndependencies = ["{bound}"]\n[tool.setuptools]\npackages = ["acme"]\n'
        )
        project.write("pyproject.toml", BUILT_BY_SETUPTOOLS + rest)
        project.commit(bound)
    answer = benchproof(
        project.root, tmp_path / "cache", "compare", "HEAD~1", "HEAD", "--meters", "allocations",
    )  # fmt: skip
    assert answer.returncode == 1, answer.stdout + answer.stderr
    assert "the sides need different packages: dep 1.0 and 2.0" in answer.stderr
    assert "hot.time_spin" in answer.stdout
    # A history as well.
    answer = benchproof(project.root, tmp_path / "cache", "history", "--meters", "allocations")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert "2 measured" in answer.stdout
    counted = {
        held["commit_hash"]: held["results"]["hot.track_spin_allocations"][0][0]
        for held in map(
            json.loads, map(Path.read_text, (project.root / "reports").rglob("*-py*.json"))
        )
    }
    before, after = (counted[project.git("rev-parse", commit)] for commit in ("HEAD~1", "HEAD"))
    assert after >= before + 39


@pytest.fixture
def hatched(tmp_path):
    """A project of another build backend, whose newest commit is dearer."""
    project = Repository(tmp_path / "acme")
    for name, text in {
        "pyproject.toml": HATCH,
        "src/acme/__init__.py": SPIN,
        "benchmarks/__init__.py": "",
        "benchmarks/hot.py": BENCH,
    }.items():
        project.write(name, text)
    project.commit("a package")
    project.write("src/acme/__init__.py", DEARER)
    project.commit("an object more")
    return project


@pytest.mark.slow
def test_a_project_is_built_by_its_own_backend_and_configures_nothing(hatched, cache):
    answer = benchproof(hatched.root, cache, "compare", "HEAD~1", "HEAD", "--meters", "allocations")
    assert answer.returncode == 1, answer.stdout + answer.stderr
    assert "installing hatchling==1.27.0" in answer.stderr
    assert hatched.git("status", "--short") == ""


@pytest.mark.slow
def test_one_file_of_benchmarks_from_elsewhere_stands_for_both_sides(hatched, cache, tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text((hatched.root / "benchmarks/hot.py").read_text())
    answer = benchproof(
        hatched.root, cache, "compare", "HEAD~1", "HEAD", "--meters", "allocations",
        "--suites", str(mine), "--json", str(tmp_path / "a.json"),
    )  # fmt: skip
    assert answer.returncode == 1, answer.stdout + answer.stderr
    document = json.loads((tmp_path / "a.json").read_text())
    assert (document["trouble"], document["excluded"]) == ([], [])
    assert [row["verdict"] for row in document["cases"] if row["name"].startswith("mine.")] == [
        "regressed"
    ]


@pytest.mark.slow
def test_a_commit_of_another_repository_is_a_side(hatched, cache, tmp_path):
    fork = tmp_path / "fork"
    hatched.git("clone", "--quiet", str(hatched.root), str(fork))
    for address in (str(fork), fork.as_uri()):
        answer = benchproof(
            hatched.root, cache, "compare", f"repo:{address}@main~1", ".",
            "--meters", "allocations",
        )  # fmt: skip
        assert answer.returncode == 1, answer.stdout + answer.stderr
        assert "regressed" in answer.stdout


def test_a_pull_request_of_a_bare_repository_is_a_side(tmp_path):
    """What no branch has: a forge keeps it as refs/pull/NUMBER/head, and a clone leaves it out."""
    origin = Repository(tmp_path / "origin")
    origin.write("acme/__init__.py", SPIN)
    origin.write("pyproject.toml", BUILT_BY_SETUPTOOLS + 'name = "acme"\n')
    origin.commit("a package")
    bare = tmp_path / "bare.git"
    origin.git("clone", "--quiet", "--bare", str(origin.root), str(bare))
    project = Checkout(tmp_path / "project")
    for address in (str(bare), bare.as_uri()):
        assert targets.resolve(targets.parse(f"repo:{address}@main"), project).commit
        for text in (SPIN + "A = 1\n", DEARER):  # which is pushed again
            origin.git("switch", "--quiet", "--force-create", "proposal", "main")
            origin.write("acme/__init__.py", text)
            pushed = origin.commit(f"a proposal for {address}")
            origin.git("push", "--quiet", "--force", str(bare), "proposal:refs/pull/7/head")
            for revision in ("refs/pull/7/head", pushed):
                side = targets.resolve(targets.parse(f"repo:{address}@{revision}"), project)
                assert side.commit == pushed
                assert side.content
        with pytest.raises(TargetError, match="'refs/pull/8/head' names nothing"):
            targets.resolve(targets.parse(f"repo:{address}@refs/pull/8/head"), project)
