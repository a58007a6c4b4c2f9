"""The walks of the guide for extensions: each is made in a copy of the driver, and used there."""

import shutil
import subprocess
import sys

import pytest
from pages import ROOT, examples

GUIDE = ROOT / "docs" / "guides" / "extending.md"
#: What uses each extension, by the files of its walk.
WALKS = {
    "a type": (
        ["driver/types/numeric.py", "driver/types/__init__.py"],
        """
from io import BytesIO
from driver.protocol.columns import ColumnMetadata
from driver.types import UnsignedInt32Type, lookup_casstype, lookup_cqltype
from driver.types.serializers import find_serializer
from driver.wire.arrays import fixed_dtype
from driver.wire.responses.metadata import read_type
assert lookup_cqltype("uint") is lookup_casstype("UnsignedInt32Type") is UnsignedInt32Type
assert lookup_cqltype("frozen<list<uint>>").cql_parameterized_type() == "frozen<list<uint>>"
assert read_type(BytesIO(bytes([0, 0x16])), {}) is UnsignedInt32Type
assert find_serializer(UnsignedInt32Type).serialize(2**32 - 1, 5) == b"\\xff" * 4
assert UnsignedInt32Type.from_binary(b"\\xff" * 4, 5) == 2**32 - 1
assert lookup_cqltype("vector<uint, 2>").to_binary([1, 2], 5) == b"\\0\\0\\0\\1\\0\\0\\0\\2"
assert str(fixed_dtype(ColumnMetadata("ks", "t", "c", UnsignedInt32Type))) == ">u4"
""",
    ),
    "a message": (
        [
            "driver/wire/requests/handshake.py",
            "driver/wire/responses/handshake.py",
            "driver/wire/codec.py",
        ],
        """
from driver import ProtocolHandler
from driver.wire.requests.handshake import PingMessage
frame = ProtocolHandler.encode_message(PingMessage(7), 3, 4, None, False)
assert frame.hex() == "040000031100000004" + "00000007"
pong = ProtocolHandler.decode_message(4, None, {}, 3, 0, 0x12, frame[9:], None, None)
assert (pong.name, pong.number, pong.stream_id) == ("PONG", 7, 3)
""",
    ),
    "a policy": (
        [
            "driver/policies/load_balancing/fixed_order.py",
            "driver/policies/load_balancing/__init__.py",
            "driver/policies/__init__.py",
            "driver/__init__.py",
        ],
        """
from driver import Cluster, FixedOrderPolicy, Host, TokenAwarePolicy
hosts = [Host(f"127.0.0.{n}") for n in (3, 1, 2)]
policy = FixedOrderPolicy()
policy.populate(None, hosts)
assert [host.address[-1] for host in policy.make_query_plan()] == ["1", "2", "3"]
policy.on_down(hosts[1])
assert [host.address[-1] for host in policy.make_query_plan()] == ["2", "3"]
Cluster(load_balancing_policy=TokenAwarePolicy(policy))
""",
    ),
    "an option": (
        ["driver/execution/options.py", "driver/wire/requests/options.py"],
        """
from driver import ProtocolHandler, SimpleStatement, UnsupportedOperation
from driver.execution.options import Options, message_for
from driver.types.literals import Encoder
statement = SimpleStatement("q")
def encoded(version, **more):
    options = Options().merged(statement, {}, more)
    message = message_for(statement, options, version, Encoder(), None)
    return ProtocolHandler.encode_message(message, 0, version, None, False)
plain, asked = encoded(5), encoded(5, priority=1)
assert asked.endswith(b"\\0\\0\\0\\1") and len(asked) == len(plain) + 4
assert asked[18] ^ plain[18] == 0x02  # the flag 0x200, in the last but one byte of the flags
try:
    encoded(4, priority=1)
except UnsupportedOperation as error:
    assert "priority" in str(error)
else:
    raise AssertionError("version 4 does not carry it")
""",
    ),
}


def changes():
    """(file, [(lines before, lines after)]) of every block of the guide, in order."""
    for block in examples(GUIDE, "diff"):
        header, *lines = block.splitlines()
        hunks = [hunk.splitlines() for hunk in "\n".join(lines).split("\n@@\n")]
        yield header.removeprefix("--- "), [
            ("\n".join(line[1:] for line in hunk if line[:1] != "+"),
             "\n".join(line[1:] for line in hunk if line[:1] != "-"))
            for hunk in hunks
        ]  # fmt: skip


def make(copy, file, hunks):
    """Make a change, where the text that it stands in is found once."""
    path = copy / file
    text = f"\n{path.read_text('utf-8')}" if path.exists() else "\n\n"
    for before, after in hunks:
        assert text.count(f"\n{before}\n") == 1, f"{file} has not once: {before}"
        text = text.replace(f"\n{before}\n", f"\n{after}\n")
    path.write_text(text[1:], "utf-8")


def test_the_walks_are_those_of_the_guide():
    assert [file for file, _ in changes()] == [
        file for files, _ in WALKS.values() for file in files
    ]


@pytest.mark.parametrize("walk", WALKS)
def test_a_walk_leads_to_what_works(walk, tmp_path):
    files, program = WALKS[walk]
    ignored = shutil.ignore_patterns("*.so", "*.c", "built.json", "__pycache__")
    shutil.copytree(ROOT / "driver", tmp_path / "driver", ignore=ignored)
    for file, hunks in changes():
        if file in files:
            make(tmp_path, file, hunks)
    used = subprocess.run(
        [sys.executable, "-P", "-c", f"import sys; sys.path.insert(0, '.')\n{program}"],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert used.returncode == 0, used.stderr
    linted = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--config", ROOT / "pyproject.toml",
         *(tmp_path / file for file in files)],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert linted.returncode == 0, linted.stdout
