"""The record stream: all samples of a comparison as JSON lines, a value a line; read by `judge`.

===========  =======================================================================================
``record``   holds
===========  =======================================================================================
comparison   the first line: ``stream`` (the version of this format), and what the document says of
             sides, settings, provenance and the like; its provenance is that of ``host`` 0
variant      ``variant`` (its name), both builds, whether they are the same, how wall time was
             taken; with ``control``, here and below, it is a control of that variant
case         a benchmark in a variant: identity, loop counts, why it failed or was not timed, and
             where its instructions went
proof        what a side answered before anything was measured: files, probe, digest of the answer
sample       ``benchmark`` and ``params``, ``side``, ``variant``, ``host`` (the number of the run in
             ``runs``, if several were merged), ``build``, ``meter``,
             ``unit``, ``process`` (of exact meters: the layout of memory; of times: the block),
             ``block`` (null for exact meters), ``number`` of the value in its process, ``value``
end          the last line: how many came before it
===========  =======================================================================================

Values are written with all digits, so that a judged stream says what the run said. A line that
cannot be meant is an error with its number: nothing is left out, and nothing is guessed.
"""

import json
import math
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn

from . import files, settings
from .accepted import Entry
from .collected import Collected, Sampled, Samples, Spot
from .errors import BenchproofError, SettingsError
from .meters import METERS, wall
from .meters.counts import Counts
from .plan import SIDES, Loops
from .suite import Case
from .verdict import Looks

#: The version of the format; a change that could break a reader raises it. From 3 on both sides
#: took turns at their wall times, from 2 on there are controls.
STREAM, TURNS = 3, 3


def write(samples: Samples, file: Path) -> None:
    """Write a stream, compressed if the name ends in ``.gz``.

    Raises:
        BenchproofError: it cannot be written.
    """
    files.write(_packed(_lines(samples)) if file.suffix == ".gz" else _lines(samples), file)


def _lines(samples: Samples) -> Iterator[bytes]:
    """The lines of a stream, as they are made: a large one is never held as a whole."""
    count = 0
    for count, each in enumerate(_records(samples), 1):  # noqa: B007  (how many there were)
        yield _line(each)
    yield _line({"record": "end", "lines": count})


