"""Days since the epoch as days of the Gregorian calendar, in C arithmetic."""

from libc.stdint cimport int64_t

cdef enum:
    MS_A_DAY = 86_400_000
    # Of 0001-01-01 and 9999-12-31, the ends of what datetime holds.
    FIRST_DAY = -719_162
    LAST_DAY = 2_932_896


cdef struct Day:
    int year
    int month
    int day


cdef inline Day day_of(int64_t days) noexcept nogil:
    """The day that is so many days after 1970-01-01.

    By Howard Hinnant, "chrono-compatible low-level date algorithms": eras of 400 years that begin
    on the first of March of a year divisible by 400, so that leap days come last.
    """
    cdef int64_t shifted = days + 719_468
    cdef int64_t era = shifted // 146_097
    cdef int day_of_era = <int>(shifted - era * 146_097)
    cdef int year_of_era = (
        day_of_era - day_of_era // 1_460 + day_of_era // 36_524 - day_of_era // 146_096
    ) // 365
    cdef int day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    cdef int march_month = (5 * day_of_year + 2) // 153
    cdef Day found
    found.day = day_of_year - (153 * march_month + 2) // 5 + 1
    found.month = march_month + 3 if march_month < 10 else march_month - 9
    found.year = <int>(year_of_era + era * 400) + (1 if found.month <= 2 else 0)
    return found


cdef inline int64_t days_to(int year, int month, int day) noexcept nogil:
    """How many days after 1970-01-01 a day from year 1 on is: the inverse, by the same author."""
    cdef int march_year = year - 1 if month <= 2 else year
    cdef int era = march_year // 400
    cdef int year_of_era = march_year - era * 400
    cdef int march_month = month - 3 if month > 2 else month + 9
    cdef int day_of_year = (153 * march_month + 2) // 5 + day - 1
    cdef int day_of_era = year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year
    return <int64_t>era * 146_097 + day_of_era - 719_468
