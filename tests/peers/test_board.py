"""The board of whole requests: its node, its clients, and what is told of what they measured."""

import contextlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest
from against import report, sides
from against.board import (
    answers,
    bare,
    cases,
    members,
    memory,
    node,
    page,
    recorder,
    results,
    running,
    told,
)

import driver
from tests.loops import eventually_here
from tests.peers.sample_board import CASES, FAILED, board, numbers

CACHE = sides.ROOT / ".benchproof"
IMPLS = ("cython", "python")
HEADER = struct.Struct(">BBhBi")


def hush(_):
    """Say nothing."""


@pytest.fixture(scope="module")
def compiled_node():
    try:
        return node.compiled(CACHE / "board")
    except sides.SideError as error:
        pytest.skip(str(error))


needs_compiler = pytest.mark.usefixtures("compiled_node")


@pytest.fixture(scope="module")
def load_node(compiled_node):
    assert compiled_node.exists()
    with node.LoadNode(CACHE / "board", seconds=600) as running_node:
        yield running_node


def asked_of(load_node, **more):
    return running.Asked(load_node.host, load_node.port, load_node.process, True, **more)


def side_of(way, impl="python", driver="cqlpath"):
    return members.Member(driver, way, sides.Side(driver, driver, {"DRIVER_IMPL": impl}))


# --- the node ---------------------------------------------------------------------------------


@pytest.mark.parametrize("impl", IMPLS)
@pytest.mark.parametrize("way", members.WAYS)
def test_this_driver_gets_its_own_answers_from_the_node(load_node, way, impl):
    if impl == "cython":
        pytest.importorskip("driver._cython.wire.rows", reason="the driver is not compiled")
    member = side_of(way, impl)
    checked = running.check([member], asked_of(load_node), hush)
    said = checked[way]["cqlpath"]
    assert said["failed"] == {}
    assert said["looked"] == {case.name: case.flying + 1 for case in cases.CASES}


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("wanted", members.OTHERS)
def test_every_other_driver_gets_its_own_answers_from_the_node(load_node, wanted):
    driver = wanted.partition("==")[0]
    try:
        side = sides.Side(wanted, driver, python=sides.environment(wanted, CACHE), limit=120)
    except sides.SideError as error:
        pytest.skip(str(error))
    ways = [way for way, (known, _) in members.WAYS.items() if driver in known]
    those = [members.Member(wanted, way, side) for way in ways]
    for of_way in running.check(those, asked_of(load_node), hush).values():
        said = of_way[wanted]
        assert said["looked"].keys() | said["failed"].keys() == set(results.case_names())
        assert set(said["looked"]) >= {n for n in results.case_names() if "insert" not in n}


@needs_compiler
def test_a_client_that_gets_another_answer_is_found_out(monkeypatch):
    table = answers.unpack(answers.kept())
    wrong = {
        asked: answers.Answer(
            answer.opcode, answer.flags, answer.body
        )  # no places: one key for all
        for asked, answer in table.items()
    }
    monkeypatch.setattr(answers, "kept", lambda: answers.pack(wrong))
    with (
        node.LoadNode(CACHE / "board") as other,
        pytest.raises(sides.SideError, match="another answer"),
    ):
        running.check([side_of("asyncio")], asked_of(other), hush)


def test_every_member_has_numbers_of_each_block_and_case(load_node):
    those = [side_of("futures"), side_of("asyncio")]
    checked = running.check(those, asked_of(load_node), hush)
    found = running.measure(those, checked, asked_of(load_node, blocks=2, scale=0.01), hush, 1)
    for member in those:
        numbers = found[member.way]["cqlpath"]
        assert set(numbers) == set(results.case_names())
        for meters in numbers.values():
            assert {*meters} == {"processor", "elapsed", "switches", "p50", "p99", "node"}
            assert all(len(each) == 2 for each in meters.values())
            assert min(meters["processor"] + meters["node"] + meters["p50"]) > 0


def test_a_bare_socket_is_answered_like_a_client(load_node):
    socket_alone = members.Member(bare.NAME, bare.WAY, side_of("threads").side, "board.bare")
    checked = {bare.WAY: {bare.NAME: {"looked": dict.fromkeys(bare.CASES, 0)}}}
    asked = asked_of(load_node, blocks=2, scale=0.1)
    found = running.measure([socket_alone], checked, asked, hush, 1)[bare.WAY][bare.NAME]
    assert set(found) == set(bare.CASES)
    for meters in found.values():
        assert len(meters["processor"]) == 2
        assert min(meters["processor"] + meters["node"]) > 0


