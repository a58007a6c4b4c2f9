"""Every kind of benchmark that asv runs, as a worker finds, sets up, sees and calls it."""

import copy
import io
import os
import subprocess
import sys
import sysconfig
from types import FunctionType

import pytest
from rich.console import Console

from benchproof import listing, meters, suite, witness
from benchproof.asv_suite import Ready
from tests.harness.test_worker import ask

KINDS = """
import json
from pathlib import Path

from asv_runner.benchmarks.mark import SkipNotImplemented, skip_for_params

log = []


def setup(*args):
    log.append("module")


def time_plain():
    return 1


time_plain.pretty_name = "a plain call"


def time_skips():
    raise SkipNotImplemented("not here")


def time_fails():
    raise NotImplementedError("an error like any other")


async def time_nothing():
    pass


def time_two_many(one, two):
    pass


def timeraw_start():
    return "import json"


def mem_list():
    return [0] * 1000


def peakmem_list():
    return [0] * 4_000_000


def track_size():
    return 7


track_size.unit = "pieces"


def track_words():
    return "many"


class Suite:
    params = ([1, 2], ["a", "b.c"])
    param_names = ("n", "text")
    number = 3
    repeat = 2
    version = "9"
    pretty_name = "a suite"

    def setup(self, n, text):
        if n == 2 and text == "a":
            raise NotImplementedError("not this one")
        self.left = [text] * self.number
        log.append("setup")

    def time_pop(self, n, text):
        return self.left.pop()

    def track_log(self, n, text):
        return len(log)

    def teardown(self, n, text):
        log.append("teardown")


class Cached:
    timeout = 0.5

    def setup_cache(self):
        Path("made").touch()
        with open("times", "a") as times:
            times.write("x")
        return {"answer": 42}

    def setup(self, made):
        assert made == {"answer": 42}
        assert Path("made").exists()

    def track_answer(self, made):
        return made["answer"]

    def track_times(self, made):
        return len(Path("times").read_text())

    def time_for_ever(self, made):
        while True:
            pass


class Base:
    def time_inherited(self):
        return None


class Derived(Base):
    @skip_for_params([(3,)])
    def time_skipped(self, n):
        pass

    time_skipped.params = [3, 4]
"""


@pytest.fixture
def found(toy, tmp_path):
    suites = tmp_path / "kinds"
    suites.mkdir()
    (suites / "__init__.py").touch()
    (suites / "x.py").write_text(KINDS)
    rows, status, words = ask(tmp_path, toy.root, "discover", suites=suites)
    assert status == 0, words
    return {row.get("name") or row["excluded"]: row for row in rows}


@pytest.fixture
def run(found, toy, tmp_path):
    """Run a task on a case; its answer."""

    def run(task, name, **more):
        case = found[f"x.{name}"]
        (answer,), _, _ = ask(
            tmp_path, toy.root, task, [case | more], suites=tmp_path / "kinds", **more
        )
        return answer

    return run


@pytest.mark.parametrize(("files", "name", "why"), [
    ({"bad.py": "import sys\nimport nonexistent_zz\n"}, "bad",
     "kinds/bad.py:2 does not import: ModuleNotFoundError: No module named 'nonexistent_zz'"),
    ({"bad.py": "def time_it(:\n"}, "bad", "kinds/bad.py:1 does not import: SyntaxError: invalid"),
    ({"bad.py": "from . import held\n", "held.py": "\n\nraise SystemExit('no')\n"}, "bad",
     "kinds/held.py:3 does not import: SystemExit: no"),
    ({"bad.py": "from driver import gone\n"}, "bad",
     "kinds/bad.py:1 does not import: ImportError: cannot import name 'gone'"),
    ({"sub/__init__.py": "1 / 0\n"}, "sub",
     "kinds/sub/__init__.py:1 does not import: ZeroDivisionError: division by zero"),
])  # fmt: skip
def test_a_module_that_does_not_import_is_named_with_its_line_and_stops_no_other(
    toy, tmp_path, files, name, why
):
    suites = tmp_path / "kinds"
    for file, text in {"__init__.py": "", "x.py": "def time_it():\n    pass\n", **files}.items():
        (suites / file).parent.mkdir(parents=True, exist_ok=True)
        (suites / file).write_text(text)
    rows, status, words = ask(tmp_path, toy.root, "discover", suites=suites)
    assert [row["name"] for row in rows if "name" in row] == ["x.time_it"]
    (told,) = [row["why"] for row in rows if row.get("excluded") == name]
    assert told.startswith(why)
    assert "/toy" not in told
    # Who does not ask about such modules hears of them all the same.
    assert status == 1
    assert words.splitlines()[-1].endswith(told)
    case = {"name": "x.time_it", "benchmark": "x.time_it"}
    (answer,), _, _ = ask(tmp_path, toy.root, "prove", [case], suites=suites)
    assert "proof" in answer


