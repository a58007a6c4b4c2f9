"""What every test shares: hypothesis profiles, and a header that says which driver is tested."""

import os

from hypothesis import HealthCheck, settings

# Wall clocks of shared machines are no test: no deadlines.
settings.register_profile("dev", max_examples=100, deadline=None)
settings.register_profile(
    "ci", max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if "CI" in os.environ else "dev"))


def pytest_report_header() -> str:
    import driver
    from driver.implementation import REASON

    return f"driver: {driver.IMPL} ({REASON})"