@pytest.mark.parametrize("kind", ["insert", "select", "page"])
def test_a_bare_socket_sends_the_values_that_this_driver_binds(load_node, kind):
    values = cases.values(kind, 3)
    with driver.Cluster([load_node.host], port=load_node.port) as cluster:
        bound = cluster.connect().prepare(cases.TEXTS[kind]).bind(values)
    encoded = b"".join(len(value).to_bytes(4, "big") + value for value in bound.values)
    with contextlib.closing(bare.connected(load_node.host, load_node.port)) as alone:
        sent = bare.executing(alone, alone.prepare(cases.TEXTS[kind]), values)
    assert sent.endswith(len(values).to_bytes(2, "big") + encoded)
    assert bound.prepared_statement.query_id in sent


def frame(opcode, body, stream, version=4):
    return HEADER.pack(version, 0, stream, opcode, len(body)) + body


def answer_of(load_node, sent):
    """The first frame that comes back: its header and its body."""
    with socket.create_connection((load_node.host, load_node.port), timeout=10) as plain:
        plain.sendall(sent)
        read = plain.makefile("rb")
        header = HEADER.unpack(read.read(HEADER.size))
        return header, read.read(header[-1])


def test_an_answer_has_the_stream_of_its_request_and_the_values_that_it_binds(load_node):
    table = answers.unpack(answers.kept())
    asked, answer = next(
        (asked, answer) for asked, answer in table.items()
        if asked.version == 4 and len(answer.places) == 2
    )  # fmt: skip
    key = b"".join(struct.pack(">ii", 4, value) for value in (123456, 7654321))
    body = struct.pack(">H", len(asked.key)) + asked.key + struct.pack(">HBH", 1, 1, 2) + key
    header, found = answer_of(load_node, frame(recorder.EXECUTE, body, 4711))
    assert header[:4] == (0x84, 0, 4711, recorder.RESULT)
    assert len(found) == len(answer.body)
    assert key in found
    assert key not in answer.body


def test_what_was_not_recorded_is_an_error_that_says_so(load_node):
    text = b"SELECT a FROM nothing.recorded"
    body = struct.pack(">i", len(text)) + text + struct.pack(">HB", 1, 0)
    header, found = answer_of(load_node, frame(recorder.QUERY, body, 3))
    assert header[2:4] == (3, 0)
    assert b"not recorded: " + text in found


def test_a_protocol_version_that_it_does_not_speak_is_refused_in_one_that_it_does(load_node):
    header, found = answer_of(load_node, frame(recorder.OPTIONS, b"", 0, version=66))
    assert header[0] == 0x85
    assert struct.unpack_from(">i", found) == (0x0A,)


@needs_compiler
def test_an_address_that_is_not_of_loopback_is_refused():
    with (
        pytest.raises(sides.SideError, match=r"192\.0\.2\.1 is no loopback address"),
        node.LoadNode(CACHE / "board", host="192.0.2.1"),
    ):
        raise AssertionError("it started")


@needs_compiler
def test_it_ends_itself_when_its_time_is_over():
    with node.LoadNode(CACHE / "board", seconds=1) as short:
        assert short._running.wait(30) == 3


@needs_compiler
def test_requests_that_are_held_reach_the_node_and_take_memory():
    told_of = memory.measure([side_of("futures")], CACHE / "board", hush, flying=(40,), pages=2)
    about = told_of["futures"]["cqlpath"]
    assert about["flying"]["40"]["held"] == 40
    assert about["idle"] > about["bare"] > 0
    assert [kind for kind, _ in about["rows"].values()] == ["Row", "tuple"]


def test_table_and_places_survive_packing():
    found = {
        answers.Asked(5, 10, True, b"id"): answers.Answer(8, 0, b"\0\0\0\4\0\0\0\7", ((4, 0),)),
        answers.Asked(4, 5, False, b""): answers.Answer(6, 0, b""),
    }
    assert answers.unpack(answers.pack(found)) == found


def test_the_recorder_reads_along_whole_frames_of_both_framings():
    reader = recorder.Reader()
    whole = frame(recorder.QUERY, b"\0\0\0\1a", 5, version=5)
    assert [len(list(reader.feed(part))) for part in (whole[:4], whole[4:] + whole)] == [0, 2]
    reader.segmented = True
    segment = len(whole).to_bytes(3, "little") + b"\0\0\0" + whole + b"\0\0\0\0"
    assert [each[2] for each in reader.feed(segment)] == [5]
    assert recorder.key_of(5, recorder.QUERY, b"\0\0\0\1a").key == b"a"


# --- the run ----------------------------------------------------------------------------------


