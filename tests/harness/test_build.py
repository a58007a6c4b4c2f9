"""Sides become directories once for each content, and failures become lines."""

import re
import subprocess
import sys
import sysconfig
from dataclasses import replace
from pathlib import Path

import pytest

from benchproof import build, targets, variables
from benchproof.checkout import Checkout
from benchproof.errors import BuildError, NoSpaceError
from benchproof.processes import Crew, Finished
from benchproof.toolchain import failure
from benchproof.variants import UNNAMED
from tests.harness import toy as toy_module


@pytest.fixture
def builder(place):
    with Crew() as crew:
        yield build.Builder(place.checkout, place.cache, crew, place.toolchain)


@pytest.fixture
def no_compiler(builder, toolchain):
    broken = replace(toolchain, compiler="", why_not="/bin/false ended with status 1")
    return replace(builder, toolchain=broken)


def built(builder, text):
    return builder.build(targets.resolve(targets.parse(text), builder.checkout))


@pytest.mark.slow
@pytest.mark.usefixtures("compiler")
def test_equal_content_is_built_once_whatever_it_is_called(toy, builder, monkeypatch):
    one = built(builder, "HEAD")
    toy.write("README.md", "words")
    toy.commit("words only")
    monkeypatch.setattr(build.Builder, "_wheel", None)  # a second build would fail
    assert built(builder, "HEAD") == built(builder, ".") == built(builder, "HEAD@impl:cython")
    assert built(builder, "HEAD").folder == one.folder


@pytest.mark.slow
@pytest.mark.usefixtures("compiler")
def test_a_side_holds_the_driver_and_nothing_that_could_shadow_a_dependency(builder):
    side = Path(built(builder, "HEAD").folder)
    packages = {path.name for path in side.iterdir() if path.is_dir()}
    assert packages == {"driver", "toy-1.dist-info"}
    assert list(side.rglob("work*.so"))
    assert list(side.rglob("__pycache__/work*.pyc"))


@pytest.mark.slow
@pytest.mark.usefixtures("compiler")
def test_an_implementation_of_its_own_is_a_build_of_its_own(builder):
    pure, compiled = (built(builder, f"HEAD@impl:{impl}") for impl in ("python", "cython"))
    assert (pure.impl, pure.compiled) == ("python", False)
    assert (compiled.impl, compiled.compiled) == ("cython", True)
    assert pure.key != compiled.key


@pytest.mark.slow
def test_a_rebuilt_wheel_is_the_same_wheel(builder, tmp_path):
    again = replace(builder, cache=tmp_path / "another-cache")
    assert built(builder, "HEAD").wheel_sha256 == built(again, "HEAD").wheel_sha256


@pytest.mark.slow
@pytest.mark.usefixtures("compiler")
def test_a_compiler_error_is_quoted(toy, builder):
    toy.edit("driver/_cython/work.c", "PyInit_work(void)", "PyInit_work(void")
    with pytest.raises(BuildError) as failure:
        built(builder, ".")
    first, *quoted = str(failure.value).splitlines()
    assert first.startswith(". does not build")
    assert any("work.c" in line and "error" in line for line in quoted)
    assert len(quoted) <= 12


@pytest.mark.slow
def test_without_a_compiler_a_side_is_pure_and_says_why(no_compiler):
    side = built(no_compiler, "HEAD")
    assert side.impl == "python"
    assert "/bin/false" in side.why_pure


def test_without_a_compiler_asking_for_cython_is_refused(no_compiler):
    with pytest.raises(BuildError, match=r"asks for cython, which is compiled.*/bin/false"):
        built(no_compiler, "HEAD@impl:cython")


@pytest.mark.slow
@pytest.mark.usefixtures("compiler")
def test_a_side_without_compiled_modules_cannot_be_asked_for_them(toy, builder):
    toy.edit("setup.py", "ext_modules=TWINS", "ext_modules=[]")
    with pytest.raises(BuildError, match="no compiled modules"):
        built(builder, ".@impl:cython")
    side = built(builder, ".")
    assert (side.impl, bool(side.why_pure)) == ("python", True)


def test_the_tools_are_part_of_a_build_s_name(place, builder, toolchain):
    target = targets.resolve(targets.parse("HEAD"), place.checkout)
    other = replace(builder, toolchain=replace(toolchain, identity=("another compiler",)))
    assert builder.key(target, UNNAMED) != other.key(target, UNNAMED)


def test_the_interpreter_s_own_flags_stay_when_ours_are_added(monkeypatch, tmp_path):
    monkeypatch.delenv("CFLAGS", raising=False)
    flags = build.build_environment(variables.passed(), {}, tmp_path)["CFLAGS"]
    assert str(sysconfig.get_config_var("CFLAGS")) in flags
    monkeypatch.setenv("CFLAGS", "-O1")
    flags = build.build_environment(variables.passed(), {}, tmp_path)["CFLAGS"]
    assert flags.startswith("-O1 ")


READS_A_VARIABLE = """
import os
from pathlib import Path
Path("driver/flag.py").write_text(f"FLAG = {os.environ.get('TOY_FLAG')!r}\\n")
"""


