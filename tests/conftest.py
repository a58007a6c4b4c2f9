"""What every test shares: hypothesis profiles, --of-both, a header that says what is tested.

There is no first test if that driver was compiled from other sources than these.
"""

import gc
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from staleness import stale_modules

# Wall clocks of shared machines are no test: no deadlines. On a change, a machine of continuous
# integration generates the same examples each time, so that a red run is the change's doing; other
# examples, and ten times as many, are for the nightly run, where somebody has time to look.
settings.register_profile(
    "change", max_examples=100, deadline=None, derandomize="CI" in os.environ, print_blob=True
)
settings.register_profile(
    "nightly",
    max_examples=1000,
    deadline=None,
    derandomize=False,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "change")
settings.load_profile(PROFILE)


def pytest_addoption(parser) -> None:
    parser.addoption(
        "--of-both",
        action="store_true",
        help="only the tests that can come out otherwise in pure Python (tests/of_both.py)",
    )


def pytest_ignore_collect(collection_path, config) -> bool | None:
    if config.getoption("--of-both") and collection_path.name.startswith("test_"):
        from of_both import can_differ

        return None if can_differ(collection_path) else True
    return None


def pytest_collection_modifyitems(config, items) -> None:
    if PROFILE != "nightly":
        left_out = [each for each in items if each.get_closest_marker("nightly")]
        items[:] = [each for each in items if not each.get_closest_marker("nightly")]
        config.hook.pytest_deselected(items=left_out)


def pytest_report_header(config) -> str:
    import driver
    from driver.implementation import REASON

    chosen = ", what can come out otherwise" if config.getoption("--of-both") else ""
    return f"driver: {driver.IMPL} ({REASON}){chosen}"


def pytest_sessionstart() -> None:
    import driver

    if driver.IMPL == "cython":
        stale = stale_modules(Path(driver.__file__).parent / "_cython" / "built.json")
        if stale:
            pytest.exit(f"compiled before their source changed: {stale}; run `make build`", 2)


def pytest_collection_finish() -> None:
    # Many tests collect garbage to see that nothing is left over. What exists before the first of
    # them, hundreds of thousands of objects of libraries and of pytest, is not looked at each time.
    gc.collect()
    gc.freeze()
