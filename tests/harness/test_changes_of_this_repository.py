"""In this repository's own history the search finds the reproduced claims, and no others."""

from pathlib import Path

import pytest
from ledger import reader, store

from benchproof.changes.search import find_all
from benchproof.checkout import Checkout
from benchproof.history.asv_files import load
from tests.harness.known_changes import METER, score, truth

ROOT = Path(__file__).resolve().parents[2]
HISTORY = ROOT / "reports" / "results" / "asv"
CLAIMS = ROOT / "reports" / "results" / "claims"


@pytest.fixture(scope="module")
def kept():
    """The history, what is claimed of it, and what is known not to have changed."""
    for folder in (HISTORY, CLAIMS):
        if not folder.is_dir():
            pytest.skip(f"{folder.relative_to(ROOT)} was not measured yet")
    checkout = Checkout.around(ROOT)
    if checkout.is_shallow():
        pytest.skip("the clone is shallow: the history's commits are not in it")
    history = load(HISTORY, checkout)
    real, none = truth(reader.read(ROOT / "claims.toml"), store.load(CLAIMS), history)
    measured = {
        (key.benchmark, key.impl, int(place))
        for key, series in history.series.items()
        if key.meter == METER
        for place in series.index
    }
    return history, real, none, measured


@pytest.fixture(scope="module")
def known(kept):
    history, real, none, measured = kept
    shown = [
        each for each in real
        if {(each.benchmark, each.impl, each.place - step) for step in (0, 1)} <= measured
    ]  # fmt: skip
    if real and not shown:
        pytest.skip("of no reproduced claim both sides are in the history yet")
    return score(find_all(history), shown, none)


def test_every_reproduced_claim_is_in_the_history(kept):
    _, real, _, measured = kept
    lacking = [each for each in real if tuple(each) not in measured]
    assert not lacking, f"claimed, but not in the history: {lacking[:5]}"


def test_reproduced_claims_of_2_percent_are_found_at_their_very_commits(known):
    assert len(known.found) > 0
    assert known.recall >= 0.95, sorted(known.missed)


def test_what_is_found_where_something_is_known_is_real(known):
    assert known.precision >= 0.95, sorted(known.wrong)
