"""scripts/against-peers: all drivers do the same work, and the page says what was measured."""

import subprocess
import sys

import pytest

from benchproof import placement
from benchproof.meters import allocations, instructions
from scripts.against import measuring, report, sides

COMPILED = sides.Side("compiled", "ours", {"DRIVER_IMPL": "cython"})
PURE = sides.Side("pure", "ours", {"DRIVER_IMPL": "python"})
PEER = sides.Side("cassandra-driver", "theirs")

needs_peer = pytest.mark.usefixtures("peer")


@pytest.fixture
def peer():
    pytest.importorskip("cassandra", reason="cassandra-driver is not installed")


def hush(_):
    """Say nothing."""


@needs_peer
def test_all_drivers_give_the_same_answers_and_show_what_ran():
    said = measuring.agree([PURE, PEER], hush)
    assert said["pure"]["digests"].keys() == said["cassandra-driver"]["digests"].keys()
    assert len(said["pure"]["digests"]) == 27
    assert said["cassandra-driver"]["name"] == "cassandra-driver"
    assert all(file.endswith(".py") for file in said["pure"]["modules"].values())
    assert said["cassandra-driver"]["modules"]["protocol"].endswith((".so", ".py"))
    assert all(seconds > 0 for seconds in said["pure"]["seconds"].values())


def test_another_answer_is_named(monkeypatch):
    answers = iter([{"bind": "1", "encode": "2"}, {"bind": "1", "encode": "3"}])
    monkeypatch.setattr(sides.Side, "run", lambda *_, **__: {"digests": next(answers)})
    with pytest.raises(sides.SideError, match="pure gives another answer: encode"):
        measuring.agree([COMPILED, PURE], hush)


def test_c_alone_gives_the_answers_of_drivers_to_what_it_does(tmp_path):
    alone = sides.limits_side(tmp_path, "")
    said = measuring.agree([PURE, alone], hush)
    assert "decode 1,000 x 10 ints" in said["C alone"]["digests"]
    assert said["C alone"]["digests"].items() < said["pure"]["digests"].items()
    (module,) = tmp_path.glob("limits-*/against_limits*")
    compiled = module.stat().st_mtime_ns
    sides.limits_side(tmp_path, "")
    assert module.stat().st_mtime_ns == compiled


def test_a_side_with_some_operations_must_agree_on_those(monkeypatch):
    answers = iter([{"bind": "1", "encode": "2"}, {"bind": "3"}])
    monkeypatch.setattr(sides.Side, "run", lambda *_, **__: {"digests": next(answers)})
    some = sides.Side("some", "limits", is_partial=True)
    with pytest.raises(sides.SideError, match=r"some gives another answer: bind$"):
        measuring.agree([PURE, some], hush)


def test_a_compiler_that_fails_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(sides.sysconfig, "get_config_var", lambda _: "cc -DPyList_New=(")
    with pytest.raises(sides.SideError, match=r"limits\.c cannot be compiled: .*error"):
        sides.limits_side(tmp_path, "")


def test_a_side_that_does_not_run_says_why():
    with pytest.raises(sides.SideError, match=r"pure: KeyError: 'knit'"):
        PURE.run(PURE.command("knit"))


def test_processes_of_a_block_share_a_hash_seed_and_take_turns(monkeypatch):
    ran = []

    def run(side, command, core=None, **more):
        del command, core
        ran.append((side.name, more["PYTHONHASHSEED"]))
        return {"numbers": {"bind": 2e-6 if side is PURE else 1e-6}}

    monkeypatch.setattr(sides.Side, "run", run)
    moved = []
    monkeypatch.setattr(placement, "renew", lambda _: moved.append(len(ran)))
    said = {side.name: {"seconds": {"bind": 1e-6}} for side in (COMPILED, PURE)}
    times = measuring.time([COMPILED, PURE], said, 20, None, hush)
    assert moved == list(range(0, 40, 2))
    blocks = [ran[at : at + 2] for at in range(0, len(ran), 2)]
    assert all({name for name, _ in block} == {"compiled", "pure"} for block in blocks)
    assert all(block[0][1] == block[1][1] for block in blocks)
    assert len({block[0][0] for block in blocks}) == 2
    assert measuring.ratio(times["compiled"]["bind"], times["pure"]["bind"]).ratio == pytest.approx(
        2
    )


@pytest.mark.slow
@pytest.mark.nightly
def test_every_operation_is_counted_by_every_meter_of_this_machine():
    said = measuring.agree([PURE], hush)
    found = measuring.count([PURE], said, hush)["pure"]
    meters = {"instructions": instructions, "allocations": allocations}
    assert set(found) == {name for name, meter in meters.items() if not meter.why_not()}
    for meter, numbers in found.items():
        assert set(numbers) == set(said["pure"]["digests"])
        # A routing key of one part is the value that was bound: nothing is allocated for it.
        assert min(numbers.values()) > 0 or meter == "allocations"


def test_the_page_has_a_table_for_each_meter_that_all_were_measured_with(tmp_path):
    done = {
        "created": "2026-11-22T10:00:00+00:00", "digests": {"bind": "1"},
        "provenance": {"python": "CPython 3.11.7", "cpu": "A", "cores": 2, "load": 0.1},
        "sides": {"cqlpath": {}, "peer": {}},
        "seconds": {"cqlpath": {"bind": [1e-6] * 4}, "peer": {"bind": [2.5e-6] * 4}},
        "counts": {
            "cqlpath": {"instructions": {"bind": 2000.0}, "allocations": {"bind": 4.0}},
            "peer": {"instructions": {"bind": 3000.0}},
        },
    }  # fmt: skip
    report.write(done, tmp_path / "deep" / "peers")
    page = (tmp_path / "deep" / "peers.md").read_text(encoding="utf-8")
    assert "| bind | **2.50** (2.50 to 2.50) | 1.00 µs |" in page
    assert "| bind | 1.50 | 2,000 |" in page
    assert "Allocations" not in page
    assert "Whole requests" not in page
    report.write(done | {"seconds": {}}, tmp_path / "peers")
    assert "## Time" not in (tmp_path / "peers.md").read_text(encoding="utf-8")
    assert (tmp_path / "deep" / "peers.json.gz").exists()


def test_a_side_that_hangs_is_given_up(monkeypatch):
    monkeypatch.setattr(sides, "LIMIT", 0.01)
    with pytest.raises(sides.SideError, match="no answer within"):
        PURE.run(PURE.command("answer"))


def test_two_blocks_are_refused():
    script = sides.ROOT / "scripts" / "against-peers"
    command = [sys.executable, script, "--blocks", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "fewer than 3 blocks" in done.stderr


def test_the_script_explains_itself():
    script = sides.ROOT / "scripts" / "against-peers"
    done = subprocess.run(
        [sys.executable, script, "--help"], capture_output=True, text=True, check=True
    )
    assert "the same answer" in done.stdout
