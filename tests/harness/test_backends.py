"""Projects with an extension module and a build backend that is not installed beside the tool."""

import shutil

import pytest

from benchproof import targets
from benchproof.build import Builder
from benchproof.checkout import Checkout
from benchproof.errors import BuildError
from benchproof.processes import Crew
from tests.harness.test_asv_suite import EXTENSION
from tests.harness.toy import Repository

PROJECT = """
[build-system]
requires = ["{0}"]
build-backend = "{1}"

[project]
name = "acme"
version = "1"
"""
MESON = """
project('acme', 'c', version: '1')
py = import('python').find_installation(pure: false)
py.install_sources('acme/__init__.py', subdir: 'acme')
py.extension_module('work', 'acme/work.c', install: true, subdir: 'acme')
"""
CMAKE = """
cmake_minimum_required(VERSION 3.15)
project(acme LANGUAGES C)
find_package(Python REQUIRED COMPONENTS Interpreter Development.Module)
python_add_library(work MODULE acme/work.c WITH_SOABI)
install(TARGETS work DESTINATION acme)
"""


@pytest.mark.slow
@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize(("tool", "requires", "backend", "file", "text"), [
    ("ninja", "meson-python", "mesonpy", "meson.build", MESON),
    ("cmake", "scikit-build-core", "scikit_build_core.build", "CMakeLists.txt", CMAKE),
])  # fmt: skip
def test_a_backend_that_is_missing_is_installed_and_builds_the_extension(
    tmp_path, cache, toolchain, tool, requires, backend, file, text
):
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed, and its wheel is large")
    project = Repository(tmp_path / "acme")
    project.write("pyproject.toml", PROJECT.format(requires, backend))
    project.write(file, text)
    project.write("acme/__init__.py", "from .work import answer\n")
    project.write("acme/work.c", EXTENSION)
    project.commit("an extension")
    checkout = Checkout.around(project.root)
    with Crew() as crew:
        target = targets.resolve(targets.parse("HEAD"), checkout)
        try:
            built = Builder(checkout, cache, crew, toolchain).build(target)
        except BuildError as error:
            if "pip cannot install" not in str(error):
                raise
            pytest.skip(f"{requires} cannot be had here: {error}")
    assert (built.compiled, built.package, built.why_pure) == (True, "acme", "")
    assert project.git("status", "--short") == ""
