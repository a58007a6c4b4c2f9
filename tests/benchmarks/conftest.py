"""The benchmarks as asv finds them."""

import pytest
from asv_runner.discovery import disc_benchmarks

from tests.benchmarks.places import SUITES


def discovered():
    return {benchmark.name: benchmark for benchmark in disc_benchmarks(str(SUITES))}


@pytest.fixture(scope="session")
def benchmarks():
    return discovered()


def pytest_generate_tests(metafunc):
    if "benchmark_name" in metafunc.fixturenames:
        metafunc.parametrize("benchmark_name", sorted(discovered()))