def children(process):
    """The processes that one has started."""
    found = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{process}/task").iterdir():
            found += [int(each) for each in (task / "children").read_text().split()]
    return found


def runs(process):
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


@needs_compiler
def test_ctrl_c_ends_the_node_and_the_clients():
    script = sides.ROOT / "scripts" / "against-peers"
    command = [sys.executable, script, "--requests", "--only", "nobody else", "--blocks", "500"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        seen: list[int] = []
        for _ in range(3000):
            seen = children(run.pid)
            if len(seen) == 2 or run.poll() is not None:
                break
            time.sleep(0.01)
        os.kill(run.pid, signal.SIGINT)
        _, error = run.communicate(timeout=60)
    assert run.returncode == 2
    assert error.decode().splitlines()[-1] == "against-peers: stopped"
    assert len(seen) == 2
    # The client was killed; that it has gone can be seen a moment later.
    eventually_here(lambda: not any(map(runs, seen)))


def test_fewer_than_three_blocks_are_refused():
    script = sides.ROOT / "scripts" / "against-peers"
    command = [sys.executable, script, "--requests", "--blocks", "0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "fewer than 3 blocks" in done.stderr


# --- what is told -----------------------------------------------------------------------------


def test_the_page_ranks_everybody_in_the_way_that_is_cheapest_for_it():
    text = "\n".join(page.markdown(board()))
    assert f"| {CASES[0]} | 10.0 asyncio | 20.0 threads, 2.00x | **5.0 asyncio, 0.50x** |" in text
    summary = told.summary(board(), "load-test")
    assert "the lowest of 2 cases: acsylla 2 in 1, cqlpath in 1." in summary
    assert "with the whole interval: acsylla 2 in 1. The same driver" in summary


def test_a_case_that_a_driver_lacks_is_a_dash_and_its_reason_is_told():
    text = "\n".join(page.markdown(board()))
    assert f"| {CASES[1]} | **10.0 asyncio** | 20.0 threads, 2.00x | - |" in text
    assert f"- acsylla 2, asyncio: `{FAILED}`: {CASES[1]}." in text
    assert "- scylla-driver 1, asyncio: scylla-driver has nothing to await." in text


def test_drivers_are_told_beside_a_bare_socket():
    found = board()
    alone = numbers(8, *bare.CASES)
    found["nodes"]["load-test"]["numbers"][bare.WAY][bare.NAME] = alone
    text = "\n".join(page.markdown(found))
    assert f"| load-test node: {CASES[0]} | 8.0 µs | 1.25 | 2.50 | 0.62 |" in text
    assert "| load-test node: select, 1 in flight | 8.0 µs | - | - | - |" in text
    assert f"| {bare.NAME}" not in text.partition("### One request in flight")[0]
    assert page.bare_sockets(board()) == []


def test_times_are_told_of_a_quiet_machine_alone():
    quiet, busy = ("\n".join(page.markdown(board(load=load))) for load in (0.1, 5.0))
    assert "99th percentile in milliseconds:" in quiet
    assert "99th percentile in milliseconds:" not in busy
    assert "load 5.0 before the run" in busy


def test_what_the_other_run_left_stays(tmp_path):
    report.write({"board": board()}, tmp_path / "peers")
    done = report.read(tmp_path / "peers")
    assert done == {"board": json.loads(json.dumps(board()))}
    assert "## Steps" not in (tmp_path / "peers.md").read_text(encoding="utf-8")
    assert report.read(tmp_path / "nothing") == {}


def test_documents_get_their_part_and_keep_the_rest(tmp_path):
    (tmp_path / "docs" / "pictures").mkdir(parents=True)
    for name in ("README.md", "docs/peers.md"):
        text = "before\n\n<!-- board -->\nold\n<!-- end of board -->\n\nafter\n"
        (tmp_path / name).write_text(text, encoding="utf-8")
    told.everywhere({"board": board()}, tmp_path / "peers", tmp_path)
    for name in ("README.md", "docs/peers.md"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert text.startswith("before\n\n<!-- board -->\n")
        assert text.endswith("<!-- end of board -->\n\nafter\n")
        assert "old" not in text
        assert "acsylla 2 in 1" in text
    assert (tmp_path / "docs/pictures/peers.svg").read_text().count('class="mark') > 4
    kept = json.loads((tmp_path / told.SITE).read_text(encoding="utf-8"))
    shown = kept
    assert [cell["text"] for cell in shown["tables"][0]["rows"][0]][:2] == [
        CASES[0],
        "10.0 asyncio",
    ]
    assert [cell["best"] for cell in shown["tables"][0]["rows"][0]] == [False, False, False, True]
    assert any(FAILED in note for note in shown["notes"])
