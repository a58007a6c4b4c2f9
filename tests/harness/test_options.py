"""Options that several commands share: what they take, and what they say of anything else."""

import pytest

from benchproof.commands.options import chosen_impls, chosen_meters
from benchproof.errors import SelectionError


def test_implementations_are_one_or_both():
    assert chosen_impls("both") == ("cython", "python")
    assert chosen_impls("cython") == ("cython",)
    assert chosen_impls("python") == ("python",)
    with pytest.raises(SelectionError, match="--impl 'jit': choose cython, python or both"):
        chosen_impls("jit")


def test_meters_are_some_all_or_the_exact_ones():
    counted = ("instructions", "allocations", "bytes", "retained")
    values = ("memory", "peakmemory", "syscalls", "track")
    assert chosen_meters("all") == ("wall", *counted, "memory", "peakmemory", "processor",
                                    "syscalls", "track")  # fmt: skip
    assert chosen_meters("exact") == (*counted, *values)
    assert chosen_meters(" bytes, wall") == ("wall", "bytes")


@pytest.mark.parametrize("text", ["", "instructons", "wall,,joules"])
def test_other_meters_are_refused(text):
    with pytest.raises(SelectionError, match=r"--meters .*: choose from wall, instructions"):
        chosen_meters(text)
