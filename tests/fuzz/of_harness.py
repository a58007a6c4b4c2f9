"""What is fuzzed of the harness: readers of the files that it keeps, or that others give it.

A reader refuses a file by an error that is documented, in one line, or gives what is in it.
"""

from __future__ import annotations

import json
import re
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuzz.edits import edited

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Bytes of a document: as they are, or as edits of a sample.
_RAW, _EDITS = 0, 1


def _text(document: Any) -> bytes:
    """A document as JSON, with what JSON cannot hold as a text."""
    return json.dumps(document, default=str, skipkeys=True).encode("utf-8", "replace")


def _folder() -> Path:
    """A folder for the files of this process, in memory where there is such a place."""
    memory = Path("/dev/shm")  # noqa: S108  (a folder of our own is made in it)
    place = tempfile.mkdtemp(prefix="fuzz-", dir=memory if memory.is_dir() else None)
    return Path(place)


def _refused(read: Callable[[], Any]) -> Any:
    """What a reader gives; None where it refuses in one line."""
    from benchproof.errors import BenchproofError

    try:
        return read()
    except BenchproofError as error:
        refusal = str(error)
    assert len(refusal.splitlines()) == 1, refusal
    return None


def _sample_stream() -> list[dict[str, Any]]:
    """The lines of a small record stream."""
    sides = {side: {"impl": "python", "commit": side, "description": side}
             for side in ("left", "right")}  # fmt: skip
    counts = {"warm": 8, "few": 4, "many": 8}
    where = {"variant": "python", "benchmark": "toy.time_a", "params": ""}
    lines: list[dict[str, Any]] = [
        {"record": "comparison", "stream": 2, "about": {}, "settings": _settings(), "known": [],
         "accepted": [{"benchmark": "b", "meters": ["wall"], "impl": None, "amount": 0.1,
                       "reason": "r", "until": "2027-01-31", "line": 1, "passed": {}}],
         "partial": False},
        {"record": "variant", "variant": "python", "sides": sides, "same": False, "blocks": 2,
         "thrown": [[1, "why"]], "looks": {"alpha": 0.01, "family": 9, "said": {}, "paid": []}},
        {"record": "case", **where, "case": _case(), "loops": {
            "wall": 3, "instructions": counts, "allocations": counts},
         "failure": None, "untimed": None, "profile": []},
        {"record": "proof", **where, "side": "left", "answer": {"proof": {}}},
        {"record": "sample", **where, "side": "left", "host": 0, "meter": "instructions",
         "unit": "", "build": 0, "process": 0, "block": None, "number": 0, "value": 7.0},
        {"record": "sample", **where, "side": "right", "host": 0, "meter": "wall", "unit": "s",
         "build": 0, "process": 0, "block": 0, "number": 0, "value": 1e-6},
    ]  # fmt: skip
    return [*lines, {"record": "end", "lines": len(lines)}]


def _stream(lines: list[Any]) -> bytes:
    """Lines as a file; the first one says all that a stream has to say of its comparison.

    Not before: kept edits have their places among the values of the sample as it is.
    """
    first = lines[0] if lines and isinstance(lines[0], dict) else {}
    if first.get("about") == {}:
        about = {"asked": [], "created": "2026-11-28T12:00:00+00:00", "excluded": [], "left": {},
                 "meters": {}, "right": {}, "trouble": []}  # fmt: skip
        lines = [first | {"about": about}, *lines[1:]]
    return b"\n".join(map(_text, lines))


def _settings() -> dict[str, Any]:
    from benchproof.settings import Settings

    return json.loads(json.dumps(Settings().describe(), default=str))


def _case() -> dict[str, Any]:
    from dataclasses import asdict

    from benchproof.suite import Case

    return asdict(Case("toy.time_a", "toy.time_a", None, "1", False))


def records() -> Callable[[bytes], None]:
    """Record streams: byte 0 chooses raw bytes or edits of a sample, the rest are these."""
    from benchproof import records as stream

    file, lines = _folder() / "records.jsonl", _sample_stream()
    again = file.with_name("again.jsonl")
    file.write_bytes(_stream(lines))
    stream.read(file)  # a sample that was refused would hide what is behind

    def check(data: bytes) -> None:
        if not data:
            return
        if data[0] == _RAW:
            file.write_bytes(data[1:])
        else:
            found = edited(lines, data[1:])
            if found and isinstance(found[-1], dict) and found[-1].get("record") == "end":
                found[-1]["lines"] = len(found) - 1
            file.write_bytes(_stream(found))
        samples = _refused(lambda: stream.read(file))
        if samples is not None:
            try:
                stream.write(samples, again)
            except ValueError as error:
                words = str(error)
                assert "not JSON compliant" in words, words  # 1e999 is read as infinity
                return
            assert _refused(lambda: stream.read(again)) is not None, "what is written is read"

    return check


