"""Fixed prices for what depends on where things lie, in dumps that are made up and in real ones."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchproof.bench import environment
from benchproof.meters import instructions, priced
from benchproof.meters.counts import Counts
from benchproof.variants import UNNAMED

ROOT = Path(__file__).resolve().parents[2]
needs_valgrind = pytest.mark.skipif(bool(instructions.why_not()), reason=instructions.why_not())


def dump(*functions):
    """A dump: of each function its name, its own cost, and its calls (callee, count, cost)."""
    numbers, lines = {}, ["# callgrind format", "positions: line", "events: Ir", ""]

    def name(kind, function):
        if function in numbers:
            return f"{kind}=({numbers[function]})"
        numbers[function] = len(numbers) + 1
        return f"{kind}=({numbers[function]}) {function}"

    for function, own, *calls in functions:
        lines += ["fl=(1)", name("fn", function), f"0 {own}"]
        for callee, count, cost in calls:
            lines += ["cob=(3)", "cfi=(1)", name("cfn", callee), f"calls={count} 0", f"+1 {cost}"]
    return priced.parse("\n".join([*lines, "", "totals: 1"]))


def test_an_allocation_has_the_same_price_whatever_it_cost():
    cheap = dump(("work", 100, ("PyObject_Malloc", 3, 60)), ("PyObject_Malloc", 60))
    dear = dump(
        ("work", 100, ("PyObject_Malloc", 3, 900)),
        ("PyObject_Malloc", 300, ("malloc", 1, 600)),
        ("malloc", 100, ("_int_malloc", 1, 500)),
        ("_int_malloc", 500),
    )
    assert 160 + priced.price(cheap) == 100 + 3 * priced.PYTHON_PRICE
    assert 1000 + priced.price(dear) == 100 + 3 * priced.PYTHON_PRICE


def test_more_allocations_cost_more():
    few, many = (
        dump(("work", 100, ("malloc", count, 90)), ("malloc", 90)) for count in (3, 4)
    )  # fmt: skip
    assert priced.price(many) - priced.price(few) == priced.C_PRICE


def test_a_block_that_moves_as_it_grows_costs_no_copy_but_any_other_copy_counts():
    moving = dump(
        ("work", 100, ("realloc", 1, 80), ("__memcpy_avx_unaligned_erms", 1, 30)),
        ("realloc", 30, ("__memcpy_avx_unaligned_erms", 1, 50)),
        ("__memcpy_avx_unaligned_erms", 80),
    )
    assert 210 + priced.price(moving) == 100 + 30 + priced.C_PRICE


def test_compilers_suffixes_and_recursions_do_not_hide_a_name():
    parts = dump(
        ("work", 10, ("malloc", 1, 90)),
        ("malloc", 20, ("_int_malloc.part.0", 1, 70)),
        ("_int_malloc.part.0", 30, ("unlink_chunk.constprop.0", 1, 40)),
        ("unlink_chunk.constprop.0", 40),
    )
    assert 100 + priced.price(parts) == 10 + priced.C_PRICE


def test_a_function_without_a_name_belongs_to_the_allocator_if_nobody_else_calls_it():
    own = dump(
        ("work", 10, ("malloc", 1, 90)),
        ("malloc", 20, ("0x000a1b20", 1, 70)),
        ("0x000a1b20", 30, ("0x000a1c40", 1, 40)),
        ("0x000a1c40", 40),
    )
    shared = dump(
        ("work", 10, ("malloc", 1, 90), ("0x000a1b20", 1, 5)),
        ("malloc", 20, ("0x000a1b20", 1, 70)),
        ("0x000a1b20", 75),
    )
    assert 100 + priced.price(own) == 10 + priced.C_PRICE
    assert 105 + priced.price(shared) == 10 + 75 + priced.C_PRICE


def missing(*more):
    """A look-up that misses the method cache once in two calls."""
    return dump(
        ("work", 100, ("_PyType_Lookup", 2, 700)),
        ("_PyType_Lookup", 100, ("find_name_in_mro", 1, 600)),
        ("find_name_in_mro", 400, ("_Py_dict_lookup", 4, 200)),
        ("_Py_dict_lookup", 200),
        *more,
    )


def test_a_miss_of_the_method_cache_costs_as_much_as_a_hit():
    hits = dump(("work", 100, ("_PyType_Lookup", 2, 66)), ("_PyType_Lookup", 66))
    assert 166 + priced.price(hits) == 800 + priced.price(missing()) == 100 + 2 * 30


@pytest.mark.parametrize("maker", sorted(priced._MAKERS))
def test_a_miss_counts_in_full_where_the_case_makes_or_changes_types(maker):
    assert priced.price(missing((maker, 50))) == 0


def test_a_dump_without_functions_has_nothing_to_price():
    assert (
        priced.price(priced.parse("desc: Trigger: x\nevents: Ir\nsummary: 5\n\ntotals: 41\n")) == 0
    )


PROBE = """
import sys
sys.path.append({root!r})
# What an unrelated edit does: other objects, other types, other holes between them.
shift = int(sys.argv[1])
ballast = [type(f"Kind{{n}}", (), {{"weight": n}}) for n in range(137 * shift)]
holes = [[bytes(size) for size in range(0, 3000, 16)] for _ in range(11 * shift)]
del holes[::3]
for kind in ballast:
    kind().weight
from benchproof.meters import instructions
from benchproof.meters.counts import Counts
from benchproof.variants import UNNAMED

class Base:
    def __len__(self):
        return 3

KINDS = [type(f"Case{{n}}", (Base,), {{}}) for n in range(60)]

def call(items=[kind() for kind in KINDS]):
    total = [len(item) for item in items]
    return b"".join([bytes(size) for size in range(100, 2000, 100)]), total

print(instructions.measure(call, Counts(64, 16, 32)))
"""


@needs_valgrind
@pytest.mark.slow
def test_where_things_lie_moves_no_count(tmp_path):
    probe = tmp_path / "probe.py"
    probe.write_text(PROBE.format(root=str(ROOT)))
    counted = []
    for shift in ("0", "3", "7"):
        folder = tmp_path / shift
        folder.mkdir()
        command = instructions.command([sys.executable, "-P", str(probe), shift], folder)
        answer = subprocess.run(
            command, env=os.environ | environment(UNNAMED, None), check=True, capture_output=True,
            text=True,
        )  # fmt: skip
        dumps = ast.literal_eval(answer.stdout)
        counted.append(Counts(64, 16, 32).per_call(instructions.read(folder, dumps)))
    assert max(counted) / min(counted) < 1.001
