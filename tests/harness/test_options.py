"""Options that several commands share: what they take, and what they say of anything else."""

import pytest

from benchproof import variants
from benchproof.commands.options import any_of, chosen_meters
from benchproof.errors import SelectionError, TargetError
from benchproof.variants import Variant


def test_variants_are_one_or_all():
    known = (Variant("quick"), Variant("plain"))
    for text in ("all", "both", ""):
        assert variants.chosen(known, text) == ("quick", "plain")
    assert variants.chosen(known, "plain") == ("plain",)
    words = "--impl 'quik': the variants of this project are quick, plain; did you mean quick"
    with pytest.raises(TargetError, match=words):
        variants.chosen(known, "quik")


def test_several_expressions_choose_what_any_of_them_does():
    assert (any_of(None), any_of(["bind"]), any_of(["^a", "b$"])) == ("", "bind", "^a|b$")
    # Each is held against the rules by itself: together these two would be one.
    with pytest.raises(SelectionError, match=r"--bench 'a\(' is no regular expression"):
        any_of(["a(", "b)"])


def test_meters_are_some_all_or_the_exact_ones():
    counted = ("instructions", "allocations", "bytes", "retained")
    values = ("memory", "peakmemory", "syscalls")  # and not what a benchmark tracks
    assert chosen_meters("all") == ("wall", *counted, "memory", "peakmemory", "tail",
                                    "processor", "syscalls", "track")  # fmt: skip
    assert chosen_meters("exact") == (*counted, *values)
    assert chosen_meters(" bytes, wall") == ("wall", "bytes")


@pytest.mark.parametrize("text", ["", "instructons", "wall,,joules"])
def test_other_meters_are_refused(text):
    with pytest.raises(SelectionError, match=r"--meters .*: choose from wall, instructions"):
        chosen_meters(text)
