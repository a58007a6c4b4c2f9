"""Each known difference of requests and the schema is as its table and docs/peers.md say."""

from pathlib import Path

import pytest
from peers.known_differences import outcome
from peers.known_execution_differences import DIFFERENCES, SIDES

DOCUMENT = Path(__file__).parents[2] / "docs" / "peers.md"

each = pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda d: d.what)


@each
def test_this_driver_does_what_the_table_says(difference):
    assert outcome(difference, SIDES[0]) == difference.our_result


@each
def test_the_peer_does_what_the_table_says(difference):
    assert outcome(difference, SIDES[1]) == difference.peer_result


@each
def test_the_document_has_the_row(difference):
    row = f"| {difference.what} | {difference.ours} | {difference.peer} | {difference.why} |"
    assert row in DOCUMENT.read_text(encoding="utf-8")
