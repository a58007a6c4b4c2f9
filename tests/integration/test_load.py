"""The long load of tests/integration/load.py, shorter."""

import json
import subprocess
import sys

import pytest

from tests.integration.load import GROWTH_ALLOWED
from tests.integration.rings import ROOT

REQUESTS, CONCURRENCY = 30_000, 256


@pytest.mark.once
@pytest.mark.within(420)
def test_a_load_with_a_node_killed_in_its_middle_loses_nothing_and_grows_by_little(three_nodes):
    """Once: minutes of load; what it exercises beside decoding has no compiled form."""
    three_nodes.whole = False  # should it end in the middle
    done = subprocess.run(
        [sys.executable, "-m", "tests.integration.load", "--ring", "--within", "240",
         "--requests", str(REQUESTS), "--concurrency", str(CONCURRENCY)],
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
        cwd=ROOT,
    )  # fmt: skip
    assert done.stdout, done.stderr
    result = json.loads(done.stdout)
    assert result["lost_count"] == result["missed_by_reads"] == 0, result
    assert result["growth"] <= GROWTH_ALLOWED, result
    assert result["acknowledged_writes"] > REQUESTS * 0.6, result
    assert set(result["happened_at"]) == {"killed", "back"}, result
    assert done.returncode == 0, result
