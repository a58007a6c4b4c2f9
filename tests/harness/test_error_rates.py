"""How often the wall procedure is wrong, on simulated processes: seeded, so always the same.

Bounds are what the binomial distribution allows with a chance of one in a thousand, so a seed that
is changed for good reasons does not break them. The procedure is the gate's own (`judge_wall` with
looks); larger simulations are described in docs/statistics.md.
"""

import math

import numpy as np
import pytest
from scipy.stats import binom

from benchproof import verdict
from benchproof.noise import LIMITS

BLOCKS, GATES = 24, 40
#: Tests of a whole gate: both implementations.
FAMILY = 224
#: Cases that are drawn; the others of the family show nothing.
DRAWN = 24


def normal(rng, size):
    return rng.normal(0, 0.02, size)


def heavy(rng, size):
    """One block in ten lies far out, as on a host with neighbours."""
    return normal(rng, size) * np.where(rng.random(size) < 0.1, 8, 1)


def two_kinds(rng, size):
    """Processes are fast or slow by 4 %, each for itself."""
    return normal(rng, size) / 4 + 0.04 * rng.integers(0, 2, size)


NOISES = pytest.mark.parametrize("noise", [normal, heavy, two_kinds], ids=lambda n: n.__name__)


def drift(rng):
    """Both sides share the minutes: a slow wave, and a step where the host changes its mind."""
    time = np.arange(BLOCKS)
    wave = 0.1 * np.sin(time / 5 + rng.uniform(0, 6))
    return wave + 0.15 * (time > rng.integers(0, BLOCKS))


def processes(rng, noise, change):
    """One case: a number a process on both sides, in blocks."""
    shared = drift(rng)
    left, right = (np.exp(shared + noise(rng, BLOCKS)) for _ in range(2))
    return list(left), list((1 + change) * right)


def gate(rng, noise, change, fractions, drawn=1):
    """The verdicts at the end, with looks at these parts of the sampling."""
    cases = {str(n): processes(rng, noise, change) for n in range(drawn)}
    looks = verdict.Looks(family=FAMILY)
    for fraction in fractions:
        until = math.ceil(fraction * BLOCKS)
        seen = {name: (left[:until], right[:until]) for name, (left, right) in cases.items()}
        judged = verdict.judge_wall(seen, looks=looks, fraction=fraction)
    return {name: row["verdict"] for name, row in judged.items()}


@NOISES
@pytest.mark.parametrize("fractions", [(1.0,), (0.5, 0.75, 1.0)], ids=["one look", "three looks"])
def test_a_gate_in_which_nothing_changed_rarely_alarms(noise, fractions):
    rng = np.random.default_rng(11)
    alarms = sum(
        any(word in verdict.CHANGES for word in gate(rng, noise, 0.0, fractions, DRAWN).values())
        for _ in range(GATES)
    )
    # Of 224 tests only 24 are drawn here, so their part of 1 % is the promise.
    assert alarms <= binom.ppf(0.999, GATES, verdict.ALPHA * DRAWN / FAMILY)


@NOISES
def test_a_change_that_is_just_the_limit_is_rarely_called_one(noise):
    rng = np.random.default_rng(12)
    looks = [0.5, 0.75, 1.0]
    alarms = sum(
        gate(rng, noise, LIMITS["wall"].ratio, looks)["0"] == "regressed" for _ in range(GATES)
    )
    assert alarms <= binom.ppf(0.999, GATES, verdict.ALPHA / FAMILY)


@NOISES
def test_a_slow_down_is_found_if_large_and_never_called_equivalent(noise):
    rng = np.random.default_rng(13)
    looks = [0.5, 0.75, 1.0]
    large = [gate(rng, noise, 0.12, looks)["0"] for _ in range(GATES)]
    small = [gate(rng, noise, 0.02, looks)["0"] for _ in range(GATES)]
    assert large.count("regressed") >= binom.ppf(0.001, GATES, 0.95)
    assert set(small) <= {"regressed", "undecided"}
