"""Pages as Arrow's columns: values, nulls, what is refused, and who frees what when."""

import ctypes
import decimal
import gc
import struct
import subprocess
import sys
import textwrap
import threading
import uuid
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies.cql import cql_types, values_of
from wire_bodies import rows_content

from driver.policies import AES256ColumnEncryptionPolicy
from driver.protocol.columns import ColDesc, ColumnMetadata
from driver.protocol.limits import limits
from driver.types import (
    DecimalType,
    DurationType,
    InetAddressType,
    Int32Type,
    IntegerType,
    SimpleDateType,
    TimestampType,
    TimeType,
    UserType,
    UTF8Type,
    UUIDType,
    lookup_cqltype,
)
from driver.types.base import casstypes
from driver.types.deserializers import make_deserializers
from driver.types.wrapper import unwrapped
from driver.values.duration import Duration
from driver.wire.arrow import fields as f
from driver.wire.arrow.fields import ArrowOptions, fields_of
from driver.wire.arrow.page import parse_page, stream_capsule
from driver.wire.malformed import ColumnDecodeError, MalformedFrameError
from driver.wire.rows import parse_rows

ROOT = Path(__file__).resolve().parents[3]
AS_TEXT = ArrowOptions()


def columns_of(cqltypes):
    return [ColumnMetadata("ks", "t", f"c{i}", cqltype) for i, cqltype in enumerate(cqltypes)]


def batch(cqltypes, rows, options=AS_TEXT, policy=None):
    """A page of rows whose values are bytes or None."""
    columns = columns_of(cqltypes)
    fields, decrypts = fields_of(columns, policy, options)
    return parse_page(rows_content(rows), 0, columns, fields, decrypts, 5)


def column(cql, *values, **options):
    """What pyarrow reads of one column of Python values; bytes are taken as they are."""
    cqltype = lookup_cqltype(cql) if isinstance(cql, str) else cql
    data = [[v if v is None or isinstance(v, bytes) else cqltype.serialize(v, 5)] for v in values]
    found = pa.record_batch(batch([cqltype], data, ArrowOptions(**options)))
    found.validate(full=True)
    return found.column(0)


def plain(cqltype, value):
    """A decoded value in the words of pyarrow."""
    cqltype = unwrapped(cqltype)
    if value is None:
        return None
    kind = cqltype.generic or cqltype
    if cqltype.arrow == "+l":
        return [plain(cqltype.subtypes[0], each) for each in value]
    if cqltype.arrow == "+m":
        key, item = cqltype.subtypes
        return [(plain(key, k), plain(item, v)) for k, v in value.items()]
    if cqltype.arrow == "+s":
        names = cqltype.fieldnames or [f"f{i}" for i in range(len(cqltype.subtypes))]
        parts = zip(names, cqltype.subtypes, value, strict=True)
        return {name: plain(subtype, part) for name, subtype, part in parts}
    if cqltype.arrow == "+w":
        return [plain(cqltype.subtype, each) for each in value]
    return _PLAIN.get(kind, lambda v: v)(value)


_PLAIN = {
    DecimalType: str,
    IntegerType: lambda v: str(decimal.Decimal(v)),
    InetAddressType: str,
    SimpleDateType: lambda v: v.days_from_epoch,
    TimeType: lambda v: v.nanosecond_time,
    UUIDType: lambda v: v.bytes,
    casstypes["TimeUUIDType"]: lambda v: v.bytes,
    TimestampType: lambda v: v,
    DurationType: lambda v: (v.months, v.days, v.nanoseconds),
}