def test_two_benchmarks_of_one_name_are_told_and_two_names_of_one_are_measured_once(toy, tmp_path):
    suites = tmp_path / "kinds"
    suites.mkdir()
    (suites / "__init__.py").touch()
    (suites / "x.py").write_text(
        "def time_one():\n    pass\n\n\ndef time_two():\n    return 1\n\n\n"
        "time_two.benchmark_name = 'x.time_one'\n\n\n"
        "class Three:\n    def time_it(self):\n        pass\n\n\nFour = Three\n\n\n"
        "def made():\n    class Five(Three):\n        pass\n\n    return Five\n\n\n"
        "One, Other = made(), made()\n"
    )
    rows, status, words = ask(tmp_path, toy.root, "discover", suites=suites)
    assert [row.get("name") or row["excluded"] for row in rows] == [
        "x.Three.time_it", "x.time_one", "x.Five.time_it",
    ]  # fmt: skip
    why = (
        "kinds/x.py:1 and kinds/x.py:5 are both called x.time_one: rename one",
        "two classes with kinds/x.py:13 are both called x.Five.time_it: rename one",
    )
    assert [(row["why"], row["broken"]) for row in rows[1:]] == [(each, True) for each in why]
    assert (status, words.splitlines()[-1]) == (1, "; ".join(why))


def test_each_combination_of_parameters_is_a_case_named_as_asv_names_it(found):
    names = [case.name for case in suite.from_rows(found.values()) if "pop" in case.name]
    assert names == [
        "x.Suite.time_pop(1, 'a')", "x.Suite.time_pop(1, 'b.c')",
        "x.Suite.time_pop(2, 'a')", "x.Suite.time_pop(2, 'b.c')",
    ]  # fmt: skip
    (case,) = suite.from_rows([found[names[1]]])
    assert (case.suite, case.case, case.version) == ("x.Suite", "pop(1, 'b.c')", "9")


def test_a_list_has_asv_s_pretty_names_and_the_names_of_parameters(found):
    about = listing.document([*found.values()], suite.expression("plain|pop|skipped|skips"))
    words = {each["name"]: (each.get("pretty_name"), each.get("params"))
             for each in about["benchmarks"]}  # fmt: skip
    assert words == {
        "x.time_plain": ("a plain call", None), "x.time_skips": (None, None),
        **{f"x.Suite.time_pop({n}, {text})": (None, {"n": n, "text": text})
           for n in "12" for text in ("'a'", "'b.c'")},
        **{f"x.Derived.time_skipped({n})": (None, {"param1": n}) for n in "34"},
    }  # fmt: skip
    said = Console(file=io.StringIO(), width=120)
    listing.show(about, said)
    lines = [line.rstrip().split("  ") for line in said.file.getvalue().splitlines()]
    shown = {line[0]: line[-1].strip() for line in lines if line[0].startswith("x.")}
    assert shown["x.time_plain"] == "a plain call"
    assert shown["x.Suite.time_pop(1, 'b.c')"] == "n=1, text='b.c'"


def test_methods_of_a_base_class_are_found_in_both(found):
    assert {"x.Base.time_inherited", "x.Derived.time_inherited"} <= found.keys()


@pytest.mark.parametrize(("kind", "by"), [
    ("time", ("wall", "instructions", "allocations", "bytes", "retained", "tail")),
    ("timeraw", ("wall",)), ("memory", ("memory",)), ("peakmemory", ("peakmemory",)),
    ("track", ("track",)),
])  # fmt: skip
def test_each_kind_of_benchmark_has_its_meters(found, kind, by):
    assert meters.of(kind) == by
    assert kind in {row.get("kind") for row in found.values()}


def test_what_cannot_be_measured_is_named_with_the_reason(found):
    why = {each["name"]: each["why"] for each in suite.left_out(
        found.values(), suite.expression(""), tuple(meters.METERS)
    )}  # fmt: skip
    assert set(why) == {"x.time_nothing", "x.time_two_many"}
    assert "only makes a coroutine" in why["x.time_nothing"]
    assert "expected 0, has 2" in why["x.time_two_many"]


def test_what_the_meters_cannot_measure_that_were_asked_for_is_named_too(found):
    why = {each["name"]: each["why"] for each in suite.left_out(
        found.values(), suite.expression("raw|track_size"), ("instructions",)
    )}  # fmt: skip
    assert why == {
        "x.timeraw_start": "not measured: only wall could measure it",
        "x.track_size": "not measured: only track could measure it",
    }


def test_a_setup_that_says_so_skips_one_combination_alone(run):
    assert run("prove", "Suite.time_pop(2, 'a')")["absent"] == "not this one"
    assert "proof" in run("prove", "Suite.time_pop(2, 'b.c')")


