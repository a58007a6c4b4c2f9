"""Extra work: where it goes, what it costs, and that sizes come out as they were asked for."""

import ast
import importlib
import inspect
import re
from pathlib import Path
from random import Random

import pytest
from calibration import gates, inject, neutral, tune, walls, work
from calibration.clone import clone
from calibration.insert import SiteError, inserted
from calibration.kept import Kept
from calibration.sites import SITES, Site, families

import driver
from benchproof import verdict

ROOT = Path(__file__).resolve().parents[2]
SPIN = Site("spin", "spin", "driver/work.py", "spin", (("toy.time_spin", 1),))
BOXES = Site("boxes", "boxes", "driver/work.py", "boxes", (("toy.time_boxes", 3),), ("python",))
#: What the pretended gate knows: instructions of each case, by implementation.
BASE = {
    ("cython", "toy.time_spin"): 20_000.0, ("python", "toy.time_spin"): 40_000.0,
    ("python", "toy.time_boxes"): 90_000.0,
}  # fmt: skip


@pytest.fixture
def pretended(monkeypatch):
    """A gate that reads the cost of extra work from the source: exact, and known to the test."""
    asked = []

    def cost(text):
        loops = sum(210 + 36 * int(number) for number in re.findall(r'b"\\0" \* (\d+)', text))
        return 13 * text.count("_extra = None") + loops + 95 * text.count("isinstance(None, int)")

    def run(ask, scene):
        asked.append(ask)
        source = scene.clone.checkout.read(ask.head, "driver/work.py").decode()
        parts = dict(zip(("spin", "boxes"), source.split("def boxes"), strict=True))
        cases = []
        for (impl, name), base in BASE.items():
            if impl in ask.impls and re.search(ask.bench, name):
                calls = 3 if "boxes" in name else 1
                right = base + calls * cost(parts[name.removeprefix("toy.time_")])
                judged = verdict.judge_exact("instructions", base, right)
                cases.append({"name": name, "impl": impl, "status": "measured", "why": "",
                              "meters": {"instructions": judged}})  # fmt: skip
        return {"cases": cases, "suites": [], "verdict": {"exit": 0, "status": "pretended"}}

    def count(scene, commit, impl, cases):
        rows = run(gates.Ask(scene.clone.base, commit, gates.pattern(cases), impls=(impl,)), scene)
        counted = {row["name"]: row["meters"]["instructions"] for row in rows["cases"]}
        return {name: (each["left"], each["right"]) for name, each in counted.items()}

    monkeypatch.setattr(gates, "run", run)
    monkeypatch.setattr(tune, "count", count)
    return asked


def test_costs_are_found_by_measuring_and_kept(scene, pretended, tmp_path):
    kept = Kept(tmp_path / "tuning.jsonl.gz")
    costs = tune.tune(scene, (SPIN, BOXES), kept)
    assert costs.unit["stores"] == pytest.approx(13, rel=0.01)
    assert costs.unit["loops"] == pytest.approx(36, rel=0.01)
    assert costs.fixed["loops"] == pytest.approx(210, rel=0.1)
    assert costs.calls["boxes", "toy.time_boxes"] == pytest.approx(3, rel=0.01)
    asked = len(pretended)
    again = tune.tune(scene, (SPIN, BOXES), kept)
    assert len(pretended) == asked
    assert again == costs


def test_every_size_is_reached_and_never_missed_from_below(scene, pretended, tmp_path):
    del pretended
    costs = tune.tune(scene, (SPIN, BOXES), Kept(tmp_path / "tuning.jsonl.gz"))
    kept = Kept(tmp_path / "injected.jsonl.gz")
    inject.inject(scene, (SPIN, BOXES), costs, kept, gates.Ask("", ""), runs=8, seed=1)
    found = [each for row in kept.rows() for each in row["found"]]
    assert {each["size"] for each in found} == set(inject.SIZES)
    for each in found:
        assert each["size"] * 0.99 <= each["ratio"] - 1 <= each["size"] * 1.26, each
    # Work that was sized for one implementation has another share in the other one.
    assert {each["impl"] for each in found if each["target"] == "toy.time_spin"} == {
        "cython", "python",
    }  # fmt: skip
    assert len({row["commit"] for row in kept.rows()}) == 8


def test_a_repetition_is_the_same_commit_in_another_run(scene, pretended, tmp_path):
    del pretended
    costs = tune.tune(scene, (SPIN, BOXES), Kept(tmp_path / "tuning.jsonl.gz"))
    chosen = inject.planned(3, 1, (SPIN, BOXES), costs)
    assert chosen == inject.planned(3, 1, (SPIN, BOXES), costs)
    assert chosen != inject.planned(3, 2, (SPIN, BOXES), costs)
    one, two = (inject.commit_of(3, 1, scene.clone, (SPIN, BOXES), chosen) for _ in range(2))
    assert one == two


