"""asv's result files as a history: what is read, what is left out and why, what is remembered."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from benchproof.errors import HistoryError
from benchproof.history import asv_files, writing
from benchproof.history.model import CANARY, Commit, SeriesKey
from benchproof.history.writing import ABSENT, FAILED, Value
from tests.harness.toy import KNOWN, Repository

ABOUT = {"machine": "box", "os": "Linux 6", "arch": "x86_64", "cpu": "fast", "num_cpu": "2",
         "ram": "1"}  # fmt: skip
CASE = "suite.time_one"


@pytest.fixture
def repo(tmp_path):
    """Three commits of nothing."""
    made = Repository(tmp_path / "repo")
    made.hashes = [made.commit(f"change {number}") for number in range(3)]
    return made


@pytest.fixture
def results(repo):
    folder = repo.root / "results"
    writing.describe(folder, [described(CASE), writing.canary_entry()])
    writing.describe_machine(folder, ABOUT)
    return folder


def described(name, version="1"):
    return writing.canary_entry() | {"name": name, "pretty_name": "one", "version": version}


def put(results, commit, impl="cython", version="1-1", machine="box", **values):
    """Write instructions of CASE (as `value`), or what is named."""
    env = writing.environment(results, KNOWN, impl)
    return writing.write(
        results, ABOUT | {"machine": machine}, (commit, 1_700_000_000_000), env,
        {writing.stored(CASE, meter): (version, value) for meter, value in values.items()},
    )  # fmt: skip


def test_what_is_written_is_read_again(repo, results):
    for number, commit in enumerate(repo.hashes):
        put(results, commit, instructions=Value(1000.0 + number), allocations=Value(3))
    found = asv_files.load(results, repo.root)
    assert [commit.hash for commit in found.commits] == repo.hashes
    series = found.series[SeriesKey(CASE, "instructions", "cython", "box")]
    assert series.value.tolist() == [1000, 1001, 1002]
    assert series.index.tolist() == [0, 1, 2]
    assert series.low.tolist() == series.value.tolist()
    assert series.unit == "instructions"
    assert found.series[SeriesKey(CASE, "allocations", "cython", "box")].value.tolist() == [3, 3, 3]
    assert found.left_out == found.aside == []
    assert found.machines["box"]["cpu"] == "fast"


def test_asv_itself_reads_what_is_written(repo, results):
    from asv.results import Results

    file = put(results, repo.hashes[0], instructions=Value(5.5, 5, 6), bytes=FAILED, wall=ABSENT)
    held = Results.load(str(file), machine_name="box")
    assert held.commit_hash == repo.hashes[0]
    assert held.env_vars == {"DRIVER_IMPL": "cython"}
    name = "suite.track_one_instructions"
    assert held.get_result_value(name, []) == [5.5]
    (stats,) = held.get_result_stats(name, [])
    assert (stats["ci_99_a"], stats["ci_99_b"]) == (5, 6)
    assert held.get_result_value("suite.track_one_bytes", []) == [None]
    assert math.isnan(held.get_result_value(CASE, [])[0])


def test_what_asv_has_written_into_a_file_stays_there(repo, results):
    file = put(results, repo.hashes[0], instructions=Value(5))
    held = json.loads(file.read_text())
    held["results"]["suite.time_of_asv"] = [[1e-6], [], "7", 1700000000000, 0.5]
    held["durations"] = {"<build>": 12.5}
    file.write_text(json.dumps(held))
    put(results, repo.hashes[0], allocations=Value(2))
    held = json.loads(file.read_text())
    assert held["results"]["suite.time_of_asv"] == [[1e-6], [], "7", 1700000000000, 0.5]
    assert set(held["results"]) > {"suite.track_one_instructions", "suite.track_one_allocations"}
    assert held["durations"] == {"<build>": 12.5}


def test_intervals_and_samples_survive(repo, results):
    taken = Value(2e-6, 1.9e-6, 2.2e-6, (1.9e-6, 2e-6, 2.2e-6))
    put(results, repo.hashes[1], version="1", wall=taken)
    (series,) = asv_files.load(results, repo.root).series.values()
    assert (series.low[0], series.value[0], series.high[0]) == (1.9e-6, 2e-6, 2.2e-6)
    assert series.at(1) == 2e-6
    assert series.at(0) is None
    assert series.at(2) is None


def test_failed_and_absent_values_are_no_points(repo, results):
    put(results, repo.hashes[0], instructions=FAILED)
    put(results, repo.hashes[1], instructions=ABSENT)
    put(results, repo.hashes[2], instructions=Value(7))
    (series,) = asv_files.load(results, repo.root).series.values()
    assert series.index.tolist() == [2]


def test_values_of_an_older_version_of_a_benchmark_are_not_compared(repo, results):
    put(results, repo.hashes[0], version="0-1", instructions=Value(9000))
    put(results, repo.hashes[1], instructions=Value(7))
    (series,) = asv_files.load(results, repo.root).series.values()
    assert series.value.tolist() == [7]


def test_the_canary_is_apart_and_found_for_each_series(repo, results):
    put(results, repo.hashes[0], instructions=Value(7))
    env = writing.environment(results, KNOWN, "cython")
    writing.write(results, ABOUT, (repo.hashes[0], 1), env,
                  {writing.stored(CANARY, "instructions"): ("1-1", Value(100))})  # fmt: skip
    found = asv_files.load(results, repo.root)
    (key,) = found.series
    assert found.canary(key).value.tolist() == [100]
    assert found.canary(SeriesKey(CASE, "bytes", "cython", "box")) is None


def truncated(file):
    file.write_bytes(file.read_bytes()[:-40])


def emptied(file):
    file.write_text("")


def listed(file):
    file.write_text("[1, 2]")


def of_version_one(file):
    file.write_text(json.dumps(json.loads(file.read_text()) | {"version": 1}))


def without_results(file):
    held = json.loads(file.read_text())
    del held["results"]
    file.write_text(json.dumps(held))


def with_words_for_numbers(file):
    held = json.loads(file.read_text())
    held["results"] = {"suite.track_one_instructions": [["many"], [], "1-1"]}
    file.write_text(json.dumps(held))


def of_another_machine(file):
    held = json.loads(file.read_text())
    held["params"]["machine"] = "elsewhere"
    file.write_text(json.dumps(held))


def of_another_project(file):
    file.write_text(json.dumps(json.loads(file.read_text()) | {"commit_hash": "f" * 40}))


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (truncated, "cut off"), (emptied, "no JSON"), (listed, "not one of asv's"),
        (of_version_one, "version 1"), (without_results, "not one of asv's"),
        (with_words_for_numbers, "not one of asv's"), (of_another_machine, "'elsewhere'"),
        (of_another_project, "no commit of this repository"),
    ],
)  # fmt: skip
def test_a_damaged_or_foreign_file_is_named_and_the_rest_is_read(repo, results, damage, words):
    bad = put(results, repo.hashes[0], instructions=Value(1))
    put(results, repo.hashes[1], instructions=Value(2))
    damage(bad)
    found = asv_files.load(results, repo.root)
    (left,) = found.left_out
    assert left.file == f"box/{bad.name}"
    assert words in left.why
    (series,) = found.series.values()
    assert series.value.tolist() == [2]


def test_of_a_doubled_file_the_one_with_asvs_name_is_read(repo, results):
    file = put(results, repo.hashes[0], instructions=Value(1))
    copy = file.with_name("0-copy-of-it.json")
    copy.write_text(file.read_text().replace("[[1]", "[[999]"))
    found = asv_files.load(results, repo.root)
    (left,) = found.left_out
    assert left.file == "box/0-copy-of-it.json"
    assert file.name in left.why
    (series,) = found.series.values()
    assert series.value.tolist() == [1]


def test_a_folder_without_a_machine_is_left_out(repo, results):
    file = put(results, repo.hashes[0], instructions=Value(1))
    stray = results / "stray"
    stray.mkdir()
    (stray / file.name).write_bytes(file.read_bytes())
    (left,) = asv_files.load(results, repo.root).left_out
    assert left.file == "stray"


def test_results_beside_the_first_parent_line_are_set_aside(repo, results):
    repo.git("checkout", "--quiet", "-b", "topic")
    beside = repo.commit("on a branch")
    repo.git("checkout", "--quiet", "main")
    repo.git("merge", "--quiet", "--no-ff", "--message", "merge topic", "topic")
    file = put(results, beside, instructions=Value(1))
    found = asv_files.load(results, repo.root)
    assert found.left_out == []
    (aside,) = found.aside
    assert aside.file == f"box/{file.name}"
    assert not found.series
    merge = found.commits[-1]
    assert merge.parents == (repo.hashes[-1], beside)


def test_a_folder_that_is_not_there_is_an_empty_history(repo):
    found = asv_files.load(repo.root / "nowhere", repo.root)
    assert not found.series
    assert len(found.commits) == 3


def test_trailers_and_dates_are_read_of_every_commit(repo, results):
    claimed = repo.commit("Faster\n\nBecause.\n\nClaim: 1-1\nClaim: 1-2")
    back = repo.commit("Slower again\n\nReverts-claim: 1-1")
    *_, first, second = asv_files.load(results, repo.root).commits
    assert (first.hash, first.claims, first.subject) == (claimed, ("1-1", "1-2"), "Faster")
    assert (second.hash, second.reverts) == (back, ("1-1",))
    assert isinstance(first, Commit)
    assert first.date > 1_600_000_000_000


def test_platforms_come_from_the_notes_also_of_shared_numbers(repo, results):
    for commit in repo.hashes:
        put(results, commit, instructions=Value(1))
    for commit, more in zip(
        repo.hashes,
        ({"platform": {"kernel": "Linux 1"}}, {"from": repo.hashes[0]},
         {"platform": {"kernel": "Linux 2"}}), strict=True,
    ):  # fmt: skip
        writing.note(results, "box", {"commit": commit, "impl": "cython", **more})
    found = asv_files.load(results, repo.root)
    (series,) = found.series.values()
    assert series.platform.tolist() == [0, 0, 1]
    assert [each["kernel"] for each in found.platforms] == ["Linux 1", "Linux 2"]


def test_a_torn_note_harms_no_other(tmp_path):
    file = tmp_path / "box" / writing.MEASURED
    writing.note(tmp_path, "box", {"a": 1})
    file.write_text(file.read_text() + '{"b": ')
    writing.note(tmp_path, "box", {"c": 3})
    assert writing.notes(file) == [{"a": 1}, {"c": 3}]


def test_benchmarks_that_asv_has_forgotten_are_brought_back(results):
    file = results / writing.BENCHMARKS
    complete = json.loads(file.read_text())
    asvs = {name: each for name, each in complete.items() if ".track_" not in name}
    file.write_text(json.dumps(asvs))
    assert writing.describe(results, [described(CASE), writing.canary_entry()])
    assert json.loads(file.read_text()) == complete
    assert not writing.describe(results, [described(CASE), writing.canary_entry()])
    tracked = complete["suite.track_one_bytes"]
    assert (tracked["type"], tracked["unit"], tracked["version"]) == ("track", "bytes", "1-1")


@pytest.mark.parametrize("meter", ["wall", "instructions", "allocations", "bytes"])
@pytest.mark.parametrize("benchmark", ["suite.time_a_b", "deep.suite.Class.time_x", "time_alone"])
def test_a_name_in_asvs_files_leads_back_to_benchmark_and_meter(benchmark, meter):
    assert writing.meant(writing.stored(benchmark, meter)) == (benchmark, meter)


@pytest.mark.parametrize("name", ["suite.peakmem_x", "suite.track_x", "suite.track_x_watts", "x"])
def test_other_benchmarks_of_asv_are_not_taken_for_ours(name):
    assert writing.meant(name) is None


@pytest.mark.parametrize(
    ("value", "kept"),
    [(1234.56789, 1234.568), (3.0, 3), (1.23456789e-6, 1.23457e-6), (0.0, 0), (0.25, 0.25)],
)
def test_numbers_are_kept_as_short_as_they_say_something(value, kept):
    assert writing.short(value) == kept


class TestCache:
    @pytest.fixture
    def three(self, repo, results):
        files = [put(results, commit, instructions=Value(number), wall=Value(1e-6, 9e-7, 2e-6))
                 for number, commit in enumerate(repo.hashes, 1)]  # fmt: skip
        (results / "box" / "broken.json").write_text("{")
        return files

    def same(self, one, other):
        assert one.series.keys() == other.series.keys()
        for key, series in one.series.items():
            for part in ("index", "value", "low", "high", "platform"):
                assert np.array_equal(getattr(series, part), getattr(other.series[key], part))
        assert (one.left_out, one.platforms) == (other.left_out, other.platforms)

    @pytest.mark.usefixtures("three")
    def test_what_is_remembered_equals_what_is_read(self, repo, results, tmp_path):
        cache = tmp_path / "cache" / "history.cache"
        first = asv_files.load(results, repo.root, cache=cache)
        self.same(asv_files.load(results, repo.root, cache=cache), first)
        self.same(asv_files.load(results, repo.root), first)
        assert len(first.left_out) == 1

    @pytest.mark.usefixtures("three")
    def test_only_new_files_are_read_again(self, repo, results, tmp_path, monkeypatch):
        cache = tmp_path / "history.cache"
        asv_files.load(results, repo.root, cache=cache)
        commit = repo.commit("one more")
        added = put(results, commit, instructions=Value(4))
        opened = []
        honest = asv_files._read
        monkeypatch.setattr(
            asv_files, "_read", lambda file, *known: (opened.append(file), honest(file, *known))[1]
        )
        found = asv_files.load(results, repo.root, cache=cache)
        assert opened == [added]
        key = SeriesKey(CASE, "instructions", "cython", "box")
        assert found.series[key].value.tolist() == [1, 2, 3, 4]

    def test_a_few_new_files_do_not_make_the_cache_be_written_anew(self, repo, results, tmp_path):
        cache, hashes = tmp_path / "history.cache", [repo.commit(f"commit {n}") for n in range(101)]
        for place, commit in enumerate(hashes[:100]):
            put(results, commit, instructions=Value(place))
        asv_files.load(results, repo.root, cache=cache)
        before = cache.stat().st_mtime_ns
        put(results, hashes[100], instructions=Value(100))
        found = asv_files.load(results, repo.root, cache=cache)
        assert found.series[SeriesKey(CASE, "instructions", "cython", "box")].value[-1] == 100
        assert cache.stat().st_mtime_ns == before
        for place, commit in enumerate(hashes[:3]):
            put(results, commit, instructions=Value(1000 + place))
        asv_files.load(results, repo.root, cache=cache)
        assert cache.stat().st_mtime_ns != before

    def test_a_changed_file_and_a_removed_one_are_noticed(self, repo, results, three, tmp_path):
        cache = tmp_path / "history.cache"
        asv_files.load(results, repo.root, cache=cache)
        put(results, repo.hashes[0], instructions=Value(1000))
        Path(three[2]).unlink()
        found = asv_files.load(results, repo.root, cache=cache)
        key = SeriesKey(CASE, "instructions", "cython", "box")
        assert found.series[key].value.tolist() == [1000, 2]
        self.same(asv_files.load(results, repo.root, cache=cache), found)

    @pytest.mark.usefixtures("three")
    def test_a_new_version_of_a_benchmark_is_noticed(self, repo, results, tmp_path):
        cache = tmp_path / "history.cache"
        asv_files.load(results, repo.root, cache=cache)
        writing.describe(results, [described(CASE, "2")])
        assert not asv_files.load(results, repo.root, cache=cache).series

    @pytest.mark.usefixtures("three")
    @pytest.mark.parametrize("left", [0, 200, -8, -3], ids=["all", "header", "number", "byte"])
    def test_a_damaged_cache_is_as_good_as_none(self, repo, results, tmp_path, left):
        cache = tmp_path / "history.cache"
        first = asv_files.load(results, repo.root, cache=cache)
        cache.write_bytes(cache.read_bytes()[:left])
        self.same(asv_files.load(results, repo.root, cache=cache), first)


@pytest.mark.parametrize("name", ["../../elsewhere", "/box", "..", ".hidden", "a/b", "a\\b"])
def test_a_machine_whose_name_leads_elsewhere_is_refused(tmp_path, name):
    with pytest.raises(HistoryError, match="no name of a machine"):
        writing.machine(tmp_path, name)