def physical(array):  # noqa: PLR0911  (one for each kind of array)
    """The values of an array, dates and times as numbers and extensions as what they store."""
    if isinstance(array.type, pa.BaseExtensionType):
        array = array.storage
    if pa.types.is_date32(array.type):
        return array.view(pa.int32()).to_pylist()
    if pa.types.is_time64(array.type):
        return array.view(pa.int64()).to_pylist()
    if pa.types.is_interval(array.type):
        return [None if v is None else tuple(v) for v in array.to_pylist()]
    if pa.types.is_timestamp(array.type):
        return [None if v is None else v.replace(tzinfo=None) for v in array.to_pylist()]
    if pa.types.is_map(array.type):
        whole = list(zip(physical(array.keys), physical(array.items), strict=True))
        return _split(array, whole)
    if pa.types.is_fixed_size_list(array.type):
        size, inner = array.type.list_size, physical(array.values)
        return [
            inner[i * size : (i + 1) * size] if ok else None
            for i, ok in enumerate(array.is_valid().to_pylist())
        ]
    if pa.types.is_list(array.type):
        return _split(array, physical(array.values))
    if pa.types.is_struct(array.type):
        parts = [physical(array.field(i)) for i in range(array.type.num_fields)]
        names = [array.type.field(i).name for i in range(array.type.num_fields)]
        return [
            dict(zip(names, [part[i] for part in parts], strict=True)) if ok else None
            for i, ok in enumerate(array.is_valid().to_pylist())
        ]
    return array.to_pylist()


def _split(array, whole):
    offsets = array.offsets.to_pylist()
    return [
        whole[start:end] if ok else None
        for start, end, ok in zip(
            offsets[:-1], offsets[1:], array.is_valid().to_pylist(), strict=True
        )
    ]


# --- values --------------------------------------------------------------------------------------


@given(st.data())
def test_columns_have_what_the_rows_have(data):
    cqltypes = data.draw(st.lists(cql_types(), min_size=1, max_size=3))
    row = st.tuples(*(st.none() | values_of(cqltype) for cqltype in cqltypes))
    rows = [
        [None if v is None else t.serialize(v, 5) for t, v in zip(cqltypes, values, strict=True)]
        for values in data.draw(st.lists(row, max_size=4))
    ]
    found = pa.record_batch(batch(cqltypes, rows))
    found.validate(full=True)
    columns = columns_of(cqltypes)
    decoded = parse_rows(rows_content(rows), 0, columns, make_deserializers(cqltypes), 5)
    expected = [[plain(cqltype, row[i]) for row in decoded] for i, cqltype in enumerate(cqltypes)]
    assert [physical(each) for each in found.columns] == expected


def test_every_type_names_its_arrow_type():
    unknown = {name: kind.arrow for name, kind in casstypes.items() if kind.arrow not in f._LAYOUTS}
    assert unknown == {}


def test_uuids_are_arrows_own():
    value = uuid.uuid4()
    found = column("uuid", value, None)
    assert found.type == pa.uuid()
    assert found.to_pylist() == [value, None]


def test_decimals_and_varints_are_numbers_of_the_digits_that_are_asked_for():
    found = column(
        "decimal", decimal.Decimal("-1.25"), None, decimal.Decimal("3E+2"), decimal=(9, 2)
    )
    assert found.type == pa.decimal128(9, 2)
    assert found.to_pylist() == [decimal.Decimal("-1.25"), None, decimal.Decimal("300.00")]
    found = column("varint", -(10**75), varint=76)
    assert found.type == pa.decimal256(76, 0)
    assert found.to_pylist() == [decimal.Decimal(-(10**75))]


@pytest.mark.parametrize("text", ["1.005", "10000000", "1E+2000000000", "-1E-2000000000"])
def test_a_decimal_that_does_not_fit_is_refused(text):
    with pytest.raises(ColumnDecodeError, match="does not fit 9 digits, 2 of them"):
        column("decimal", decimal.Decimal(text), decimal=(9, 2))


def test_zeros_of_any_scale_fit():
    values = [decimal.Decimal((0, (0,), exponent)) for exponent in (-(2**31) + 1, 0, 2**31 - 1)]
    assert column("decimal", *values, decimal=(3, 2)).to_pylist() == [decimal.Decimal(0)] * 3


def test_a_long_varint_is_text_of_all_its_digits():
    digits = "7" * 6000
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        number = int(digits)
    finally:
        sys.set_int_max_str_digits(limit)
    assert column("varint", number).to_pylist() == [digits]


def test_a_user_defined_type_whose_last_fields_are_missing_has_nulls_there():
    point = UserType.make_udt_class("ks", "p", ("x", "y"), (Int32Type, UTF8Type))
    found = column(point, point.serialize((7,), 5))
    assert found.to_pylist() == [{"x": 7, "y": None}]