def test_commits_are_made_again_where_the_cache_that_held_them_is_gone(scene, pretended, tmp_path):
    del pretended
    sites, kept = (SPIN, BOXES), Kept(tmp_path / "injected.jsonl.gz")
    tuning = Kept(tmp_path / "tuning.jsonl.gz")
    costs = tune.tune(scene, sites, tuning)
    inject.inject(scene, sites, costs, kept, gates.Ask("", ""), runs=2, seed=1)
    new = clone(scene.outside.checkout, tmp_path / "new")
    for row in kept.rows():
        assert not new.has(row["commit"])
        assert inject.there(row, new, sites) == row["commit"]
    trials = [row for row in tuning.rows() if "form" in row]
    for row in trials:
        assert not new.has(row["commit"])
        assert tune.there(row, new, sites) == row
    assert trials
    assert all(new.has(row["commit"]) for row in [*kept.rows(), *trials])


def test_a_campaign_goes_on_where_it_was_stopped(scene, pretended, tmp_path):
    costs = tune.tune(scene, (SPIN,), Kept(tmp_path / "tuning.jsonl.gz"))
    kept = Kept(tmp_path / "injected.jsonl.gz")
    inject.inject(scene, (SPIN,), costs, kept, gates.Ask("", ""), runs=2, seed=1)
    before = len(pretended)
    inject.inject(scene, (SPIN,), costs, kept, gates.Ask("", ""), runs=3, seed=1)
    assert [row["number"] for row in kept.rows()] == [0, 1, 2]
    assert len(pretended) == before + 1


def test_gates_of_other_rules_or_of_another_meter_are_not_those_that_are_missing(tmp_path):
    kept = Kept(tmp_path / "rows.jsonl.gz")
    for rules, asked in (("old", ["wall"]), ("new", ["instructions"]), ("new", ["wall"])):
        number = len(kept.rows())
        kept.add({"number": number, "seed": 1, "policy": rules, "asked": asked, "meters": {}})
    assert kept.missing(3, ("wall",), seed=1, policy="new") == [0, 1]
    assert kept.missing(3, ("instructions",), seed=1, policy="new") == [0, 2]


def test_a_case_that_is_too_small_for_a_size_is_not_asked_for(scene, pretended, tmp_path):
    del pretended
    costs = tune.tune(scene, (SPIN,), Kept(tmp_path / "tuning.jsonl.gz"))
    costs.base = dict.fromkeys(costs.base, 1000.0)
    assert inject.planned(0, 1, (SPIN,), costs, sizes=(0.005,)) == []
    assert inject.planned(0, 1, (SPIN,), costs, sizes=(0.5,))


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)
@pytest.mark.parametrize("place", [0.0, 0.5, 0.99])
def test_each_site_is_there_and_takes_every_form(site, place):
    text = (ROOT / site.file).read_text()
    for form in work.FORMS.values():
        if form.cython is site.cython:
            new = inserted(
                text, site.function, work.lines({form.name: 3}), place, cython=site.cython
            )
            added = [line.strip() for line in new.splitlines()]
            assert all(line.strip() in added for line in form.lines(3))
            assert len(new.splitlines()) == len(text.splitlines()) + len(form.lines(3))
            if not site.cython:
                ast.parse(new)


def runs_in_python(site):
    """Whether this process runs a site's source, and no compiled form of the function."""
    found = importlib.import_module(site.file.removesuffix(".py").replace("/", "."))
    for name in site.function.split("."):
        found = inspect.getattr_static(found, name)
    return inspect.isfunction(getattr(found, "fget", found))


@pytest.mark.skipif(driver.IMPL != "cython", reason="nothing is compiled")
def test_extra_work_for_the_compiled_driver_is_in_what_that_runs():
    # Once a function that had a compiled form was named for both: its work never ran compiled.
    dispatch = next(site for site in SITES if site.name == "dispatch")
    assert not runs_in_python(dispatch)
    for site in SITES:
        if "cython" in site.impls:
            assert site.cython or runs_in_python(site), site.name


def test_targets_of_sites_are_benchmarks_and_families_share_none():
    from asv_runner.discovery import disc_benchmarks

    known = {each.name for each in disc_benchmarks(str(ROOT / "asv_benchmarks"))}
    assert {target for site in SITES for target, _ in site.targets} <= known
    taken = {}
    for family, sites in families().items():
        for site in sites:
            for target, _ in site.targets:
                for impl in site.impls:
                    assert taken.setdefault((impl, target), family) == family, target


def test_a_function_that_is_gone_is_said_by_name():
    with pytest.raises(SiteError, match="no function gone"):
        inserted("def here():\n    return 1\n", "gone", ["pass"], 0.0, cython=False)
    with pytest.raises(SiteError, match=r"no function Box\.gone"):
        inserted("cdef class Box:\n    cdef int a\n", "Box.gone", ["pass"], 0.0, cython=True)