def test_asv_s_other_ways_to_skip_are_followed(run):
    assert run("prove", "time_skips")["absent"] == "not here"
    assert "skip_params" in run("prove", "Derived.time_skipped(3)")["absent"]
    assert "proof" in run("prove", "Derived.time_skipped(4)")
    assert "an error like any other" in run("prove", "time_fails")["error"]


def test_between_two_setups_there_are_no_more_calls_than_number_says(run):
    proven = run("prove", "Suite.time_pop(1, 'a')")
    assert proven["number"] == 3
    assert len(run("wall", "Suite.time_pop(1, 'a')", loops=3)["values"]) == 2  # repeat
    counts = {"warm": 3, "few": 0, "many": 3}
    assert run("allocations", "Suite.time_pop(1, 'a')", counts=counts)["allocations"] < 1
    assert "pop from empty list" in run("wall", "Suite.time_pop(1, 'a')", loops=4)["error"]


def test_setups_run_from_the_module_s_inwards_and_each_value_in_a_process_of_its_own(run):
    for _ in range(2):
        assert run("value", "Suite.track_log(1, 'a')")["value"] == 2


def test_a_setup_cache_runs_once_a_side_in_the_folder_that_its_benchmarks_run_in(run, tmp_path):
    cache = str(tmp_path / "caches")
    for _ in range(2):
        assert run("value", "Cached.track_answer", cache=cache)["value"] == 42
        assert run("value", "Cached.track_times", cache=cache)["value"] == 1


def test_a_benchmark_that_takes_longer_than_its_timeout_is_an_error(run):
    assert "longer than its timeout of 0.5 s" in run("prove", "Cached.time_for_ever")["error"]


def test_values_are_numbers_or_errors(run):
    assert run("value", "track_size")["value"] == 7
    assert run("value", "mem_list")["value"] > 8000
    assert run("value", "peakmem_list")["value"] > 4_000_000 * 8
    assert "no number" in run("value", "track_words")["error"]


def test_a_raw_statement_is_timed_in_a_process_of_its_own(run):
    assert run("prove", "timeraw_start")["proof"]["grade"] == "unseen"
    assert all(value > 0 for value in run("wall", "timeraw_start", loops=1)["values"])


def test_a_project_may_demand_a_grade_of_proof(run):
    assert "no prove()" in run("prove", "time_plain", proof="proved")["refused"]
    assert "was seen to run" in run("prove", "time_plain", proof="witnessed")["refused"]
    assert run("prove", "time_plain")["proof"]["grade"] == "unseen"


@pytest.fixture
def seen(toy, tmp_path):
    """See what a function of a suite runs of the toy driver."""

    def seen(body, side=toy.root):
        suites = tmp_path / "seen"
        suites.mkdir()
        (suites / "__init__.py").touch()
        (suites / "x.py").write_text(f"import driver.work\n\n\ndef time_it():\n    {body}\n")
        case = {"name": "x.time_it", "benchmark": "x.time_it"}
        (answer,), _, _ = ask(tmp_path, side, "prove", [case], suites=suites)
        return answer

    return seen


def test_the_files_of_the_package_that_ran_are_seen(seen):
    proof = seen("return driver.work.spin(3)")["proof"]
    assert proof["grade"] == "witnessed"
    assert proof["modules"] == {"work": "driver/work.py"}
    assert proof["digest"] == witness.digest(3)


@pytest.mark.usefixtures("compiler")
def test_a_compiled_module_is_seen_to_run(toy, seen):
    toy.write("driver/_cython/work.c", EXTENSION)
    built = build_extension(toy.root / "driver/_cython/work.c")
    proof = seen("from driver._cython.work import answer\n    return answer()")["proof"]
    assert proof["modules"] == {"_cython.work": f"driver/_cython/{built.name}"}
    assert proof["digest"] == witness.digest(42)


@pytest.mark.usefixtures("compiler")
@pytest.mark.skipif(not os.access(witness._FORGET, os.W_OK), reason="Linux alone tells")
def test_compiled_code_is_seen_however_often_it_ran_before(toy):
    toy.write("driver/_cython/work.c", EXTENSION)
    built = build_extension(toy.root / "driver/_cython/work.c")
    script = f"""
import importlib.util
from pathlib import Path
from benchproof import witness

spec = importlib.util.spec_from_file_location("work", {str(built)!r})
work = importlib.util.module_from_spec(spec)
spec.loader.exec_module(work)
for _ in range(20):
    for _ in range(1000):
        work.answer()
    seen = set()
    # Not by way of what Python's profile function sees.
    with witness._fetched(seen, Path({str(built.parent)!r})):
        work.answer()
    print(len(seen))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.split() == ["1"] * 20


def test_the_same_code_is_that_of_the_files_that_setup_and_a_call_run(toy, tmp_path):
    body = """