def test_encrypted_columns_are_decrypted():
    policy = AES256ColumnEncryptionPolicy()
    description = ColDesc("ks", "t", "c0")
    policy.add_column(description, bytes(32), "int")
    secret = policy.encode_and_encrypt(description, 7)
    found = batch([lookup_cqltype("blob")], [[secret], [None]], policy=policy)
    assert pa.record_batch(found).column(0).to_pylist() == [7, None]


def test_a_page_without_rows_or_columns_is_one():
    assert column("list<text>").to_pylist() == []
    assert pa.record_batch(batch([], [])).num_columns == 0


def test_names_keep_the_order_of_the_columns_and_may_be_there_twice():
    columns = [ColumnMetadata("ks", "t", "x", Int32Type)] * 2
    fields, decrypts = fields_of(columns, None, ArrowOptions())
    page = rows_content([[b"\0\0\0\1", b"\0\0\0\2"]])
    found = pa.record_batch(parse_page(page, 0, columns, fields, decrypts, 5))
    assert found.schema.names == ["x", "x"]
    assert [c.to_pylist() for c in found.columns] == [[1], [2]]


# --- what is refused -----------------------------------------------------------------------------

NULL_KEY = struct.pack(">iiii", 1, -1, 4, 7)


@pytest.mark.parametrize(
    ("cql", "data"),
    [
        ("int", b"123"),
        ("text", b"\xff"),
        ("text", b"eight bytes and \xff"),
        ("text", "\ud800".encode("utf-8", "surrogatepass")),
        ("ascii", "é".encode()),
        ("boolean", b"\0\0"),
        ("time", struct.pack(">q", -1)),
        ("time", struct.pack(">q", f.DAY)),
        ("date", b"12345"),
        ("uuid", bytes(15)),
        ("inet", bytes(5)),
        ("decimal", b"123"),
        ("duration", b"\0\0"),
        ("list<int>", struct.pack(">i", -1)),
        ("list<int>", struct.pack(">iii", 1, 4, 7) + b"behind"),
        ("list<int>", struct.pack(">ii", 1, 9)),
        ("map<int, int>", NULL_KEY),
        ("tuple<int, int>", struct.pack(">i", 9)),
        ("vector<float, 2>", bytes(7)),
        ("vector<text, 2>", b"\x01a\x05b"),
        ("vector<text, 2>", b"\x01a\x01b\x01"),
    ],
)
def test_bytes_that_are_no_value_are_refused(cql, data):
    with pytest.raises(ColumnDecodeError, match='Failed decoding result column "c0" of type'):
        column(cql, data)


def test_a_duration_of_more_bits_than_the_server_has_is_refused():
    with pytest.raises(ColumnDecodeError, match="32, 32 and 64 bits"):
        column("duration", DurationType.serialize(Duration(1 << 40, 0, 0), 5))


def test_rows_that_end_early_are_refused():
    columns = columns_of([Int32Type])
    fields, decrypts = fields_of(columns, None, ArrowOptions())
    body = rows_content([[b"\0\0\0\1"], [b"\0\0\0\2"]])
    for end in range(len(body)):
        with pytest.raises(MalformedFrameError):
            parse_page(body[:end], 0, columns, fields, decrypts, 5)


def test_nulls_that_would_fill_the_memory_are_refused():
    rows = [[None]] * 100
    vector = lookup_cqltype("vector<float, 2000000>")
    with pytest.raises(ColumnDecodeError, match="limits allows: its growth is"):
        batch([vector], rows)
    nested = lookup_cqltype("vector<vector<vector<vector<float, 100000>, 100000>, 100000>, 100000>")
    with pytest.raises(ColumnDecodeError, match="limits allows: its growth is"):
        batch([nested], rows)
    assert f.room_for_nulls(0) == 1 << 28
    assert f.room_for_nulls(10) == (1 << 28) + 10 * limits.growth


# --- who frees what ------------------------------------------------------------------------------


def integers(count=1000):
    return batch([Int32Type, UTF8Type], [[struct.pack(">i", i), b"text"] for i in range(count)])


def test_who_takes_a_batch_keeps_it_alive():
    taken = pa.record_batch(integers())
    gc.collect()
    assert taken.column(0).to_pylist() == list(range(1000))
    first = taken.column(0)
    del taken
    gc.collect()
    assert first.to_pylist() == list(range(1000))


