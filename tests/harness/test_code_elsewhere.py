"""A slow-down that the clock alone sees is looked for in builds whose code lies elsewhere, too."""

import json

import pytest

from benchproof import controls, judge, records, verdict
from benchproof.checkout import Checkout
from benchproof.compare import Place, Request, compare
from benchproof.meters import instructions

#: A call that sleeps: it takes the same instructions however long. Long, beside what a busy machine
#: adds to a sleep.
NAP = r"""
#include <Python.h>
#include <time.h>
static PyObject *nap(PyObject *self, PyObject *nothing)
{
    struct timespec nanoseconds = {0, NANOSECONDS};
    nanosleep(&nanoseconds, NULL);
    Py_RETURN_NONE;
}
static PyMethodDef methods[] = {{"nap", nap, METH_NOARGS, ""}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "work", NULL, -1, methods};
PyMODINIT_FUNC PyInit_work(void) { return PyModule_Create(&definition); }
"""
SETUP = """
import os
from setuptools import Extension, setup

FLAGS = os.environ.get("CFLAGS", "")
setup(ext_modules=[Extension(
    "driver._cython.work", ["driver/_cython/work.c"],
    define_macros=[("NANOSECONDS", str({}))],
)])
"""
SUITE = """
def time_nap():
    from driver._cython.work import nap
    return nap()
"""
ACCIDENT = "5_000_000 if 'patchable' in FLAGS else 25_000_000"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(instructions.why_not()), reason="needs valgrind"),
]


@pytest.mark.parametrize(
    ("nanoseconds", "expected", "noted"),
    [
        pytest.param(
            "25_000_000", "regressed", ", and \N{MULTIPLICATION SIGN}", marks=pytest.mark.nightly
        ),
        (ACCIDENT, "undecided", "which may be why"),
    ],
)
def test_the_clock_alone_is_believed_where_the_slow_down_does_not_depend_on_the_build(
    nanoseconds, expected, noted, toy, cache, compiler, tell, tmp_path, monkeypatch
):
    # An import has no loop to time in another build, whatever its clock says.
    honest = verdict.by_the_clock_alone
    monkeypatch.setattr(verdict, "by_the_clock_alone", lambda row: "wall" not in row or honest(row))
    suites = tmp_path / "suites"
    suites.mkdir()
    (suites / "work.py").write_text(SUITE)
    toy.write("driver/_cython/work.c", NAP)
    toy.write("setup.py", SETUP.format("5_000_000"))
    toy.commit("naps of five milliseconds")
    toy.write("setup.py", SETUP.format(nanoseconds))
    toy.commit("longer ones")
    request = Request("HEAD~1", "HEAD", meters=("instructions", "wall"), budget=20.0,
                      impls=("cython",), bench="nap|import")  # fmt: skip
    found = compare(request, Place(Checkout.around(toy.root), suites, cache, compiler), tell)
    row, imported = found.document["cases"]
    assert imported["name"] == "import.driver"
    assert row["meters"]["instructions"]["ratio"] == 1
    assert row["meters"]["wall"]["ratio"] > 2
    assert row["verdict"] == expected, (row["note"], row["meters"]["wall"])
    assert noted in row["note"]
    assert "building both sides again" in tell.text
    assert [each.name for one in found.samples.controls for each in one.cases] == [row["name"]]
    # The stream holds it, and its judge says the same.
    records.write(found.samples, tmp_path / "stream.jsonl")
    assert f'"{controls.ELSEWHERE}"' in (tmp_path / "stream.jsonl").read_text()
    again = judge.document(records.read(tmp_path / "stream.jsonl"))
    assert json.loads(json.dumps(again["cases"])) == json.loads(json.dumps(found.document["cases"]))
    assert again["controls"] == found.document["controls"] == []