def records_seeds() -> Iterator[bytes]:
    """A stream as it is, and some edits."""
    lines = _sample_stream()
    yield bytes([_RAW]) + _stream(lines)
    yield bytes([_RAW]) + _stream(lines)[:-30]
    for edits in (b"", b"\x00\x02\x03", bytes(range(3, 27)), b"\x00\x30\x05\x00\x41\x0c"):
        yield bytes([_EDITS]) + edits


def kept() -> Callable[[bytes], None]:
    """Kept files: byte 0 chooses the reader, 1 raw bytes or edits of a sample, then these."""
    folder = _folder()
    readers = _readers(folder)

    def check(data: bytes) -> None:
        if len(data) < 2:
            return
        sample, name, read = readers[data[0] % len(readers)]
        file = folder / name
        file.parent.mkdir(exist_ok=True, parents=True)
        content = data[2:] if data[1] == _RAW else _text(edited(sample, data[2:]))
        file.write_bytes(content)
        _refused(lambda: read(file))

    return check


def _readers(folder: Path) -> list[tuple[Any, str, Callable[[Path], Any]]]:
    """A sample, a name, and what reads it."""
    from benchproof import accepted, error_rates, files, share
    from benchproof.gate import passed
    from benchproof.history import asv_files, loops, writing

    result = {
        "version": writing.VERSION, "commit_hash": "c" * 40, "env_name": "e", "python": "3.13",
        "params": {"machine": "here", "os": "z", "cpu": "y"}, "requirements": {"numpy": "2"},
        "env_vars": {"DRIVER_IMPL": "python"}, "durations": {},
        "result_columns": ["result", "params", "version", "started_at", "duration",
                           "stats_ci_99_a", "stats_ci_99_b", "stats_q_25", "stats_q_75"],
        "results": {"a.time_b": [[1.0], [], "1", 0, 0, [0.9], [1.1], [0.95], [1.05]],
                    "a.track_b_bytes": [[640], [], "1"]},
    }  # fmt: skip
    entry = {"benchmark": "b", "meters": ["wall"], "impl": None, "amount": 0.1, "reason": "r",
             "until": "2027-01-31", "line": 1, "passed": {}}  # fmt: skip
    gone = {"schema": passed.SCHEMA, "kind": "passed gate", "commit": "c", "content": "d",
            "date": "e", "cpu": "f", "accepted": [entry],
            "pin": {"name": "v1", "passes": 1, "ratios": {"python wall b": 1.1}}}  # fmt: skip
    plan = {"benchmark": "b", "impl": "python", "wall": 3, "instructions": [1, 1, 2],
            "allocations": [1, 1, 2]}  # fmt: skip
    note = {"schema": writing.SCHEMA, "impl": "python", "commit": "c", "platform": {"numpy": "2"}}

    def read_result(file: Path) -> Any:
        found = asv_files._read(file, {"a.time_b": "1"}, (), {})
        assert isinstance(found, str | asv_files.Read)
        files.contents(file)
        return found

    def read_plans(file: Path) -> Any:
        found = loops.Loops(file.parent)
        if not found.lacks("b", "python"):
            found.known("b", "python")

    def read_calibration(_: Path) -> Any:
        return error_rates.load(folder)

    def read_accepted(file: Path) -> Any:
        return accepted.parse(file.read_bytes(), file.name)

    rates = f"{error_rates.FOLDER}/{error_rates.SUMMARY}"
    return [
        (result, "here/cccccccc-e.json", read_result), (gone, "passed.json", passed.load),
        (plan, loops.LOOPS, read_plans), (note, writing.MEASURED, writing.notes),
        ({"schema": error_rates.SCHEMA, "rates": {"a": 1}}, rates, read_calibration),
        (_comparison(), "compare.json", share.read), ({}, "accepted.toml", read_accepted),
    ]  # fmt: skip


