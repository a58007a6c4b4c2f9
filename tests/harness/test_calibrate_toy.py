"""Calibration of a toy driver, end to end: tiny campaigns, really measured."""

import pytest
from calibration import command, recorded
from calibration.sites import Site

from benchproof import error_rates
from benchproof.meters import instructions

SPIN = Site("spin", "spin", "driver/work.py", "spin", (("toy.time_spin", 1),), ("python",))

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(instructions.why_not()), reason=instructions.why_not()),
]


@pytest.fixture
def calibrate(place, tell, tmp_path):
    """Runs parts on the toy, in pure Python, which builds fastest."""

    def run(*parts, **asked):
        defaults = {
            "impls": ("python",), "bench": "spin", "sites": (SPIN,), "runs": 1,
            "meters": ("instructions",), "sizes": (),
        }  # fmt: skip
        wanted = command.Asked(tmp_path / "reports", **(defaults | asked))
        calibration = command.Calibration(wanted, place, tell)
        for part in parts:
            command.PARTS[part](calibration)
        return calibration

    return run


def rows(calibration, name):
    return calibration.kept(name).rows()


def test_real_work_is_tuned_injected_and_found(calibrate, monkeypatch):
    from calibration import tune

    # One form and one amount: each trial is a gate of its own.
    monkeypatch.setattr(tune, "trials", lambda _: [tune.Trial(0, "stores")])
    calibration = calibrate("inject", sizes=(0.05,))
    (row,) = rows(calibration, "injected")
    (found,) = row["found"]
    assert 0.05 <= found["predicted"] <= 0.0625
    assert found["ratio"] - 1 == pytest.approx(found["predicted"], rel=0.3)
    assert found["verdict"] == "regressed"
    assert row["verdict"]["exit"] == 1


@pytest.mark.nightly
def test_gates_in_which_nothing_changed_are_quiet(calibrate):
    calibration = calibrate("aa", "neutral", "report")
    same, neutral = rows(calibration, "gates")
    assert (same["kind"], neutral["kind"]) == ("same", "neutral")
    assert same["commit"] == same["base"] != neutral["commit"]
    assert same["said"] == neutral["said"] == []
    assert neutral["edits"]
    assert same["meters"]["instructions"]["identical"] == 1
    known = error_rates.load(calibration.asked.reports)
    assert (known["false_alarm"]["k"], known["false_alarm"]["n"]) == (0, 2)


def test_recorded_blocks_make_resampled_gates_and_are_not_recorded_twice(calibrate):
    calibration = calibrate("record", "resample", runs=3, blocks=8)
    (session,) = recorded.read(rows(calibration, "walls"))
    assert session.about["kind"] == "aa"
    assert [block["block"] for block in session.blocks] == list(range(8))
    assert session.cases == ["toy.time_spin"]
    again = rows(calibration, "resampled")
    assert [row["tests"] for row in again if row["kind"] == "aa"] == [1, 1, 1]
    assert [row["target"] for row in again if row["kind"] == "added"] == 3 * ["toy.time_spin"]
    before = len(rows(calibration, "walls"))
    calibrate("record", blocks=8)
    assert len(rows(calibration, "walls")) == before
