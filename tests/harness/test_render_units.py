"""Numbers as people read them."""

import pytest

from benchproof.render import charts, units


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0 ns"),
        (8.4e-10, "0.840 ns"),
        (4.213e-7, "421 ns"),
        (9.996e-7, "1.00 µs"),
        (1.2345e-6, "1.23 µs"),
        (0.01234, "12.3 ms"),
        (2.5, "2.50 s"),
    ],
)
def test_a_time_gets_the_unit_that_fits_and_three_digits(value, text):
    assert units.seconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(3.0, "3"), (0.5, "0.500"), (12345.4, "12,345"), (1_380_000, "1.38 M"), (4.2e9, "4.20 G")],
)
def test_a_count_keeps_its_digits_until_it_has_too_many(value, text):
    assert units.count(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0 B"), (880, "880 B"), (2048, "2.00 KiB"), (3 * 2**20, "3.00 MiB")]
)
def test_bytes_are_in_binary_units(value, text):
    assert units.size(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(1.0316, "1.032"), (0.34216, "0.342"), (0.0123, "0.0123"), (12.34, "12.3")]
)
def test_a_ratio_near_one_keeps_three_decimals(value, text):
    assert units.ratio(value) == text


def test_a_percentage_drops_zeros_that_say_nothing():
    assert units.percent(0.05).split() == ["5", "%"]
    assert units.percent(0.0049).split() == ["0.49", "%"]


def test_the_geometric_mean_of_a_ratio_and_its_inverse_is_one():
    assert units.geometric_mean([4.0, 0.25]) == pytest.approx(1.0)
    assert units.geometric_mean([]) is None


def test_an_axis_holds_one_even_if_no_value_is_near():
    low, high = charts.span([0.1, 0.2], limit=0.05)
    assert low < 0.1
    assert high > 1.05


@pytest.mark.parametrize(
    ("low", "high"), [(0.995, 1.005), (0.9, 1.15), (0.7, 1.4), (0.1, 1.2), (0.01, 90), (1e-3, 2)]
)
@pytest.mark.parametrize("most", [5, 11])
def test_an_axis_has_a_few_ticks_inside_its_range_and_one_of_them_is_one(low, high, most):
    shown = charts.ticks(low, high, most)
    places = [at for at, _ in shown]
    assert 2 <= len(shown) <= most
    assert places == sorted(places)
    assert all(low <= at <= high for at in places)
    assert any(at == pytest.approx(1.0) for at in places)
    assert len({text for _, text in shown}) == len(shown)


def test_labels_of_a_long_axis_do_not_touch():
    words = [text for _, text in charts.ticks(1 / 3000, 1.8, most=20)]
    assert {"1/5", "1/2", "1"} <= set(words)
    assert "1/4" not in words
    assert "1/2" not in [text for _, text in charts.ticks(1 / 3000, 1.8, most=6)]
