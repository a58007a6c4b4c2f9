"""What a command needs that may not be installed: which extra brings it, in one line."""

from __future__ import annotations

from .errors import BenchproofError

#: By extra of the distribution: what it is for, and the modules that it brings.
EXTRAS: dict[str, tuple[str, tuple[str, ...]]] = {
    "pages": ("draws pages and pictures", ("jinja2", "markupsafe", "matplotlib")),
    "fleet": ("gives work to other machines", ("dask", "distributed")),
    "history": ("reads and writes asv's files", ("asv", "virtualenv")),
}


class MissingError(BenchproofError):
    """A package that a command needs is not installed."""


def missing(error: ModuleNotFoundError, who: str) -> MissingError:
    """What to say of a module that is not there.

    Args:
        error: of the import.
        who: needs it, `benchproof publish` for instance.

    Raises:
        ModuleNotFoundError: the module is this package's own: a defect, and no wish of an extra.
    """
    module = (error.name or str(error)).partition(".")[0]
    if module == __name__.partition(".")[0]:
        raise error
    for extra, (does, modules) in EXTRAS.items():
        if module in modules:
            return MissingError(
                f"{who} {does} with {module}, which is not installed: "
                f"pip install 'benchproof[{extra}]'"
            )
    return MissingError(f"{who} needs {module}, which is not installed: pip install benchproof")