def _line(record: dict[str, Any]) -> bytes:
    """A record as a line."""
    return json.dumps(record, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def _packed(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The same, compressed as by gzip, without a name or a time."""
    packer = zlib.compressobj(wbits=31)
    for each in pieces:
        yield packer.compress(each)
    yield packer.flush()


def _records(samples: Samples) -> Iterator[dict[str, Any]]:
    """All but the last line."""
    yield {
        "record": "comparison", "stream": STREAM, "about": samples.about,
        "settings": samples.settings.describe(), "known": list(samples.known),
        "accepted": [each.row() for each in samples.entries],
        "partial": samples.partial,
    }  # fmt: skip
    runs = samples.about.get("runs", ())
    blocks, layouts = ([run[key] for run in runs[1:]] for key in ("blocks", "layouts"))
    for each in (*samples.variants, *samples.controls):
        got, looks = each.got, each.looks
        yield {
            "record": "variant", **_whose(each), "sides": each.sides, "same": each.same,
            "blocks": got.blocks, "thrown": [*got.thrown.items()],
            "looks": looks and asdict(looks),
        }  # fmt: skip
        for case in each.cases:
            where = _whose(each) | {
                "benchmark": case.benchmark or case.name,
                "params": case.name.removeprefix(case.benchmark or case.name),
            }  # fmt: skip
            loops = got.loops.get(case.name)
            yield {
                "record": "case", **where, "case": asdict(case), "loops": loops and asdict(loops),
                "failure": got.failures.get(case.name), "untimed": got.untimed.get(case.name),
                "profile": each.profiles.get(case.name),
            }  # fmt: skip
            for side in SIDES:
                if case.name in got.proofs.get(side, {}):
                    answer = got.proofs[side][case.name]
                    yield {"record": "proof", **where, "side": side, "answer": answer}
                for meter, taken in ((one, got.taken(one, side, case.name)) for one in got.values):
                    how = METERS[meter]
                    for spot, values in taken.items():
                        about = {
                            "record": "sample", **where, "side": side, "meter": meter,
                            "host": bisect_right(layouts if how.exact else blocks, spot.process),
                            "unit": how.unit or case.unit, **spot._asdict(),
                            "block": None if how.exact else spot.process,
                        }  # fmt: skip
                        for number, value in enumerate(values):
                            yield {**about, "number": number, "value": value}


def _whose(each: Sampled) -> dict[str, str]:
    """The variant, and the control if it is one."""
    return {"variant": each.name} | ({"control": each.control} if each.control else {})


def read(file: Path) -> Samples:
    """Read a stream.

    Raises:
        BenchproofError: it cannot be read, is of a newer version, ends early, or holds a value
            twice or one that is no number; the message begins with file and line.
    """
    with files.opened(file) as lines:
        return _Reader(str(file)).read(lines)


def _place(record: dict[str, Any]) -> tuple[str, str]:
    """Whose a record is: the variant, and the control if it is one."""
    return record["variant"], record.get("control", "")


def _stand_alone(got: Collected) -> None:
    """Keep the median of each process's wall times, which none of the other side's belong to."""
    for cases in got.values.get("wall", {}).values():
        for taken in cases.values():
            taken.update({spot: [wall.number(values)] for spot, values in taken.items()})


#: What a line that is no record ends in; a number of 400 digits and 1,000 brackets are among them.
_WRONG = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)
#: What is said of each comparison.
_ABOUT = {"asked", "created", "excluded", "left", "meters", "right", "trouble"}


class _Reader:
    """Reads records, and knows where they stand."""

    def __init__(self, file: str) -> None:
        """Nothing is read yet."""
        self._file, self._line = file, 0
        self._variants: dict[tuple[str, str], Sampled] = {}
        self._cases: dict[tuple[str, ...], Case] = {}
        self._seen: set[tuple[Any, ...]] = set()

    def read(self, stream: Iterable[bytes]) -> Samples:
        """The whole stream."""
        lines = iter(stream)
        ways: dict[str, Callable[[dict[str, Any]], None]] = {
            "variant": self._variant, "case": self._case, "proof": self._proof,
            "sample": self._sample, "end": lambda _: None,
        }  # fmt: skip
        first: dict[str, Any] = {}
        last: dict[str, Any] = {}
        for self._line, line in enumerate(lines, 1):
            try:
                record = json.loads(line.decode(errors="replace"), parse_constant=self._no_number)
                if not first:
                    first = self._beginning(record)
                elif record["record"] in ways:
                    ways[record["record"]](record)
                else:
                    self._refuse(f"unknown record {record['record']!r}")
                last = record
            except _WRONG as error:
                if next(lines, None) is None:
                    break
                self._refuse(f"no record of benchproof ({type(error).__name__}: {error})")
        if last.get("record") != "end" or last.get("lines") != self._line - 1:
            raise BenchproofError(
                f"{self._file}: it ends early: {self._line} lines, and the last does not end it"
            )
        return self._whole(first)

    def _beginning(self, record: dict[str, Any]) -> dict[str, Any]:
        """The first line, if it begins a stream that can be read."""
        if record["record"] != "comparison":
            self._refuse("no stream of benchproof: its first line is no comparison")
        if record["stream"] > STREAM:
            self._refuse(
                f"a stream of version {record['stream']}, and this benchproof reads up to "
                f"{STREAM}: update it"
            )
        return record

    def _whole(self, first: dict[str, Any]) -> Samples:
        """The comparison, from its first line."""
        self._line = 1
        try:
            if lacks := _ABOUT - first["about"].keys():
                raise KeyError(", ".join(sorted(lacks)))
            if first["stream"] < TURNS:
                for each in self._variants.values():
                    _stand_alone(each.got)
            return Samples(
                dict(first["about"]), settings.described(first["settings"]),
                [each for each in self._variants.values() if not each.control],
                [Entry.of(each) for each in first["accepted"]],
                list(first["known"]), bool(first["partial"]),
                [each for each in self._variants.values() if each.control],
            )  # fmt: skip
        except (*_WRONG, SettingsError) as error:
            self._refuse(f"no beginning of a stream ({type(error).__name__}: {error})")

    def _variant(self, record: dict[str, Any]) -> None:
        """A variant."""
        place = _place(record)
        if place in self._variants:
            self._refuse(f"a second variant {', '.join(filter(None, place))!r}")
        each = Sampled(name=place[0], sides=record["sides"], same=record["same"], control=place[1])
        each.got.blocks, each.got.thrown = record["blocks"], dict(record["thrown"])
        if looks := record["looks"]:
            each.looks = Looks(**looks | {"paid": list(map(tuple, looks["paid"]))})
        self._variants[place] = each

    def _case(self, record: dict[str, Any]) -> None:
        """A benchmark of it."""
        case = Case.of(record["case"])
        place = (*_place(record), record["benchmark"], record["params"])
        named = case.benchmark or case.name
        if (named, case.name.removeprefix(named)) != place[-2:]:
            self._refuse(f"{case.name!r} is not {record['benchmark']}{record['params']}")
        if place in self._cases:
            self._refuse(f"a second case {case.name}")
        self._cases[place] = case
        each = self._variants[place[:2]]
        each.cases.append(case)
        if loops := record["loops"]:
            each.got.loops[case.name] = Loops(
                loops["wall"], Counts(**loops["instructions"]), Counts(**loops["allocations"])
            )
        for key, kept in (("failure", each.got.failures), ("untimed", each.got.untimed)):
            if record[key] is not None:
                kept[case.name] = record[key]
        if record["profile"] is not None:
            each.profiles[case.name] = record["profile"]

    def _of(self, record: dict[str, Any], *more: Any) -> tuple[Sampled, str, Any]:  # noqa: ANN401
        """Whose a record is: variant, case and side; each place has one."""
        place = (*_place(record), record["benchmark"], record["params"])
        if record["side"] not in SIDES or place not in self._cases:
            self._refuse(f"{record['benchmark']}{record['params']} is no case of a side before it")
        key = (*place, record["side"], *more)
        if key in self._seen:
            self._refuse(f"a second {''.join(place[2:])} {' '.join(map(str, key[4:]))}")
        self._seen.add(key)
        return self._variants[place[:2]], self._cases[place].name, record["side"]

    def _proof(self, record: dict[str, Any]) -> None:
        """What a side answered."""
        each, name, side = self._of(record, "proof")
        each.got.proofs.setdefault(side, {})[name] = record["answer"]

    def _sample(self, record: dict[str, Any]) -> None:
        """A value."""
        meter, value = record["meter"], record["value"]
        spot, number = Spot(record["build"], record["process"]), record["number"]
        if not all(type(place) is int and place >= 0 for place in (*spot, number)):
            self._refuse(f"{[*spot, number]} is no place of a value: build, process, number")
        each, name, side = self._of(record, meter, *spot, record["block"], number)
        wrong = isinstance(value, bool) or not isinstance(value, int | float)
        if wrong or not math.isfinite(value):
            self._refuse(f"{value!r} is no number")
        if meter not in METERS:
            self._refuse(f"unknown meter {meter!r}")
        values = each.got.taken(meter, side, name).get(spot, [])
        if number != len(values):
            self._refuse(f"value {number} of a process in which {len(values)} came before")
        each.got.keep(meter, side, name, [*values, value], spot)

    def _no_number(self, text: str) -> NoReturn:
        """JSON knows no such thing, and no meter gives it."""
        self._refuse(f"{text} is no number")

    def _refuse(self, words: str) -> NoReturn:
        """Say what is wrong, with its line."""
        # A name in the stream may have several lines, the message has one.
        raise BenchproofError(f"{self._file}:{self._line}: {' '.join(words.split())}")
