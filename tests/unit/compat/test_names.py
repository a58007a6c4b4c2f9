"""The tables against the installed cassandra-driver: each public name is served or has a reason."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from driver.compat.served import serve
from driver.compat.tables import LEFT_OUT, MODULES, REFUSED

#: Modules of the peer whose public names are all re-exported from others, or none.
EMPTY = {"cassandra.ioutils", "cassandra.cython_marshal"}
#: What the peer cannot show here, for want of a package that it needs.
NOT_INSTALLED = {
    "cassandra.io.eventletreactor",
    "cassandra.io.geventreactor",
    "cassandra.io.twistedreactor",
    "cassandra.metrics",
}
if sys.version_info >= (3, 12):  # whose library lost asyncore
    NOT_INSTALLED.add("cassandra.io.asyncorereactor")


#: Public names of releases that need not be installed; scripts/compat-names writes them.
RECORDED = sorted(Path(__file__).with_name("names").glob("*.json"))


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_every_recorded_name_is_served_or_has_a_reason(path):
    public = {
        f"{module}.{name}"
        for module, names in json.loads(path.read_text()).items()
        if not module.startswith(tuple(REFUSED))
        for name in names.split()
    }
    served = {f"{module}.{name}" for module, table in MODULES.items() for name in table.names}
    assert public
    assert sorted(public - served - set(LEFT_OUT)) == []


@pytest.fixture(scope="module")
def peer():
    pytest.importorskip("cassandra", reason="cassandra-driver is not installed")
    script = Path(__file__).with_name("peer_names.py")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", script], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def test_every_public_name_of_the_peer_is_served_or_has_a_reason(peer):
    public = {f"{module}.{name}" for module, names in peer["found"].items() for name in names}
    served = {f"{module}.{name}" for module, table in MODULES.items() for name in table.names}
    assert sorted(public - served - set(LEFT_OUT)) == []


def test_what_is_left_out_is_a_name_of_the_peer_and_not_served(peer):
    public = {f"{module}.{name}" for module, names in peer["found"].items() for name in names}
    served = {f"{module}.{name}" for module, table in MODULES.items() for name in table.names}
    unseen = {name for name in LEFT_OUT if name.rpartition(".")[0] in peer["missing"]}
    recorded = {
        f"{module}.{name}"
        for path in RECORDED
        for module, names in json.loads(path.read_text()).items()
        for name in names.split()
    }
    assert sorted(set(LEFT_OUT) - public - unseen - recorded) == []
    assert sorted(set(LEFT_OUT) & served) == []


def test_every_module_of_the_peer_is_served(peer):
    assert set(peer["missing"]) <= NOT_INSTALLED
    left_out = {name.rpartition(".")[0] for name in LEFT_OUT}
    assert set(peer["found"]) - set(MODULES) - EMPTY <= left_out
    assert set(MODULES) >= NOT_INSTALLED


@pytest.mark.usefixtures("served")
@pytest.mark.parametrize("module", sorted(MODULES))
def test_every_name_of_a_table_is_there(module):
    imported = importlib.import_module(module)
    missing = [name for name in MODULES[module].names if not hasattr(imported, name)]
    assert missing == []


@pytest.mark.parametrize("module", sorted(MODULES))
def test_every_module_behind_is_there(module):
    for behind in MODULES[module].behind:
        importlib.import_module(f"driver.{behind}")


@pytest.mark.usefixtures("served")
def test_a_name_that_is_left_out_says_why():
    import cassandra.util

    with pytest.raises(AttributeError, match="DataStax Enterprise"):
        _ = cassandra.util.Point


def test_no_module_is_both_served_and_refused():
    assert not [name for name in MODULES if any(name.startswith(left) for left in REFUSED)]


def test_a_name_from_two_places_is_an_error():
    with pytest.raises(ValueError, match="served from a and b"):
        serve({"a": "X", "b": "Y=Z X"})
