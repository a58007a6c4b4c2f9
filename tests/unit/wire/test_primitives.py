"""Every notation of the protocol reads what it writes, and says where bytes end early."""

import io
import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wire_bodies import read_long

from driver.protocol.consistency import ConsistencyLevel
from driver.protocol.unset import UNSET_VALUE
from driver.wire import primitives as p
from driver.wire.malformed import MalformedFrameError

SHORT_TEXT = st.text(max_size=40)
ADDRESSES = st.ip_addresses().map(str)

NOTATIONS = {
    "byte": (p.write_byte, p.read_byte, st.integers(0, 255)),
    "int": (p.write_int, p.read_int, st.integers(-(2**31), 2**31 - 1)),
    "long": (p.write_long, read_long, st.integers(-(2**63), 2**63 - 1)),
    "short": (p.write_short, p.read_short, st.integers(0, 2**16 - 1)),
    "string": (p.write_string, p.read_string, SHORT_TEXT),
    "long string": (p.write_longstring, p.read_longstring, SHORT_TEXT),
    "short bytes": (p.write_binary_string, p.read_binary_string, st.binary(max_size=40)),
    "bytes": (p.write_value, p.read_value, st.none() | st.binary(max_size=40)),
    "string list": (p.write_stringlist, p.read_stringlist, st.lists(SHORT_TEXT, max_size=5)),
    "string map": (
        p.write_stringmap,
        p.read_stringmap,
        st.dictionaries(SHORT_TEXT, SHORT_TEXT, max_size=5),
    ),
    "string multimap": (
        p.write_stringmultimap,
        p.read_stringmultimap,
        st.dictionaries(SHORT_TEXT, st.lists(SHORT_TEXT, max_size=3), max_size=5),
    ),
    "bytes map": (
        p.write_bytesmap,
        p.read_bytesmap,
        st.dictionaries(SHORT_TEXT, st.none() | st.binary(max_size=9), max_size=5),
    ),
    "inet": (p.write_inet, p.read_inet, st.tuples(ADDRESSES, st.integers(0, 65535))),
    "consistency": (
        p.write_consistency_level,
        p.read_consistency_level,
        st.sampled_from(ConsistencyLevel),
    ),
}


def written(write, value):
    f = io.BytesIO()
    write(f, value)
    return f.getvalue()


@pytest.mark.parametrize("notation", NOTATIONS)
@given(data=st.data())
def test_a_notation_reads_what_it_writes_and_not_a_byte_more(notation, data):
    write, read, values = NOTATIONS[notation]
    value = data.draw(values)
    f = io.BytesIO(written(write, value) + b"rest")
    got = read(f)
    if notation == "inet":
        got = (str(ipaddress.ip_address(got[0])), got[1])
        value = (str(ipaddress.ip_address(value[0])), value[1])
    assert got == value
    assert f.read() == b"rest"


@pytest.mark.parametrize("notation", NOTATIONS)
@given(data=st.data())
def test_a_notation_that_ends_early_is_a_malformed_frame(notation, data):
    write, read, values = NOTATIONS[notation]
    whole = written(write, data.draw(values))
    part = whole[: data.draw(st.integers(0, len(whole) - 1))]
    with pytest.raises(MalformedFrameError):
        read(io.BytesIO(part))


@given(st.binary(max_size=60))
def test_arbitrary_bytes_are_read_or_refused_with_the_one_error(noise):
    for _, read, _ in NOTATIONS.values():
        try:
            read(io.BytesIO(noise))
        except MalformedFrameError:
            continue


def test_a_value_writes_null_and_not_set_as_negative_lengths():
    assert written(p.write_value, None) == b"\xff\xff\xff\xff"
    assert written(p.write_value, UNSET_VALUE) == b"\xff\xff\xff\xfe"
    assert written(p.write_value, b"") == b"\x00\x00\x00\x00"


def test_a_string_can_be_written_from_its_utf8():
    assert written(p.write_string, "é") == written(p.write_string, b"\xc3\xa9")
    assert written(p.write_longstring, "é") == written(p.write_longstring, b"\xc3\xa9")


def test_null_where_bytes_must_be_reads_as_empty():
    assert p.read_binary_longstring(io.BytesIO(b"\xff\xff\xff\xff")) == b""


@pytest.mark.parametrize(
    ("read", "data", "words"),
    [
        (p.read_string, b"\x00\x01\xff", "not UTF-8"),
        (p.read_longstring, b"\xff\xff\xff\xf0", "length -16"),
        (p.read_inet, b"\x05abcde\x00\x00\x00\x00", "5 bytes; 4 or 16"),
        (p.read_consistency_level, b"\x00\x63", "consistency level 99"),
        (p.read_int, b"\x00\x00", "4 bytes wanted, 2 left"),
    ],
)
def test_the_error_says_what_is_wrong(read, data, words):
    with pytest.raises(MalformedFrameError, match=words):
        read(io.BytesIO(data))


def test_a_reason_map_reads_addresses_of_both_families():
    data = b"\x00\x00\x00\x02\x04\x7f\x00\x00\x01\x00\x02\x10" + bytes(15) + b"\x01\x00\x01"
    assert p.read_error_code_map(io.BytesIO(data)) == {"127.0.0.1": 2, "::1": 1}
