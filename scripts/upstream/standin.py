# ruff: noqa: D102, D107  (the cluster manager's names, which its documentation describes)
"""A pytest plugin: ``ccmlib`` for a suite whose cluster runs already, and one line a test.

The suite asks the Cassandra Cluster Manager for clusters. Here one was started before, which is
what every such question gets; a test that asks to change it (stop a node, add one) is skipped,
for the other driver as for this one, and so counts nowhere.
"""

from __future__ import annotations

import json
import os
import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

NODES = os.environ["UPSTREAM_NODES"].split(",")
OUTCOMES = Path(os.environ["UPSTREAM_OUTCOMES"])
#: Of tests to leave out, a name a line.
PASSED = Path(os.environ["UPSTREAM_PASSED"])
PORT = 9042


class _Unsupported:
    """What cannot be done to a cluster that is not ours skips the test that does it."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  (a function that does not return)
        if name.startswith("__"):
            raise AttributeError(name)
        pytest.skip(f"asks the cluster manager for {type(self).__name__.lower()}.{name}")


class Node(_Unsupported):
    """A node that runs."""

    data_center = "datacenter1"
    workloads: tuple[str, ...] = ()

    def __init__(self, index: int, address: str) -> None:
        self.name = f"node{index}"
        self.network_interfaces = {"binary": (address, PORT)}

    def is_running(self) -> bool:
        return True

    def address(self) -> str:
        return self.network_interfaces["binary"][0]

    def grep_log_for_errors(self) -> list[str]:
        return []


class Cluster(_Unsupported):
    """The nodes that run, under whatever name they are asked for."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.nodes = {
            f"node{index}": Node(index, address) for index, address in enumerate(NODES, 1)
        }

    def nodelist(self) -> list[Node]:
        return list(self.nodes.values())

    def _already(self, *arguments: object, **options: object) -> None:
        """Starting, populating and removing between modules: the cluster stays as it is."""

    start = stop = clear = remove = populate = _already
    set_install_dir = set_configuration_options = set_dse_configuration_options = _already


def _module(name: str, **names: object) -> None:
    module = ModuleType(name)
    vars(module).update(names)
    sys.modules[name] = module
    parent, _, leaf = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], leaf, module)


_module("ccmlib")
_module("ccmlib.cluster", Cluster=Cluster)
_module("ccmlib.scylla_cluster", ScyllaCluster=Cluster)
_module(
    "ccmlib.cluster_factory",
    ClusterFactory=SimpleNamespace(load=lambda _path, name: Cluster(name)),
)
_module("ccmlib.node", TimeoutError=TimeoutError)
_module(
    "ccmlib.common",
    check_socket_listening=lambda *_, **__: True,
    switch_cluster=lambda *_, **__: None,
)


class _Placeholder(type):
    """A name that is refused: a module can import it, and a test that uses it fails."""

    def __getattr__(cls, name: str) -> Any:  # noqa: ANN401  (never given)
        raise AttributeError(f"{cls.__name__} is not served by driver.compat")

    def __call__(cls, *_arguments: object, **_options: object) -> Any:  # noqa: ANN401  (the same)
        raise NotImplementedError(f"{cls.__name__} is not served by driver.compat")


if os.environ.get("UPSTREAM_DRIVER") == "compat":
    # Else one name that a module imports for one of its tests would fail all of them.
    from driver.compat.module import ServedModule

    _served = ServedModule.__getattr__

    def _or_placeholder(module: Any, name: str) -> Any:  # noqa: ANN401  (as it is patched)
        try:
            return _served(module, name)
        except AttributeError:
            caller = sys._getframe(1).f_code.co_filename  # noqa: SLF001  (who imports)
            if name.startswith("__") or f"{os.sep}tests{os.sep}" not in caller:
                raise
            return _Placeholder(name, (), {})

    ServedModule.__getattr__ = _or_placeholder  # type: ignore[method-assign]


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """The last line of what pytest tells, without what differs from run to run."""
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:
        text = crash.message
    elif isinstance(report.longrepr, tuple):
        text = report.longrepr[2]
    else:
        text = report.longreprtext.strip().rpartition("\n")[2]
    return re.sub(r"0x[0-9a-f]{6,}", "0x...", " ".join(text.split()))[:300]


def pytest_sessionstart() -> None:
    """Drop what an earlier run left behind: tests make keyspaces of names that others made."""
    driver = import_module("cassandra.cluster")  # only now: another plugin may serve it
    with driver.Cluster(NODES) as cluster:
        session = cluster.connect()
        for keyspace in cluster.metadata.keyspaces:
            if not keyspace.startswith("system"):
                session.execute(f'DROP KEYSPACE "{keyspace}"', timeout=60)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is to be left out."""
    passed = set(PASSED.read_text(encoding="utf-8").splitlines())
    config.hook.pytest_deselected(items=[each for each in items if each.nodeid in passed])
    items[:] = [each for each in items if each.nodeid not in passed]


def _note(name: str, outcome: str, reason: str) -> None:
    with OUTCOMES.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps([name, outcome, reason]) + "\n")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note a call, and a set-up or an end that did not pass."""
    if report.when == "call" or report.outcome != "passed":
        _note(report.nodeid, report.outcome, "" if report.outcome == "passed" else _reason(report))


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Note a module that cannot be imported."""
    if report.outcome == "failed":
        _note(report.nodeid, "failed", _reason(report))