import driver.work

class Case:
    def setup(self):
        import driver.made
        self.number_made = driver.made.number()
    def time_it(self):
        return driver.work.spin(self.number_made)

class Cached:
    def setup_cache(self):
        return 3
    def time_it(self, kept):
        return driver.work.spin(kept)

def time_nothing():
    return 1
"""
    suites = tmp_path / "suites"
    suites.mkdir()
    (suites / "__init__.py").touch()
    (suites / "x.py").write_text(body)
    toy.write("driver/made.py", "def number():\n    return 3\n")
    toy.write("driver/aside.py", "")

    def code(name="Case.time_it"):
        case = {"name": f"x.{name}", "benchmark": f"x.{name}"}
        (answer,), _, _ = ask(tmp_path, toy.root, "prove", [case], suites=suites)
        return answer["code"]

    first = code()
    assert len(first) == 64
    toy.write("driver/aside.py", "# not run")
    assert code() == first
    toy.edit("driver/made.py", "return 3", "return 4 - 1")
    by_setup = code()
    toy.edit("driver/work.py", "total = 0", "total = 1 - 1")
    assert len({first, by_setup, code()}) == 3
    assert code("Cached.time_it") == code("time_nothing") == ""


@pytest.mark.usefixtures("compiler")
def test_another_build_of_a_compiled_module_is_other_code(toy, tmp_path):
    suites = tmp_path / "suites"
    suites.mkdir()
    (suites / "__init__.py").touch()
    (suites / "x.py").write_text(
        "from driver._cython.work import answer\n\ndef time_it():\n    return answer()\n"
    )

    def code():
        case = {"name": "x.time_it", "benchmark": "x.time_it"}
        (answer,), _, _ = ask(tmp_path, toy.root, "prove", [case], suites=suites)
        return answer["code"]

    def build():
        build_extension(toy.root / "driver/_cython/work.c")

    toy.write("driver/_cython/work.c", EXTENSION)
    build()
    first = code()
    toy.edit("driver/work.py", "total = 0", "total = 1 - 1")
    assert first
    assert code() == first
    toy.edit("driver/_cython/work.c", "FromLong(42)", "FromLong(43)")
    build()
    assert code() not in {"", first}


EXTENSION = """
#include <Python.h>
static PyObject *answer(PyObject *self, PyObject *none) { return PyLong_FromLong(42); }
static PyMethodDef methods[] = {{"answer", answer, METH_NOARGS, ""}, {NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "work", NULL, -1, methods};
PyMODINIT_FUNC PyInit_work(void) { return PyModule_Create(&definition); }
"""


def build_extension(source):
    target = source.with_name("work" + sysconfig.get_config_var("EXT_SUFFIX"))
    command = ["cc", "-shared", "-fPIC", "-I", sysconfig.get_paths()["include"], source, "-o"]
    subprocess.run([*command, target], check=True, timeout=60)
    return target


@pytest.mark.parametrize("answer", [
    1, 2.5, "text", b"bytes", [1, (2, None)], {"a": {1, 2}}, frozenset({"x", "y"}), True,
])  # fmt: skip
def test_plain_answers_are_digested(answer):
    assert len(witness.digest(answer)) == 64
    assert witness.digest(answer) == witness.digest(copy.deepcopy(answer))


@pytest.mark.parametrize("answer", [None, object(), [object()], {1: object()}, int])
def test_other_answers_are_not(answer):
    assert witness.digest(answer) == ""


def test_an_answer_that_differs_from_call_to_call_is_none(tmp_path):
    numbers = iter(range(9))
    made = Ready(None, lambda: next(numbers))
    assert witness.see(made, tmp_path, "toy")["digest"] == ""


def test_a_compiled_function_that_tells_of_its_source_ran_from_its_module(tmp_path, monkeypatch):
    side, checkout = tmp_path / "side", tmp_path / "checkout"
    for folder in (side, checkout):
        (folder / "toy").mkdir(parents=True)
    module = side / "toy" / f"fast{witness.COMPILED[0]}"
    module.touch()
    (checkout / "toy" / "fast.pyx").touch()  # what a relative path leads to where benchmarks run
    monkeypatch.chdir(checkout)
    held = {"__name__": "toy.fast", "__file__": str(module)}
    code = (lambda: 1).__code__.replace(co_filename="toy/fast.pyx")
    seen = witness.see(Ready(None, FunctionType(code, held)), side, "toy")
    assert seen["modules"] == {"fast": f"toy/{module.name}"}


def test_numbers_of_the_same_value_and_other_types_are_other_answers():
    assert witness.digest(1) != witness.digest(True)
    assert witness.digest([1]) != witness.digest((1,))
