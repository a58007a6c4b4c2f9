"""Callgrind's dumps, read: what each function cost by itself, and what people call it."""

import random

import pytest

from benchproof.meters import priced
from benchproof.profile import callgrind
from benchproof.profile.callgrind import DumpError
from benchproof.profile.explain import changes

DUMP = """\
# callgrind format
version: 1
creator: callgrind-3.19.0
cmd: python worker.py
part: 2

desc: I1 cache:
desc: Trigger: --dump-before=getpgrp

positions: line
events: Ir
summary: 700

ob=(1) /usr/lib/libpython3.11.so.1.0
fl=(1) Objects/longobject.c
fn=(1) long_add
16 400
+3 20
* 30
fi=(2) Include/object.h
-7 50
fe=(1)
cob=(2) /side/driver/_cython/work.cpython-311-x86_64-linux-gnu.so
cfi=(3) work.c
cfn=(2) spin
calls=3 +12
+4 200

ob=(2)
fl=(3)
fn=(2)
5 100
cfn=(2)
calls=1 9
* 0

ob=(1)
fn=(3) PyNumber_Add
cfn=(1)
calls=2 16
8 500
8 100

totals: 700
"""
PYTHON = "/usr/lib/libpython3.11.so.1.0"
OWN = {
    ("long_add", PYTHON): 500,
    ("spin", "/side/driver/_cython/work.cpython-311-x86_64-linux-gnu.so"): 100,
    ("PyNumber_Add", PYTHON): 100,
}


def own(text):
    """What each function of a dump cost by itself, by its name and its file."""
    dump = priced.parse(text)
    return {(dump.names[n], dump.objects[n]): cost for n, cost in dump.own.items()}


def test_own_cost_is_told_apart_from_what_was_called():
    assert own(DUMP) == OWN


def test_a_call_names_what_it_calls_and_moves_nothing_there():
    text = DUMP.replace("+4 200\n", "+4 200\ncfn=(9) inner\ncalls=1 1\n1 7\nfn=(9)\n1 5\n")
    assert own(text) == {**OWN, ("inner", PYTHON): 5}


def test_names_with_brackets_are_names():
    assert ("(below main)", PYTHON) in own(DUMP.replace("(3) PyNumber_Add", "(3) (below main)"))
    assert ("operator+(int)", PYTHON) in own(DUMP.replace("PyNumber_Add", "operator+(int)"))


def test_the_total_of_a_dump_is_read_quickly(tmp_path):
    file = tmp_path / "cg.out.7"
    file.write_text(DUMP)
    assert callgrind.summary(file) == 700
    file.write_text(DUMP[:120])
    assert callgrind.summary(file) is None


def dumps(folder, *own):
    """Dumps of two functions; the cheapest one counts."""
    files = []
    for number, (add, spin) in enumerate(own):
        file = folder / f"{number}.out"
        file.write_text(
            "version: 1\npositions: line\nevents: Ir\n"
            f"summary: {add + spin}\n"
            f"ob=(1) /usr/lib/libpython3.11.so.1.0\nfn=(1) long_add\n1 {add}\n"
            f"ob=(2) {folder}/driver/_cython/work.cpython-311-x86_64-linux-gnu.so\n"
            f"fn=(2) __pyx_pw_6driver_7_cython_4work_3spin\n1 {spin}\n"
        )
        files.append(file)
    return files


def test_functions_whose_own_cost_changed_come_by_growth_with_their_share(tmp_path):
    sides = [tmp_path / "a", tmp_path / "b"]
    for side in sides:
        side.mkdir()
    left = dumps(sides[0], (5000, 1000), (4000, 1000))
    right = dumps(sides[1], (3200, 1900), (9000, 9000))
    costs = [
        callgrind.per_call(files, 10, [str(side)])
        for files, side in zip((left, right), sides, strict=True)
    ]
    found = changes(*costs, "instructions")
    told = [
        tuple(each[key] for key in ("function", "file", "left", "right", "change", "share"))
        for each in found
    ]
    assert told == [
        ("driver._cython.work.spin", "driver/_cython/work.so", 100, 190, 90, 1.0),
        ("long_add", "libpython3.11.so", 400, 320, -80, 1.0),
    ]


def test_equal_dumps_differ_in_nothing(tmp_path):
    costs = callgrind.per_call(dumps(tmp_path, (4000, 1000)), 10)
    assert changes(costs, costs, "instructions") == []


def test_no_readable_dump_is_an_error(tmp_path):
    (tmp_path / "cut").write_text("version: 1\n")
    with pytest.raises(DumpError, match="no dump"):
        callgrind.per_call([tmp_path / "cut"], 1)


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("long_add", "long_add"),
        ("long_add.constprop.0", "long_add"),
        ("long_add.part.3.cold", "long_add"),
        ("_PyEval_EvalFrameDefault'2", "_PyEval_EvalFrameDefault"),
        ("0x0000000004936720", "(without a name)"),
        ("", "(without a name)"),
        ("__pyx_pw_6driver_7_cython_5types_7marshal_1int8_pack",
         "driver._cython.types.marshal.int8_pack"),
        ("__pyx_f_6driver_7_cython_4wire_4rows_parse.isra.0", "driver._cython.wire.rows.parse"),
        ("__pyx_f_6driver_5types_13deserializers_17Int32Deserializer_deserialize",
         "driver.types.deserializers.Int32Deserializer.deserialize"),
        ("__Pyx_GetItemInt_Fast", "__Pyx_GetItemInt_Fast"),
    ],
)  # fmt: skip
def test_a_symbol_is_told_as_its_author_wrote_it(symbol, name):
    assert callgrind.plain_name(symbol) == name


def test_the_order_of_functions_in_a_dump_does_not_matter():
    numbers = list(range(5))
    random.Random(1).shuffle(numbers)
    head = DUMP.partition("ob=(1) ")[0] + "ob=(1) work.so\n"
    text = head + "".join(f"fn=({n}) f{n}\n1 {n + 1}\n" for n in numbers)
    assert own(text) == {(f"f{n}", "work.so"): n + 1 for n in range(5)}
