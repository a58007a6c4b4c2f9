"""The variables of the environment that a build gets: few, and every one of them in its key.

A build can read any variable, and what it reads decides what it gives. So it gets no others than
those of `PASSED`, which compilers and the usual build tools document, and those that the project
names in `build-variables` of `[tool.benchproof]`. What is passed is part of the build's key: two
environments that could give two builds never share one.

A build script that reads a variable which is set and not passed is found by its text
(`withheld`), so that nobody waits for an effect that cannot come.
"""

import hashlib
import os
import re
import sysconfig
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

#: Patterns of names, passed to every build.
PASSED = (
    # Where programs, their libraries and their settings are.
    "PATH", "HOME", "LD_LIBRARY_PATH", "DYLD_*", "LANG", "LC_*", "SYSTEMROOT",
    # The compiler's, and the linker's.
    "CC", "CXX", "CPP", "LD", "AR", "AS", "NM", "RANLIB", "STRIP", "CFLAGS", "CXXFLAGS",
    "CPPFLAGS", "LDFLAGS", "LDSHARED", "LDCXXSHARED", "ARCHFLAGS", "CPATH", "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "LD_RUN_PATH", "COMPILER_PATH", "GCC_*", "CCACHE_*",
    "MACOSX_DEPLOYMENT_TARGET", "SDKROOT", "PKG_CONFIG*",
    # Of build tools.
    "SETUPTOOLS_*", "DISTUTILS_*", "PBR_VERSION", "CYTHON_*", "CMAKE_*", "SKBUILD_*", "MESON*",
    "NINJA*", "CARGO_*", "RUST*", "PYO3_*", "MATURIN_*", "HATCH_*",
)  # fmt: skip
#: Of those, what differs between shells and machines that build the same.
_OF_A_SHELL = ("PATH", "HOME", "SYSTEMROOT", "LANG", "LC_*")
#: Passed, and not in the key: where scratch files go changes no build.
SCRATCH = ("TMPDIR", "TEMP", "TMP")
#: Where uv and pip find packages, and how they get there: passed to commands that install some, and
#: not in the key either.
INDEXES = ("PIP_*", "UV_*", "*_PROXY", "*_proxy", "SSL_CERT_*", "REQUESTS_CA_BUNDLE")
#: How Python code asks for a variable.
_READS = re.compile(r"""(?:environ(?:\.(?:get|pop|setdefault))?\s*[\[(]|getenv\()
                        \s*["'](\w+)["']""", re.VERBOSE)  # fmt: skip
#: In the names of those whose values are nobody's business; so are addresses with a user.
_SECRET = re.compile("AUTH|CREDENTIAL|KEY|PASSW|SECRET|TOKEN")
#: Told to every build by ourselves.
_OURS = {"PYTHONHASHSEED", "SOURCE_DATE_EPOCH"}


def passed(more: Sequence[str] = ()) -> dict[str, str]:
    """The variables that a build gets and its key holds, by name.

    The folder of this interpreter's programs stands first in `PATH` once, so that an activated
    environment makes no other build than the same interpreter called by its path.

    Args:
        more: patterns that the project names.
    """
    found = matching((*PASSED, *more))
    programs = sysconfig.get_path("scripts")
    folders = [programs, *found.get("PATH", os.defpath).split(os.pathsep)]
    found["PATH"] = os.pathsep.join(dict.fromkeys(folders))
    return found


def matching(patterns: Sequence[str]) -> dict[str, str]:
    """The variables that are set and that some patterns name."""
    return {
        name: value
        for name, value in sorted(os.environ.items())
        if name not in _OURS and any(fnmatchcase(name, pattern) for pattern in patterns)
    }


def deciding(more: Sequence[str] = ()) -> dict[str, str]:
    """Of what a build gets, what may make another build of the same sources.

    Args:
        more: patterns that the project names.
    """
    shell = matching(_OF_A_SHELL)
    return {name: value for name, value in matching((*PASSED, *more)).items() if name not in shell}


def told(given: Mapping[str, str]) -> str:
    """Variables with their values in one line; of a secret, what tells it from another."""
    return ", ".join(
        f"{name}={hashlib.sha256(value.encode()).hexdigest()[:8] if secret else value}"
        for name, value in given.items()
        for secret in [_SECRET.search(name) or "@" in value]
    )


def withheld(script: str, given: Mapping[str, str]) -> list[str]:
    """Variables that are set here, that a build script reads by name, and that it does not get.

    Only calls with the name in quotes are understood.

    Args:
        script: the text of setup.py.
        given: what the build gets.
    """
    named = set(_READS.findall(script)) - _OURS - given.keys() - set(SCRATCH)
    return sorted(name for name in named if name in os.environ)
