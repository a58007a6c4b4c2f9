"""The long loads of tests/integration/load.py and scripts/soak, shorter."""

import gzip
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


@pytest.mark.once
@pytest.mark.within(420)
def test_a_rolling_restart_and_changes_of_the_schema_lose_nothing_and_nothing_grows(
    three_nodes, tmp_path
):
    """Once, likewise; scripts/soak takes an hour."""
    three_nodes.whole = False
    done = subprocess.run(
        [sys.executable, "scripts/soak", "--ring", "--minutes", "0.5", "--restart-every", "12",
         "--schema-every", "4", "--sample-every", "1", "--out", tmp_path / "rows.gz"],
        capture_output=True, text=True, timeout=400, check=False, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [
        json.loads(each)
        for each in gzip.decompress((tmp_path / "rows.gz").read_bytes()).splitlines()
    ]
    happened = [row["event"] for row in rows if "event" in row]
    assert "stops" in happened
    assert happened.count("schema") > 2
    assert rows[-1]["acknowledged"] > 500
