"""Date, Time, Duration, timestamps and time UUIDs."""

import datetime as dt
import pickle
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driver.types import identity
from driver.types.temporal import (
    DATETIME_EPOC,
    datetime_from_timestamp,
    ms_timestamp_from_datetime,
)
from driver.values.date import Date
from driver.values.duration import Duration
from driver.values.time import Time


@given(day=st.dates())
def test_a_date_of_a_datetime_date_gives_it_back(day):
    assert Date(day).date() == day
    assert Date(day) == day
    assert Date(str(Date(day))) == Date(day)
    assert hash(Date(day)) == hash(Date(day).days_from_epoch)


def test_a_date_reaches_beyond_datetime():
    far = Date(-(2**31))
    assert str(far) == "-2147483648"
    assert far < dt.date.min
    with pytest.raises((ValueError, OverflowError)):
        far.date()


@pytest.mark.parametrize("text", ["2020-13-01", "2020-02-30", "yesterday", "2020-1-1-1", ""])
def test_text_that_is_no_date_is_refused(text):
    with pytest.raises(ValueError, match=r"YYYY-MM-DD|month|day"):
        Date(text)


@pytest.mark.parametrize("make", [Date, Time])
def test_other_types_are_refused(make):
    with pytest.raises(TypeError, match="must be a whole number"):
        make(1.5)


def test_dates_compare_with_ints_and_dates_and_nothing_else():
    assert Date(1) > 0
    assert Date(1) != "1970-01-02"
    assert Date(0).seconds == 0
    with pytest.raises(TypeError):
        assert Date(1) < "1970-01-02"


@given(time=st.times())
def test_a_time_of_a_datetime_time_gives_it_back(time):
    assert Time(time).time() == time
    assert Time(time) == time


@given(nanoseconds=st.integers(0, Time.DAY - 1))
def test_a_time_reads_its_own_text(nanoseconds):
    time = Time(nanoseconds)
    assert Time(str(time)) == nanoseconds
    parts = (time.hour * 60 + time.minute) * 60 + time.second
    assert parts * Time.SECOND + time.nanosecond == nanoseconds


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [("00:00", 0), ("1:02", 3720 * 10**9), ("00:00:00.5", 500_000_000), ("00:00:00.000000001", 1)],
)
def test_a_time_has_an_optional_fraction(text, nanoseconds):
    assert Time(text).nanosecond_time == nanoseconds


@pytest.mark.parametrize("value", [-1, Time.DAY, "24:00:00", "1", "00:00:00.1234567890", ""])
def test_what_is_not_within_a_day_is_no_time(value):
    with pytest.raises(ValueError, match=r"HH:MM|hour|nanoseconds"):
        Time(value)


def test_times_compare_with_ints_and_times_and_nothing_else():
    assert Time(1) > 0
    assert Time(0) < dt.time(1)
    assert Time(1) != "00:00"
    assert hash(Time(7)) == hash(7)
    with pytest.raises(TypeError):
        assert Time(1) < "00:00"


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (Duration(1, 2, 3), "1mo2d3ns"),
        (Duration(-1, -2, -3), "-1mo2d3ns"),
        (Duration(), "0mo0d0ns"),
    ],
)
def test_a_duration_is_written_as_cql(duration, text):
    assert str(duration) == text


def test_a_duration_is_one_value_and_no_tuple():
    assert not isinstance(Duration(1, 2, 3), tuple)
    assert Duration(1, 2, 3) == Duration(1, 2, 3) != Duration(1, 2, 4)
    assert len({Duration(1), Duration(1, 0, 0), Duration(0, 30)}) == 2
    assert Duration(0) != (0, 0, 0)
    assert repr(Duration(1, -2, 3)) == "Duration(1, -2, 3)"


@pytest.mark.parametrize("value", [Date(-5), Time(5), Duration(1, 2, 3)], ids=repr)
def test_values_survive_pickling(value):
    assert pickle.loads(pickle.dumps(value)) == value  # noqa: S301  (our own bytes)


@given(value=st.datetimes())
def test_every_millisecond_survives_the_round_trip(value):
    value = value.replace(microsecond=value.microsecond // 1000 * 1000)
    assert datetime_from_timestamp(ms_timestamp_from_datetime(value)) == value


@given(value=st.datetimes(timezones=st.timezones()))
def test_an_aware_datetime_is_the_same_moment_in_utc(value):
    elapsed = value - DATETIME_EPOC.replace(tzinfo=dt.UTC)
    towards_the_epoch = abs(elapsed) // dt.timedelta(milliseconds=1)
    assert abs(ms_timestamp_from_datetime(value)) == towards_the_epoch


class NoOffset(dt.tzinfo):
    """A zone that does not say how far from UTC it is."""

    def utcoffset(self, _):
        return None


def test_a_zone_that_says_no_offset_is_taken_as_utc():
    value = dt.datetime(2026, 3, 20, 8, 14, tzinfo=NoOffset())
    assert ms_timestamp_from_datetime(value) == 1_773_994_440_000


@pytest.mark.parametrize(("microseconds", "milliseconds"), [(1999, 1), (-1999, -1), (-1, 0)])
def test_fractions_are_dropped_towards_the_epoch(microseconds, milliseconds):
    value = DATETIME_EPOC + dt.timedelta(microseconds=microseconds)
    assert ms_timestamp_from_datetime(value) == milliseconds


@pytest.mark.parametrize("milliseconds", [2**62, -(2**62), 253402300800000])
def test_years_that_datetime_lacks_overflow(milliseconds):
    with pytest.raises(OverflowError):
        datetime_from_timestamp(milliseconds)


@given(value=st.datetimes(dt.datetime(1600, 1, 1), dt.datetime(5000, 1, 1)))  # noqa: DTZ001  (naive is UTC)
def test_a_time_uuid_holds_its_time(value):
    made = identity.uuid_from_time(value)
    assert made.version == 1
    assert identity.datetime_from_uuid1(made) == value
    low, high = identity.min_uuid_from_time(value), identity.max_uuid_from_time(value)
    assert low.time == made.time == high.time
    assert identity.uuid_from_time(value, node=5, clock_seq=3).node == 5


def test_the_unix_time_of_a_uuid_is_in_seconds():
    assert identity.unix_time_from_uuid1(UUID("13814000-1dd2-11b2-8000-000000000000")) == 0.0
    assert identity.unix_time_from_uuid1(identity.uuid_from_time(1.5)) == 1.5


def test_a_clock_sequence_has_14_bits():
    with pytest.raises(ValueError, match="14 bits"):
        identity.uuid_from_time(0, clock_seq=1 << 14)


def test_random_parts_differ():
    assert identity.uuid_from_time(0) != identity.uuid_from_time(0)
