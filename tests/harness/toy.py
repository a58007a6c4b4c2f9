"""A toy driver in a git repository of its own: builds in a second, and can be changed at will."""

import os
import subprocess
import zipfile
from contextlib import contextmanager
from pathlib import Path

from benchproof import builds, targets
from benchproof.bench import Bench
from benchproof.plan import SIDES
from benchproof.processes import Crew
from benchproof.variants import Variant

PYPROJECT = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "toy"
version = "1"

[tool.setuptools]
packages = ["driver", "driver._cython"]
"""
#: The two of a toy, and of this repository.
VARIANTS = """
[tool.benchproof.variants.cython]
kind = "compiled"
build = { DRIVER_BUILD = "cython" }
run = { DRIVER_IMPL = "cython" }

[tool.benchproof.variants.python]
kind = "pure"
build = { DRIVER_BUILD = "python" }
run = { DRIVER_IMPL = "python" }
"""
KNOWN = tuple(Variant(name, run={"DRIVER_IMPL": name}) for name in ("cython", "python"))
SETUP = """
import os
from setuptools import Extension, setup

COMPILED = os.environ.get("DRIVER_BUILD", "auto") != "python"
TWINS = [Extension("driver._cython.work", ["driver/_cython/work.c"])] if COMPILED else []
setup(ext_modules=TWINS)
"""
IMPLEMENTATION = """
import os
from importlib import import_module

IMPL = os.environ.get("DRIVER_IMPL", "cython")


def origin(module):
    folder = "driver._cython." if IMPL == "cython" and module == "work" else "driver."
    return import_module(folder + module).__file__
"""
SPIN = """
def spin(times):
    total = 0
    for number in range(times):
        total += number
    return total
"""
BOXES = """

def boxes(number):
    return [bytearray(100) for _ in range(number)]
"""
WORK = SPIN + BOXES
#: The beginning of a pyproject.toml of a project that setuptools builds.
BUILT_BY_SETUPTOOLS = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
version = "1"
"""
TWIN = """
#include <Python.h>
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "work", NULL, -1, NULL};
PyMODINIT_FUNC PyInit_work(void) { return PyModule_Create(&definition); }
"""


@contextmanager
def last_two(place, suites, folder, tell):
    """A bench of the last two commits in pure Python, whose workers leave their files in a folder.

    Its crew ends with the block.
    """
    sides = {
        side: targets.resolve(targets.parse(f"{commit}@impl:python"), place.checkout)
        for side, commit in zip(SIDES, ("HEAD~1", "HEAD"), strict=True)
    }
    folder.mkdir(exist_ok=True)
    with Crew() as crew:
        made = builds.build(sides, place, crew, (0,), tell)
        yield Bench({side: each[0] for side, each in made.items()}, suites, crew, folder, None)


def wheel(folder, files, name="acme", version="1.0", tags="py3-none-any", needs=()):
    """A wheel as an index has it: made of files, with metadata."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{version}-{tags}.whl"
    about = f"{name}-{version}.dist-info"
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    lines += [f"Requires-Dist: {each}" for each in needs]
    held = files | {
        f"{about}/METADATA": "\n".join(lines) + "\n",
        f"{about}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tags}\n",
        f"{about}/RECORD": "",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for inner, text in held.items():
            archive.writestr(inner, text)
    return path


class Repository:
    """A git repository, and what tests do to it."""

    def __init__(self, root):
        self.root = Path(root)
        self.root.mkdir(parents=True, exist_ok=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def write(self, name, text):
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def edit(self, name, before, after):
        text = (self.root / name).read_text(encoding="utf-8")
        assert before in text
        self.write(name, text.replace(before, after))

    def git(self, *arguments):
        who = {f"GIT_{role}_{what}": "toy@example.invalid"
               for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}  # fmt: skip
        answer = subprocess.run(
            ["git", *arguments], cwd=self.root, env=os.environ | who | {"GIT_CONFIG_GLOBAL": ""},
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        return answer.stdout.strip()

    def commit(self, message):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")


class Toy(Repository):
    """A driver with a function or two, a compiled module, and a build of a second."""

    def __init__(self, root):
        super().__init__(root)
        for name, text in {
            ".gitignore": ".benchproof/\n",
            "pyproject.toml": PYPROJECT + VARIANTS,
            "setup.py": SETUP,
            "driver/__init__.py": "from .implementation import IMPL\n",
            "driver/implementation.py": IMPLEMENTATION,
            "driver/work.py": WORK,
            "driver/_cython/__init__.py": "",
            "driver/_cython/work.c": TWIN,
        }.items():
            self.write(name, text)
        self.commit("a toy")
