"""Callgrind's dumps, read: every form that the format's specification allows, and broken ones."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchproof.profile import callgrind
from benchproof.profile.callgrind import DumpError, Function, parse
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
ADD = Function("/usr/lib/libpython3.11.so.1.0", "long_add")
NUMBER = Function("/usr/lib/libpython3.11.so.1.0", "PyNumber_Add")
SPIN = Function("/side/driver/_cython/work.cpython-311-x86_64-linux-gnu.so", "spin")


def read(text):
    return parse(iter(text.splitlines(keepends=True)))


def test_own_cost_is_told_apart_from_what_was_called():
    costs = read(DUMP).costs
    assert costs == {ADD: 500, SPIN: 100, NUMBER: 100}


def test_own_costs_add_up_to_the_summary():
    dump = read(DUMP)
    assert dump.costs.total() == dump.summary == 700


def test_a_call_names_what_it_calls_and_moves_nothing_there():
    text = DUMP.replace("+4 200\n", "+4 200\ncfn=(9) inner\ncalls=1 1\n1 7\nfn=(9)\n1 5\n")
    assert read(text).costs == {ADD: 500, SPIN: 100, NUMBER: 100, (ADD.object, "inner"): 5}


def test_names_without_compression_and_with_brackets_are_names():
    text = DUMP.replace("fn=(3) PyNumber_Add", "fn=operator+(int) const")
    assert Function(ADD.object, "operator+(int) const") in read(text).costs
    assert (
        Function(ADD.object, "(below main)")
        in read(DUMP.replace("(3) PyNumber_Add", "(3) (below main)")).costs
    )


def test_addresses_before_lines_shift_the_costs():
    text = DUMP.replace("positions: line", "positions: instr line")
    text = text.replace("16 400", "0x401000 16 400").replace("+3 20", "+5 +3 20")
    text = text.replace("* 30", "* * 30").replace("-7 50", "+0x10 -7 50")
    text = text.replace("+4 200", "+4 +4 200").replace("5 100", "0x10 5 100")
    text = text.replace("* 0\n", "* * 0\n").replace("8 500", "0x8 8 500")
    text = text.replace("8 100\n\ntotals", "0x8 8 100\n\ntotals")
    assert {f.name: c for f, c in read(text).costs.items()} == {
        "long_add": 500, "spin": 100, "PyNumber_Add": 100,
    }  # fmt: skip


def test_other_events_are_passed_over_and_zeros_at_the_end_may_be_missing():
    text = DUMP.replace("events: Ir", "events: Dr Ir").replace("16 400", "16 9 400")
    costs = read(text.replace("summary: 700", "summary: 9 700")).costs
    assert costs[ADD] == 400


def test_jumps_and_keys_of_later_versions_are_passed_over():
    text = DUMP.replace("16 400\n", "16 400\njump=12 4\njcnd=3/12 9\nnews: 1\nfresh=thing\n")
    assert read(text).costs[ADD] == 500


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "its first line"),
        ("<html>\n", "its first line"),
        (DUMP[:120], "no summary"),
        (DUMP.replace("16 400", "16 4x0"), "line 17 cannot be read"),
        (DUMP.replace("fn=(3) PyNumber_Add", "fn=(77)"), "line 38: (77) names no function"),
        (DUMP.replace("events: Ir", "events: Dr Dw"), "not instructions"),
    ],
)
def test_what_is_no_dump_is_refused_with_its_line(text, words):
    with pytest.raises(DumpError) as refused:
        read(text)
    assert words in str(refused.value)


@given(st.integers(0, len(DUMP)), st.text("()=+*-x0 1\n", max_size=6))
def test_a_damaged_dump_is_read_or_refused_and_nothing_else(place, noise):
    try:
        costs = read(DUMP[:place] + noise + DUMP[place:]).costs
    except DumpError:
        return
    assert all(isinstance(cost, int) for cost in costs.values())


def test_a_file_s_name_is_in_its_refusal_and_its_total_is_read_quickly(tmp_path):
    file = tmp_path / "cg.out.7"
    file.write_text(DUMP)
    assert callgrind.summary(file) == 700
    file.write_text(DUMP[:120])
    assert callgrind.summary(file) is None
    with pytest.raises(DumpError, match=r"cg\.out\.7: it breaks off"):
        callgrind.read(file)


def dumps(folder, *own):
    """Dumps of two functions; the cheapest one counts."""
    files = []
    for number, (add, spin) in enumerate(own):
        file = folder / f"{number}.out"
        file.write_text(
            "version: 1\npositions: line\nevents: Ir\n"
            f"summary: {add + spin}\nob=/usr/lib/libpython3.11.so.1.0\nfn=long_add\n1 {add}\n"
            f"ob={folder}/driver/_cython/work.cpython-311-x86_64-linux-gnu.so\n"
            f"fn=__pyx_pw_6driver_7_cython_4work_3spin\n1 {spin}\n"
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
    told = [(c.function, c.file, c.left, c.right, c.change, c.share) for c in found]
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
    head = DUMP.partition("ob=(1) ")[0] + "ob=work.so\n"
    text = head + "".join(f"fn=f{n}\n1 {n + 1}\n" for n in numbers)
    assert {f.name: c for f, c in read(text).costs.items()} == {f"f{n}": n + 1 for n in range(5)}
