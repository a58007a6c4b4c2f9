"""What can go wrong in a way that a person can do something about: one line each, exit status 2."""

import errno
import shutil
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path

#: Exit statuses of the command, as the README promises them.
NO_REGRESSION, REGRESSION, COULD_NOT_MEASURE, CANNOT_DECIDE = 0, 1, 2, 3
#: Of several, the first of these is that of all together.
_WORST_FIRST = (REGRESSION, COULD_NOT_MEASURE, CANNOT_DECIDE, NO_REGRESSION)


def gravest(*statuses: int) -> int:
    """The exit status of several comparisons together."""
    return min(statuses, key=_WORST_FIRST.index)


class BenchproofError(Exception):
    """Something that the person at the keyboard can mend; printed as it is, without a traceback.

    The first line says what and where. Further lines, if any, quote another program.
    """

    exit_status = COULD_NOT_MEASURE


class TargetError(BenchproofError):
    """A side that names nothing, or names something that cannot be measured."""


class DirtyTreeError(TargetError):
    """The checked-out commit is to be measured, but the working tree differs from it."""


class BuildError(BenchproofError):
    """A side that does not build."""


class UnreachedError(BuildError):
    """Packages that are missing, and an index that was not reached."""


class SelectionError(BenchproofError):
    """A benchmark or meter expression that selects nothing, or is no expression."""


class SettingsError(BenchproofError):
    """A `[tool.benchproof]` table that cannot be meant; the message begins with file and line."""


class AcceptedError(BenchproofError):
    """An accepted regression that breaks a rule; the message begins with file and line."""


class WorkerError(BenchproofError):
    """A worker process that ended without an answer."""


class ClockError(BenchproofError):
    """Clocks that cannot be believed, in more processes than an accident explains."""


class HistoryError(BenchproofError):
    """A range that names nothing, or a history that cannot be read or written."""


class SiteError(BenchproofError):
    """A site that cannot be published."""


class BisectError(BenchproofError):
    """A range of commits in which there is no change to find."""


class NewerError(BenchproofError):
    """A kept file that a newer benchproof wrote: what it means is not known here."""


class NoSpaceError(BenchproofError):
    """The disk is full."""


class StoppedError(BenchproofError):
    """Ctrl-C, or a termination signal, before anything worth keeping was measured."""


#: Bytes that are left on a full disk: less than anything that is written here.
_NOTHING = 2**16


def is_full(place: Path) -> bool:
    """Whether the disk that holds a folder is full; its log may be what could not be written."""
    return shutil.disk_usage(place).free < _NOTHING


def no_space(where: object) -> NoSpaceError:
    """The error of a full disk, with the place that could not be written."""
    return NoSpaceError(
        f"no space left on the disk that holds {where}: free some, "
        "or point BENCHPROOF_CACHE and TMPDIR at another disk"
    )


def check_space(place: Path) -> None:
    """Tell a full disk from whatever else made a write or a process fail.

    Raises:
        NoSpaceError: the disk that holds a folder is full.
    """
    if is_full(place):
        raise no_space(place)


def told(error: OSError) -> BenchproofError:
    """An operating system error as a line for a person."""
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return no_space(error.filename or "the results")
    return BenchproofError(f"{error.strerror or error}: {error.filename or 'no file named'}")


#: How alike two names must be, from 0 to 1, and how many are suggested, or told of many.
_ALIKE, _MOST = 0.6, 3


def few(names: Sequence[object], most: int = _MOST) -> str:
    """The first of some names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(str, names[:most])) + more


def counted(number: int, word: str) -> str:
    """A number of things, by the word for one of them."""
    return f"{number} {word}{'s' * (number != 1)}"


def meant(word: str, known: Iterable[str]) -> str:
    """The end of a message: the nearest of the known names, or nothing where none is near.

    Args:
        word: what was written.
        known: names, or paths of names with dots between, of which any part may have been meant.
    """
    whole = {name.lower(): name for name in reversed(list(known))}
    found = [whole[each] for each in get_close_matches(word.lower(), whole, _MOST, _ALIKE)]
    if not found:
        parts = {
            form: None
            for name in whole.values()
            for part in name.split(".")
            for form in (part, part.removeprefix("time_"))
        }
        found = get_close_matches(word.lower(), parts, _MOST, _ALIKE)
    return f"; did you mean {' or '.join(found)}?" if found else ""


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