def _comparison() -> Any:
    from tests.harness.sample_comparison import make_comparison

    sample = make_comparison()
    return sample | {"cases": sample["cases"][::10]}


def kept_seeds() -> Iterator[bytes]:
    """Each sample as it is, and some edits."""
    entry = b"""[[accepted]]\nbenchmark = "b"\nmeter = "wall"\namount = 0.1\nreason = "r"
until = 2027-01-31\n"""
    for number in range(7):
        for edits in (b"", b"\x00\x02\x03", bytes(range(3, 27)), b"\x00\x30\x05\x00\x41\x0c"):
            yield bytes([number, _EDITS]) + edits
        yield bytes([number, _RAW]) + b'{"schema": 1, "version": 2, "results": {}}'
    yield bytes([6, _RAW]) + entry


#: A run of each tool, as it writes one.
_GO = b"""goos: linux
pkg: example.org/x
cpu: a processor
BenchmarkA/sub-2 \t 100 \t 12.5 ns/op \t 16 B/op \t 1 allocs/op \t 3 things/op
PASS
"""
_PYPERF = {
    "version": "1.0", "metadata": {"name": "a", "cpu_model_name": "c", "loops": 1},
    "benchmarks": [{"runs": [{"values": [1.0, 2.0]}, {"warmups": [[1, 0.5]], "values": [1.5]}]}],
}  # fmt: skip


def foreign() -> Callable[[bytes], None]:
    """Files of other tools: byte 0 chooses the tool, 1 raw bytes or edits of a sample, then these.

    What is read makes a comparison of itself with itself, or is refused.
    """
    from benchproof.foreign import formats, readings
    from benchproof.history import writing

    asv = {
        "version": writing.VERSION, "params": {"machine": "m", "cpu": "c"},
        "result_columns": ["result", "params", "samples"],
        "results": {"a.time_b": [[1.0, None], [["1", "2"]], [[1.0, 1.1], None]],
                    "a.track_c": [[640], []]},
    }  # fmt: skip
    tools = (("go", partial(formats.read_go, bad=[]), None),
             ("pyperf", formats.read_pyperf, _PYPERF), ("asv", formats.read_asv, asv))  # fmt: skip
    file = _folder() / "results.json"

    def check(data: bytes) -> None:
        if len(data) < 2:
            return
        tool, read, sample = tools[data[0] % len(tools)]
        raw = data[1] == _RAW or sample is None
        file.write_bytes(data[2:] if raw else _text(edited(sample, data[2:])))

        def compared() -> Any:
            both = {side: list(read(file)) for side in ("left", "right")}
            return readings.samples(both, {"left": [file], "right": [file]}, tool)

        _refused(compared)

    return check


def foreign_seeds() -> Iterator[bytes]:
    """A file of each, and some edits."""
    yield bytes([0, _RAW]) + _GO
    yield bytes([0, _RAW]) + _GO.replace(b"12.5", b"1e999").replace(b"100", b"0")
    for tool in (1, 2):
        yield bytes([tool, _RAW]) + b'{"version": 2, "results": {}}'
        for edits in (b"", b"\x00\x02\x03", bytes(range(3, 27)), b"\x00\x30\x05\x00\x41\x0c"):
            yield bytes([tool, _EDITS]) + edits


def documents() -> Callable[[bytes], None]:
    """Gate documents, told as a comment of a pull request: raw bytes, or edits of a sample."""
    from benchproof.gate.report import comment
    from tests.harness.sample_gate import make_gate

    file, sample = _folder() / "gate.json", make_gate()
    sample["cases"] = sample["cases"][::10]  # of each kind

    def check(data: bytes) -> None:
        if not data:
            return
        file.write_bytes(data[1:] if data[0] == _RAW else _text(edited(sample, data[1:])))
        try:
            document, text = comment.read(file)
        except comment.NoDocumentError:
            return
        assert text.startswith(comment.markdown.MARK)
        assert len(text) <= comment.markdown.LIMIT
        outside = re.sub(r"`[^`\n]*`", "", text)  # code is shown as it is
        assert "<script" not in outside, "markup of a document in a comment"
        assert document

    return check


def documents_seeds() -> Iterator[bytes]:
    """A gate as it is, and some edits."""
    for edits in (b"", b"\x00\x02\x03", bytes(range(3, 27)), b"\x00\x30\x16\x01\x41\x16"):
        yield bytes([_EDITS]) + edits
