"""The suite that docs/other-drivers.md shows runs on a published driver, and proves what it ran."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "other-drivers.md"
#: The upstream package has no features of the protocol to pass.
UPSTREAM = ("decode_message(4, FEATURES, {}", "decode_message(4, {}")


@pytest.fixture(scope="module")
def suite():
    pytest.importorskip("cassandra.protocol")
    text = PAGE.read_text(encoding="utf-8")
    code = re.search(r"^```python suite\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[1]
    assert code.count(UPSTREAM[0]) == 2
    namespace = {}
    exec(compile(code.replace(*UPSTREAM), str(PAGE), "exec"), namespace)  # noqa: S102  (our page)
    return namespace


def test_every_case_runs_and_proves_what_it_ran(suite):
    cases = {name: each for name, each in suite.items() if name.startswith("time_")}
    assert len(cases) == 5
    for case in cases.values():
        proof = case.prove()
        assert proof["digest"] == case.prove()["digest"]
        assert "protocol" in proof["modules"]
        assert case.version == "1"


def test_the_cases_do_what_their_names_say(suite):
    assert suite["time_encode_query"]()[4] == 7  # the opcode of QUERY
    assert suite["time_bind_three_values"]().values[1] == b"\x00\x00\x00\x04"
    assert suite["time_routing_key"]() == b"bind"
    assert suite["time_decode_one_row"]().parsed_rows == [("bind", 7)]
    assert len(suite["time_decode_100_rows"]().parsed_rows) == 100
