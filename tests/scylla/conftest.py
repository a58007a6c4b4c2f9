"""Clusters of ``scylla_node`` for the tests of this folder."""

import contextlib

import pytest
from scylla_node import ScyllaCluster


@pytest.fixture
def scylla():
    """Starts clusters: ``scylla(nodes=3, shards=4)``; they end with the test."""
    with contextlib.ExitStack() as stack:
        yield lambda **options: stack.enter_context(ScyllaCluster(**options))