def test_a_batch_can_be_taken_again_and_again_without_a_copy():
    found = integers()
    one, two = pa.record_batch(found), pa.record_batch(found)
    assert one.column(0).buffers()[1].address == two.column(0).buffers()[1].address
    del found, one
    assert two.column(0).to_pylist() == list(range(1000))


def test_capsules_that_nobody_takes_free_what_is_in_them():
    found = integers()
    for _ in range(3):
        found.__arrow_c_schema__()
        found.__arrow_c_array__()
        found.__arrow_c_stream__()


def test_a_child_that_was_moved_away_outlives_its_parent():
    """As the specification lets consumers do: "moving an array", for children too."""

    class Array(ctypes.Structure):
        _fields_ = (
            *((name, ctypes.c_int64) for name in ("length", "nulls", "offset", "buffers_n", "n")),
            ("buffers", ctypes.POINTER(ctypes.c_void_p)),
            ("children", ctypes.POINTER(ctypes.c_void_p)),
            ("dictionary", ctypes.c_void_p),
            ("release", ctypes.c_void_p),
            ("private_data", ctypes.c_void_p),
        )

    pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    _, capsule = integers().__arrow_c_array__()
    parent = Array.from_address(pointer_of(capsule, b"arrow_array"))
    address = parent.children[0]
    moved = Array()
    ctypes.memmove(ctypes.byref(moved), address, ctypes.sizeof(Array))
    Array.from_address(address).release = None
    release(parent.release)(ctypes.addressof(parent))
    assert parent.release is None
    del capsule
    gc.collect()
    values = (ctypes.c_int32 * 1000).from_address(moved.buffers[1])
    assert list(values) == list(range(1000))
    release(moved.release)(ctypes.addressof(moved))
    assert moved.release is None


def test_buffers_may_be_given_back_on_another_thread():
    held = [pa.record_batch(integers())]
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    assert held == []


def test_a_stream_tells_what_its_pages_failed_with():
    found = integers()

    def pages():
        yield found
        raise TimeoutError("no second page")

    stream = pa.RecordBatchReader._import_from_c_capsule(stream_capsule(found.fields, pages()))
    assert stream.read_next_batch().num_rows == 1000
    with pytest.raises(OSError, match="TimeoutError: no second page"):
        stream.read_next_batch()


#: A page of 20,000 rows, or the same with a last one that is refused, in a process of its own.
PAGES = """
    import gc, resource, struct, sys
    sys.path[:0] = ["tests"]
    import pyarrow as pa
    from wire_bodies import rows_content
    from driver.protocol.columns import ColumnMetadata
    from driver.types import Int32Type, UTF8Type
    from driver.wire.arrow.fields import ArrowOptions, fields_of
    from driver.wire.arrow.page import parse_page
    columns = [ColumnMetadata("ks", "t", "i", Int32Type), ColumnMetadata("ks", "t", "t", UTF8Type)]
    fields, decrypts = fields_of(columns, None, ArrowOptions())
    rows = [[struct.pack(">i", i), b"a text" * 10] for i in range(20000)]
    good, bad = rows_content(rows), rows_content([*rows, [b"xx", b""]])
    def page(body):
        return parse_page(body, 0, columns, fields, decrypts, 5)
"""

REPEATED = """
    def once():
        found = page(good)
        pa.table(found), pa.record_batch(found)
        found.__arrow_c_array__(), found.__arrow_c_stream__()
        try:
            page(bad)
        except Exception:
            pass
    def repeat(times):
        for _ in range(times):
            once()
        gc.collect()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    before = repeat(5)
    print(repeat(40) - before)
"""

KEPT = """
    found = page(good)
    kept = pa.record_batch(found)
    stream = pa.RecordBatchReader._import_from_c_capsule(found.__arrow_c_stream__())
    sys.kept = (kept, stream, found.__arrow_c_array__())
"""


def run(*parts):
    script = "".join(map(textwrap.dedent, parts))
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=ROOT
    )


def test_taking_batches_again_and_again_needs_no_more_memory():
    done = run(PAGES, REPEATED)
    assert done.stderr == ""
    # KiB. A page has 1.4 MB of buffers: 80 of them would be 110,000.
    assert int(done.stdout) < 20_000


def test_what_is_kept_until_the_end_of_the_process_ends_quietly():
    done = run(PAGES, KEPT)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
