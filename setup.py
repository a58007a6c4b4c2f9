"""Compile the Cython modules below driver/_cython; everything else is in pyproject.toml.

DRIVER_BUILD=auto    compile if a C compiler works, else build a pure package and say so (default)
DRIVER_BUILD=cython  a failed compilation is fatal
DRIVER_BUILD=python  do not compile
"""

import hashlib
import json
import os
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
SOURCES = Path("driver/_cython")
MANIFEST = SOURCES / "built.json"
BUILD = os.environ.get("DRIVER_BUILD", "auto")
if BUILD not in {"auto", "cython", "python"}:
    raise SystemExit(f"DRIVER_BUILD={BUILD}: must be auto, cython or python")


def sources() -> list[Path]:
    """Every .pyx below driver/_cython, relative to the checkout, sorted."""
    return sorted(p.relative_to(ROOT) for p in (ROOT / SOURCES).rglob("*.pyx"))


def module_name(source: Path) -> str:
    """The dotted module name of a source path."""
    return ".".join(source.with_suffix("").parts)


def digest(source: Path) -> str:
    """SHA-256 of a module's source and the .pxd files that it may cimport."""
    declarations = sorted((ROOT / SOURCES).rglob("*.pxd"))
    parts = [(ROOT / source).read_bytes(), *(p.read_bytes() for p in declarations)]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def short_reason(error: BaseException) -> str:
    """One short line about why a compilation failed; the compiler's own words are above it."""
    compiler = os.environ.get("CC") or sysconfig.get_config_var("CC")
    line = str(error).strip().splitlines()[-1] if str(error).strip() else repr(error)
    tail = line if len(line) <= 80 else "..." + line[-60:]
    return f"the C compiler ({compiler}) failed: {tail}"


def extensions() -> list[Extension]:
    """The modules as extensions, not yet translated to C."""
    return [
        Extension(module_name(s), [str(s)], extra_compile_args=["-O3", "-g0"]) for s in sources()
    ]


def translate(modules: list[Extension]) -> None:
    """Translate extensions to C by Cython; commands that build nothing do without."""
    from Cython.Build import cythonize  # noqa: PLC0415  (a pure build needs no Cython)

    translated = cythonize(
        extensions(),
        build_dir="build/cython",
        nthreads=0,
        compiler_directives={
            "language_level": 3,
            "boundscheck": False,
            "wraparound": False,
            "embedsignature": True,
            # Without it, importing one module would bring the interpreter's lock back for all.
            "freethreading_compatible": True,
        },
    )
    sources_of = {each.name: each.sources for each in translated}
    for module in modules:
        module.sources = sources_of[module.name]


class BuildAllOrNone(build_ext):
    """build_ext that compiles all modules or none, and records what it compiled."""

    def run(self) -> None:
        """Compile; on failure fall back to pure unless DRIVER_BUILD=cython."""
        compiled = {}
        if BUILD == "python":
            reason = "DRIVER_BUILD=python"
        else:
            translate(self.extensions)
            # On all cores: the C compiler is most of a build.
            self.parallel = self.parallel or True
            try:
                super().run()
            except (Exception, SystemExit) as error:
                if BUILD == "cython":
                    raise
                reason = short_reason(error)
                self.remove_partial()
            else:
                reason = ""
                compiled = {module_name(s): digest(s) for s in sources()}
        if reason:
            self.make_pure()
            sys.stdout.write(f"cqlpath: building the PURE PYTHON driver ({reason})\n")
        self.write_manifest({"compiled": compiled, "pure_because": reason})

    def remove_partial(self) -> None:
        """Delete what a failed run left: a driver is compiled whole or not at all."""
        for extension in self.extensions:
            for root in (Path(self.build_lib), ROOT):
                stem = root.joinpath(*extension.name.split("."))
                for stale in stem.parent.glob(stem.name + ".*.so"):
                    stale.unlink()

    def make_pure(self) -> None:
        """Let what is built hold no extension: a wheel of it installs on every platform."""
        self.extensions = self.distribution.ext_modules = []
        self.distribution.get_command_obj("bdist_wheel").root_is_pure = True

    def write_manifest(self, content: dict) -> None:
        """Write built.json where the modules went: beside the sources, or into the wheel."""
        in_place = self.inplace or getattr(self, "editable_mode", False)
        target = (ROOT if in_place else Path(self.build_lib)) / MANIFEST
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")


setup(
    ext_modules=[] if BUILD == "python" else extensions(),
    cmdclass={"build_ext": BuildAllOrNone},
)
