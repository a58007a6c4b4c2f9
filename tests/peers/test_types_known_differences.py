"""Each known difference is as the table says, and docs/peers.md shows the same table."""

from pathlib import Path

import pytest
from peers.known_differences import DIFFERENCES, SIDES, outcome

DOCUMENT = Path(__file__).parents[2] / "docs" / "peers.md"


def _is(actual, expected):
    if isinstance(actual, type) and isinstance(expected, type):
        return issubclass(actual, expected)
    return actual == expected


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda d: d.what)
def test_this_driver_does_what_the_table_says(difference):
    assert _is(outcome(difference, SIDES[0]), difference.our_result)


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda d: d.what)
def test_the_peer_does_what_the_table_says(difference):
    assert _is(outcome(difference, SIDES[1]), difference.peer_result)


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda d: d.what)
def test_the_document_has_the_row(difference):
    row = f"| {difference.what} | {difference.ours} | {difference.peer} | {difference.why} |"
    assert row in DOCUMENT.read_text(encoding="utf-8")