def test_work_never_stands_behind_a_statement_that_may_leave():
    text = 'def f(a):\n    """Words."""\n    b = a\n    if b:\n        return 1\n    return 2\n'
    for place in (0.0, 0.4, 0.99):
        lines = inserted(text, "f", ["work()"], place, cython=False).splitlines()
        assert lines.index("    work()") < lines.index("        return 1")


def test_work_in_cython_stands_behind_a_docstring_of_many_lines():
    text = 'cdef class A:\n    cdef int f(self, int a):\n        """One.\n\n        Two.\n'
    text += '        """\n        cdef int b\n        return a\n'
    new = inserted(text, "A.f", ["work()"], 0.0, cython=True)
    assert '        """\n        work()\n        cdef int b\n' in new


@pytest.mark.parametrize("kind", neutral.KINDS)
def test_a_neutral_edit_changes_text_and_no_answer(scene, kind):
    rng = Random(3)
    for _ in range(10):
        edit = neutral.edit(scene.clone, kind, rng, {})
        assert edit.text != scene.clone.text(edit.file)
        ast.parse(edit.text)
        if edit.file == "driver/work.py":
            names = {}
            exec(compile(edit.text, edit.file, "exec"), names)  # noqa: S102  (a toy's source)
            assert names["spin"](5) == 10


def test_neutral_edits_leave_every_source_of_the_driver_readable():
    rng = Random(1)
    for file in sorted((ROOT / "driver").rglob("*.py")):
        text = file.read_text()
        for change in neutral._EDITS.values():
            done = change(text, rng, False)
            if done is not None:
                ast.parse(done[0])


def test_a_renamed_local_keeps_the_names_of_others():
    text = "def f(a):\n    b = a.b + 1\n    return g(b=b, c=[b for c in a])\n"
    new, what = neutral._renamed_local(text, Random(0), False)
    name = what.rpartition(" ")[2]
    assert f"{name} = a.b + 1" in new
    assert f"g(b={name}, c=[{name} for c in a])" in new


def test_commits_of_the_clone_leave_the_checkout_alone(scene, toy):
    before = toy.git("for-each-ref"), toy.git("status", "--porcelain")
    commit = scene.clone.commit({"driver/new.py": "x = 1\n"}, "more")
    assert scene.clone.checkout.read(commit, "driver/new.py") == b"x = 1\n"
    assert (toy.git("for-each-ref"), toy.git("status", "--porcelain")) == before
    assert commit == scene.clone.commit({"driver/new.py": "x = 1\n"}, "more")


def test_work_by_the_clock_is_scaled_by_what_an_instruction_is_worth(scene, pretended, tmp_path):
    del pretended
    costs = tune.tune(scene, (SPIN, BOXES), Kept(tmp_path / "tuning.jsonl.gz"))
    worth = {("spin", "toy.time_spin"): 0.5, ("boxes", "toy.time_boxes"): 2.0}
    for each in walls.planned(0, 0.05, 1, (SPIN, BOXES), costs, worth):
        site = {"spin": SPIN, "boxes": BOXES}[each.site]
        share = costs.size(site, each.target, each.impl, each.amounts)
        assert share == pytest.approx(0.05 / worth[each.site, each.target], rel=0.1)
        assert each.sizes[each.impl] == pytest.approx(0.05, rel=0.1)
    wanted = walls.Wanted((0.02, 0.05), 2, 60, 1)
    found = walls.sessions(scene.clone, "content", (SPIN, BOXES), costs, worth, wanted)
    assert {session.about["size"] for session in found} == {0.02, 0.05}
    assert len({session.head for session in found}) == 4
    for session in found:
        for site in session.about["sites"]:
            assert session.impl in site["sizes"]
            assert re.search(session.bench, site["target"])


def test_what_the_base_accepts_hides_nothing_in_the_clone(toy, place, tmp_path):
    toy.write("accepted.toml", "# A reviewed line.\n")
    toy.commit("accept")
    made = clone(place.checkout, tmp_path / "clone")
    assert made.files("accepted.toml") == []
    assert made.files("driver") == sorted(place.checkout.committed("HEAD", ("driver",)))
    assert not (made.root / "accepted.toml").exists()
    again = clone(place.checkout, tmp_path / "again")
    assert again.base == made.base


def test_a_gate_s_tests_are_kept_with_what_each_could_have_seen():
    rows = [
        {"meters": {"wall": {"detectable": 1.0412345}, "bytes": {"verdict": "equivalent"}}},
        {"meters": {"wall": {"detectable": 1.0012}, "tail": {"detectable": 1.3}}},
        {"meters": {"wall": {"detectable": None}}},
    ]
    assert gates.detectable(rows) == {"wall": [1.0012, 1.04123], "tail": [1.3]}
