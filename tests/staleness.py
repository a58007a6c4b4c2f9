"""Compiled modules that are older than their source, told by content.

Times of files mean nothing after a `git clone` or a checkout, so the build wrote the SHA-256 of
each module's source, with the declarations that it may cimport, into driver/_cython/built.json.
"""

import hashlib
import json
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "driver" / "_cython"


def relative_name(source: Path, folder: Path = FOLDER) -> str:
    """The name of a module as in implementation.TWINS, from the path of its .pyx."""
    return ".".join(source.relative_to(folder).with_suffix("").parts)


def stale_modules(manifest: Path, folder: Path = FOLDER) -> list[str]:
    """Modules whose source is not what the installed modules were compiled from.

    Args:
        manifest: built.json beside the compiled modules.
        folder: that of the sources.
    """
    built = (
        json.loads(manifest.read_text(encoding="utf-8"))["compiled"] if manifest.exists() else {}
    )
    declarations = [path.read_bytes() for path in sorted(folder.rglob("*.pxd"))]

    def digest(source: Path) -> str:
        return hashlib.sha256(b"\0".join([source.read_bytes(), *declarations])).hexdigest()

    sources = {relative_name(path, folder): path for path in sorted(folder.rglob("*.pyx"))}
    return [
        name
        for name, source in sources.items()
        if built.get(f"driver._cython.{name}") != digest(source)
    ]
