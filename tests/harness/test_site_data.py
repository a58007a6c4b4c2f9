"""What the data files hold, and how few of them one more commit changes."""

import numpy as np
import pytest

from benchproof.history.model import History, Series, SeriesKey
from benchproof.site import pack
from benchproof.site.pack import Store
from tests.harness.sample_history import make_changes, make_commits, make_history
from tests.harness.sample_site import floats, given, make_site, parse, places


@pytest.fixture
def small(monkeypatch):
    """Chunks and blocks that a short history fills."""
    monkeypatch.setattr(pack, "CHUNK", 16)
    monkeypatch.setattr(pack, "BLOCK", 8)


def unpacked(pieces):
    """Places and values of a group's chunks, one implementation."""
    index, value = [], []
    for start, piece in pieces:
        values = floats(piece["v"])
        own = places(piece["i"]) if "i" in piece else np.arange(len(values))
        index += [start + int(at) for at in own]
        value += values.tolist()
    return index, value


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("every", [1, 3])
def test_a_group_holds_every_value_at_its_commit(tmp_path, monkeypatch, every):
    history = make_history(40, every)
    page = make_site(tmp_path, monkeypatch, history).page
    for group in pack.groups(history):
        head = given(page.parent, f"{group.id}-head")
        assert head["benchmark"] == group.benchmark
        chunks = [(int(at) * 16, parse(page.parent / "site" / "data" / file))
                  for at, file in head["chunks"].items()]  # fmt: skip
        for impl, series in group.series.items():
            index, value = unpacked([(at, chunk[impl]) for at, chunk in chunks])
            assert index == series.index.tolist()
            assert value == pytest.approx(series.value.tolist(), rel=1e-6)


def test_only_series_with_intervals_carry_them(tmp_path, monkeypatch):
    history = make_history()
    page = make_site(tmp_path, monkeypatch, history).page
    for group in pack.groups(history):
        (chunk,) = [given(page.parent, f"{group.id}-0")]
        assert ("l" in chunk["cython"]) == (group.meter == "wall")


@pytest.mark.usefixtures("small")
def test_a_block_holds_all_series_at_its_commits(tmp_path, monkeypatch):
    history = make_history(20)
    page = make_site(tmp_path, monkeypatch, history).page
    groups = {group.id: group for group in pack.groups(history)}
    for at in range(3):
        block = given(page.parent, f"block-{at}")
        columns = min(8, 20 - at * 8)
        for impl, piece in block.items():
            table = floats(piece["v"]).reshape(-1, columns)
            ids = [piece["ids"][n : n + 12] for n in range(0, len(piece["ids"]), 12)]
            assert sorted(ids) == sorted(groups)
            for row, identity in enumerate(ids):
                series = groups[identity].series[impl]
                expected = series.value[at * 8 : at * 8 + columns]
                assert table[row].tolist() == pytest.approx(expected.tolist(), rel=1e-6)
            wide = [ids[row] for row in places(piece["wide"])]
            assert {groups[each].meter for each in wide} == {"wall"}


@pytest.mark.usefixtures("small")
def test_one_more_commit_writes_the_last_chunks_only(tmp_path, monkeypatch):
    first = make_site(tmp_path, monkeypatch, make_history(40))
    files = {path.name for path in (first.page.parent / "site" / "data").iterdir()}
    second = make_site(tmp_path, monkeypatch, make_history(41))
    groups = 6
    # Of a group: its last chunk and its head; else the last chunk of commits, the last block, the
    # hashes and the catalogue.
    assert second.written <= 2 * groups + 4
    assert second.kept >= len(files) - (2 * groups + 4)


def test_the_same_history_again_writes_nothing(tmp_path, monkeypatch):
    make_site(tmp_path, monkeypatch)
    assert make_site(tmp_path, monkeypatch).written == 0


def test_a_data_file_that_was_cut_off_is_written_again(tmp_path, monkeypatch):
    page = make_site(tmp_path, monkeypatch).page
    victim = next((page.parent / "site" / "data").glob("catalogue-*.js"))
    whole = victim.read_bytes()
    victim.write_bytes(whole[:100])
    assert make_site(tmp_path, monkeypatch).written == 1
    assert victim.read_bytes() == whole


def test_changes_stand_in_the_head_of_their_group(tmp_path, monkeypatch):
    history = make_history()
    page = make_site(tmp_path, monkeypatch, history).page
    (group,) = [g for g in pack.groups(history)
                if (g.benchmark, g.meter) == ("bind.time_one_row", "instructions")]  # fmt: skip
    head = given(page.parent, f"{group.id}-head")
    assert [(c["impl"], c["before"], c["after"], c["likely"]) for c in head["changes"]] == [
        ("cython", 19, 20, 20), ("python", 19, 20, 20)]  # fmt: skip


def test_a_change_from_nothing_has_no_ratio_in_the_data():
    (change, *_) = make_changes(make_history())
    from dataclasses import replace

    told = pack.describe(replace(change, ratio=float("inf"), high=float("inf")))
    assert told["ratio"] is None
    assert told["high"] is None


def test_a_history_of_one_value_can_be_stored(tmp_path):
    key = SeriesKey("a.time_b", "wall", "", "box")
    one = np.array([1.0])
    history = History(make_commits(3), {key: Series(key, "seconds", np.array([2]), one, one, one)})
    (group,) = pack.groups(history)
    store = Store(tmp_path, tmp_path / "absent")
    head = parse(tmp_path / pack.put_group(group, [], "", store))
    chunk = parse(tmp_path / head["chunks"]["0"])
    assert places(chunk[""]["i"]).tolist() == [2]