def flag_of(side):
    return Path(side.folder, "driver", "flag.py").read_text().split()[-1]


@pytest.fixture
def with_flag(toy):
    toy.write("setup.py", READS_A_VARIABLE + toy_module.SETUP)
    return toy


@pytest.mark.slow
def test_a_variable_that_the_project_names_makes_another_build(with_flag, place, monkeypatch):
    named = (
        toy_module.PYPROJECT
        + toy_module.VARIANTS
        + '[tool.benchproof]\nbuild-variables = ["TOY_*"]\n'
    )
    with_flag.write("pyproject.toml", named)
    monkeypatch.delenv("TOY_FLAG", raising=False)
    seen = []
    with Crew() as crew:
        for value in ("slow", "fast"):
            monkeypatch.setenv("TOY_FLAG", value)
            fresh = Checkout.around(with_flag.root)
            builder = build.Builder(fresh, place.cache, crew, place.toolchain)
            seen.append(built(builder, ".@impl:python"))
    assert [flag_of(side) for side in seen] == ["'slow'", "'fast'"]
    assert seen[0].key != seen[1].key


@pytest.mark.slow
def test_another_variable_reaches_no_build_and_that_is_told(with_flag, builder, tell, monkeypatch):
    monkeypatch.setenv("TOY_FLAG", "slow")
    one = built(replace(builder, tell=tell), ".@impl:python")
    assert flag_of(one) == "None"
    assert "setup.py reads TOY_FLAG, which is set here but not passed to builds" in tell.text
    monkeypatch.setenv("TOY_FLAG", "fast")
    assert built(builder, ".@impl:python").key == one.key
    del with_flag


def test_every_variable_that_is_passed_is_part_of_a_build_s_name(place, builder, monkeypatch):
    target = targets.resolve(targets.parse("HEAD"), place.checkout)
    keys = {builder.key(target, UNNAMED)}
    for name in ("CPATH", "CXXFLAGS", "SETUPTOOLS_SCM_PRETEND_VERSION", "RUSTFLAGS"):
        monkeypatch.setenv(name, "-x")
        keys.add(builder.key(target, UNNAMED))
    assert len(keys) == 5


def test_an_activated_environment_is_the_same_as_its_interpreter_called_by_path(monkeypatch):
    programs = sysconfig.get_path("scripts")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    called = variables.passed()
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    assert variables.passed() == called


@pytest.mark.slow
@pytest.mark.usefixtures("compiler")
def test_a_build_that_was_refused_is_tried_again(toy, builder, tmp_path):
    missing = tmp_path / "a-library-of-the-system"
    toy.edit("setup.py", "ext_modules=TWINS",
             f"ext_modules=TWINS if os.path.exists({str(missing)!r}) else []")  # fmt: skip
    with pytest.raises(BuildError, match="no compiled modules"):
        built(builder, ".@impl:cython")
    missing.touch()
    assert built(builder, ".@impl:cython").compiled


@pytest.mark.slow
@pytest.mark.usefixtures("compiler")
def test_an_optional_extension_that_failed_is_tried_again(toy, builder, tmp_path):
    missing = tmp_path / "a_header.h"
    source = '["driver/_cython/work.c"]'
    folders = f"{source}, include_dirs=[{str(tmp_path)!r}], optional=True"
    toy.edit("setup.py", source, folders)
    includes = "#include <Python.h>\n"
    toy.edit("driver/_cython/work.c", includes, f"{includes}#include <a_header.h>\n")
    pure = built(builder, ".")
    assert (pure.impl, pure.compiled) == ("python", False)
    assert "did not compile" in pure.why_pure
    missing.touch()
    assert built(builder, ".").compiled


@pytest.mark.slow
def test_whoever_waits_hears_which_side_is_built_and_which_was(builder, tell, tmp_path):
    hearing = replace(builder, cache=tmp_path / "cache", tell=tell)
    built(hearing, "HEAD@impl:python")
    built(hearing, "HEAD@impl:python")
    first, second, third = tell.text.splitlines()
    side = r"\d\d:\d\d:\d\d HEAD@impl:python \[python\]: "
    assert re.fullmatch(side + "building", first)
    assert re.fullmatch(side + r"built in \d+ s", second)
    assert re.fullmatch(side + "built before, taken from the cache", third)


@pytest.mark.slow
def test_a_build_that_takes_long_says_so(builder, tell, tmp_path, monkeypatch):
    monkeypatch.setattr(build, "_STILL", 0.05)
    built(replace(builder, cache=tmp_path / "cache", tell=tell), "HEAD@impl:python")
    assert "[python]: still building, 0 s so far" in tell.text


def test_a_full_disk_during_a_build_is_told_as_one(place, tmp_path):
    log = tmp_path / "log"
    log.write_text("cc1: fatal error: closing x.o: No space left on device\n")
    with pytest.raises(NoSpaceError, match="no space left"):
        failure("HEAD does not build", Finished(1, log), place.cache)


def test_the_harness_never_imports_the_driver():
    names = ("cli", "compare", "job", "table", "build", "bench", "results", "render", "doctor")
    imports = ", ".join(f"benchproof.{name}" for name in names)
    code = f"import sys, {imports}; sys.exit('driver' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
