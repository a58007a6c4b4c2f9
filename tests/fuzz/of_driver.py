"""What is fuzzed of the driver: each target puts one input through both implementations.

A target is made of the drivers to compare (the compiled one and a pure mount, or one alone) and is
called with bytes. It raises what no caller of the driver is told to expect, or an AssertionError
where the two differ or a rule is broken. How bytes become an input is said at each target.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import re
import struct
import sys
import zlib
from importlib import import_module
from typing import TYPE_CHECKING

import wire_bodies as wb
from fuzz.edits import edited
from schema_server import SchemaServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

VERSIONS = (3, 4, 5)
HANDLERS = ("ProtocolHandler", "LazyProtocolHandler", "NumpyProtocolHandler")
OPCODES = (0x08, 0x00, 0x06, 0x0C, 0x02, 0x03, 0x0E, 0x10)
COMPRESSIONS = (None, "lz4", "snappy")
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


class _Modules:
    """The modules of one driver by their names within it."""

    def __init__(self, driver: ModuleType) -> None:
        self._name = driver.__name__

    def __call__(self, name: str) -> ModuleType:
        return import_module(f"{self._name}.{name}")


def plain(value: object) -> str:
    """A value as text in which the two implementations are the same where their values are."""
    # A varint may have more digits than the interpreter writes unless it is told to.
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        return _ADDRESS.sub("", repr(value)).replace("driver_pure.", "driver.")
    finally:
        sys.set_int_max_str_digits(limit)


def both(drivers: list[ModuleType], outcome: Callable[[_Modules], tuple[str, ...]]) -> None:
    """The same outcome of every driver."""
    first, *others = [outcome(_Modules(driver)) for driver in drivers]
    for other in others:
        assert other == first, f"{str(first)[:500]} against {str(other)[:500]}"


def decoder(drivers: list[ModuleType]) -> Callable[[bytes], None]:
    """Responses of every kind: byte 0 chooses, 1 the opcode, 2 the flags, the rest is the body."""

    def outcome(m: _Modules, data: bytes) -> tuple[str, ...]:
        choice, opcode, flags = data[0], data[1], data[2]
        version = VERSIONS[choice % 3]
        handler = getattr(m("wire.handlers"), HANDLERS[choice // 3 % 3])
        # Numbers of the choice are used up to 107; above, all features are on.
        features = m("wire.features").ProtocolFeatures(0x4321, None, True, 0x80000000)
        compression = COMPRESSIONS[choice // 18 % 3]
        decompress = (
            compression and m("wire.compression").locally_supported_compressions[compression][1]
        )
        kept = m("wire.row_shape").RowShape(
            m("protocol.columns").ColumnMetadata("ks", "t", name, kind)
            for name, kind in (("a", m("types").Int32Type), ("b", m("types").UTF8Type))
        )
        try:
            message = handler.decode_message(
                version, features if choice > 107 else None, {}, 0, flags,
                OPCODES[opcode] if opcode < len(OPCODES) else opcode,
                data[3:], decompress, kept if choice // 9 % 2 else None,
            )  # fmt: skip
            rows = getattr(message, "parsed_rows", None)
            if rows is not None and not isinstance(rows, dict | list):
                message.parsed_rows = list(rows)
            if message.opcode == 0x06:
                m("wire.features").ProtocolFeatures.parse_from_supported(message.options)
            if message.opcode == 0x00:
                str(message.to_exception())
        except m("protocol.errors").DriverException as error:
            return type(error).__name__, plain(str(error))
        fields = message._fields()
        for name, value in fields.items():
            if isinstance(value, dict):
                fields[name] = {k: getattr(v, "tolist", lambda v=v: v)() for k, v in value.items()}
        return type(message).__name__, plain(fields)

    def check(data: bytes) -> None:
        if len(data) < 3:
            return
        # A second time the shape of its rows is known, which is another way.
        for _ in range(2):
            both(drivers, lambda m: outcome(m, data))

    return check


def _columns(types: ModuleType) -> list[tuple[str, type, bytes]]:
    """Columns of many types, with a value of each."""
    cass = types.lookup_casstype
    kinds = {
        "Int32Type": 7, "LongType": -2, "UTF8Type": "é", "DoubleType": 0.5, "BooleanType": True,
        "ListType(Int32Type)": [1, 2], "SetType(UTF8Type)": {"a"}, "DecimalType": None,
        "MapType(UTF8Type,DoubleType)": {"a": 1.5}, "TupleType(Int32Type,UTF8Type)": (1, None),
        "VectorType(FloatType,3)": [1.0, 2.0, 3.0], "VectorType(UTF8Type,2)": ["a", "b"],
        "UserType(ks,75,61:Int32Type,62:UTF8Type)": (1, "b"), "ShortType": 3,
        "ListType(FrozenType(MapType(Int32Type,SetType(LongType))))": [{1: {2}}],
    }  # fmt: skip
    found = [(name, cass(name)) for name in kinds]
    odd = {"DecimalType": b"\0\0\0\2\1\2", "DurationType": b"\x02\x04\x06",
           "InetAddressType": b"\x7f\0\0\1", "UUIDType": bytes(16), "SimpleDateType": b"\x80\0\0\0",
           "TimestampType": bytes(8), "TimeType": bytes(8), "IntegerType": b"\x7f\xff"}  # fmt: skip
    return [
        *((name, kind, odd.get(name) or kind.serialize(kinds[name], 4)) for name, kind in found),
        *((name, cass(name), data) for name, data in odd.items() if name not in kinds),
    ]


def decoder_seeds(driver: ModuleType) -> Iterator[bytes]:
    """A response of every kind, in every version and by every handler."""
    types = import_module(f"{driver.__name__}.types")
    columns = _columns(types)
    names = [(name[:9], kind) for name, kind, _ in columns]
    row = [data for *_, data in columns]
    two = [("a", types.Int32Type), ("b", types.UTF8Type)]
    bodies = {
        0: [
            wb.integer(1), wb.integer(3) + wb.string("ks"), wb.rows_result(names, [row, row]),
            *(wb.rows_result([pair], [[data]]) for pair, data in zip(names, row, strict=True)),
            wb.rows_result(two, [[bytes(4), b"a"], [None, b""]], paging_state=b"page"),
            wb.rows_result(two, [[bytes(4), b"a"]], skip=True),
            wb.rows_result(two, [[bytes(4), b"a"]], new_id=b"id"),
            wb.rows_result(two, [[bytes(4), b"a"]], table=None),
            wb.prepared_result(b"id", two, two, 4, pk=[1, 0]),
            wb.prepared_result(b"id", two, (), 5),
            wb.integer(5) + b"".join(map(wb.string, ("CREATED", "TABLE", "ks", "t"))),
            wb.integer(5) + b"".join(map(wb.string, ("DROPPED", "FUNCTION", "ks", "f")))
            + wb.short(1) + wb.string("int"),
        ],
        1: [
            wb.integer(code) + wb.string("m") + more
            for code, more in {
                0x0000: b"", 0x000A: b"", 0x0100: b"", 0x1001: b"", 0x4321: b"\x01\x01",
                0x1000: wb.short(4) + wb.integer(2) + wb.integer(1),
                0x1100: wb.short(4) + wb.integer(1) * 2 + wb.string("CAS") + wb.short(1),
                0x1200: wb.short(4) + wb.integer(1) * 2 + b"\x01",
                0x1300: wb.short(1) + wb.integer(1) * 3 + b"\x01",
                0x1400: wb.string("ks") + wb.string("f") + wb.short(1) + wb.string("int"),
                0x1500: wb.short(1) + wb.integer(1) * 3 + wb.string("SIMPLE"),
                0x1700: wb.short(4) + wb.integer(1) * 2,
                0x2400: wb.string("ks") + wb.string("t"), 0x2500: wb.short(2) + b"id",
            }.items()
        ],
        2: [
            wb.short(2) + wb.string("SCYLLA_NR_SHARDS") + wb.short(1) + wb.string("4")
            + wb.string("CQL_VERSION") + wb.short(1) + wb.string("3.0.0"),
        ],
        3: [
            wb.string("STATUS_CHANGE") + wb.string("UP") + b"\x04abcd" + wb.integer(1),
            wb.string("TOPOLOGY_CHANGE") + wb.string("NEW_NODE") + b"\x04abcd" + wb.integer(1),
            wb.string("SCHEMA_CHANGE") + wb.string("CREATED") + wb.string("KEYSPACE")
            + wb.string("ks"),
        ],
        4: [b""], 5: [wb.string("org.Auth")], 6: [wb.value(b"token")], 7: [wb.value(None)],
    }  # fmt: skip
    for opcode, each in bodies.items():
        for number, body in enumerate(each):
            for choice in (1, 4, 7, 11, 110 + number % 9):
                yield bytes([choice, opcode, 0]) + body
    yield (
        bytes([1, 0, 0x0E])
        + bytes(16)
        + wb.short(1)
        + wb.string("w")
        + wb.short(1)
        + (wb.string("k") + wb.value(b"v") + wb.integer(1))
    )
    for choice in (19, 37):
        compress = import_module(
            f"{driver.__name__}.wire.compression"
        ).locally_supported_compressions[COMPRESSIONS[choice // 18 % 3]][0]
        yield bytes([choice, 0, 1]) + compress(wb.rows_result(two, [[bytes(4), b"a"]] * 5))


#: How long a piece of what `conversation` sends can be.
_PIECE = struct.Struct(">BH")


def _stream(m: _Modules, version: int, lz4: bool, data: bytes) -> bytes:
    """What a server sends: pieces, each as its kind says."""
    segments = m("wire.segments")
    codec = segments.SegmentCodec(
        *([m("wire.compression").segment_compress, m("wire.compression").segment_decompress]
          if lz4 else [])
    )  # fmt: skip
    found, at, first = b"", 0, version | 0x80
    while at + _PIECE.size <= len(data):
        kind, size = _PIECE.unpack_from(data, at)
        at += _PIECE.size
        piece = data[at : at + size]
        at += len(piece)
        frame = struct.pack(">BBhBi", first, kind >> 5, size % 99, 8, len(piece)) + piece
        match kind & 7:
            case 0:
                found += piece
            case 1:
                found += frame
            case 2:
                found += struct.pack(">BBhBi", first, 0, 0, 2, 0)
            case 3:
                found += codec.encode(frame)
            case 4:
                found += codec.encode(piece)
            case _:
                head = segments.SegmentHeader(len(piece), 0, kind & 7 == 5)
                found += codec.encode_header(head) + piece
                found += zlib.crc32(piece, segments.CRC32_INITIAL).to_bytes(4, "little")
    return found + data[at:]


def conversation(drivers: list[ModuleType]) -> Callable[[bytes], None]:
    """Bytes of a server, in pieces: byte 0 chooses, 1 seeds where they are cut.

    The rest are pieces of a kind (a byte) and a length (two): as they are, as the body of a frame,
    in a segment with true checksums, as a part of a frame in a segment; or READY. Each driver reads
    what each one wrote: of equal data lz4's library may write other bytes the next time.
    """

    def fed(m: _Modules, talk: object, pieces: list[bytes]) -> tuple[str, ...]:
        frames = []
        for piece in pieces:
            try:
                frames += talk.feed(piece)
            except m("wire.malformed").MalformedFrameError as error:
                return plain([*frames, *error.frames]), type(error).__name__, str(error)
        return plain(frames), "", str(talk.kept)

    def outcome(
        m: _Modules, version: int, compression: str | None, sent: bytes, seed: int
    ) -> tuple[str, ...]:
        talks = [m("wire.conversation").Conversation(version, compression) for _ in range(2)]
        cut = random.Random(seed)
        pieces, at = [], 0
        while at < len(sent):
            size = cut.choice((1, 2, 7, 100, len(sent)))
            pieces.append(sent[at : at + size])
            at += size
        whole, cuts = fed(m, talks[0], [sent]), fed(m, talks[1], pieces)
        assert cuts == whole, f"cut otherwise: {cuts} against {whole}"
        return whole

    def check(data: bytes) -> None:
        if len(data) < 3:
            return
        version, lz4 = VERSIONS[data[0] % 3], bool(data[0] // 3 % 2)
        for writer in drivers:
            sent = _stream(_Modules(writer), version, lz4 and version == 5, data[2:])
            both(drivers, lambda m, sent=sent: outcome(
                m, version, "lz4" if lz4 else None, sent, data[1]
            ))  # fmt: skip

    return check


def conversation_seeds(_: ModuleType) -> Iterator[bytes]:
    """Frames and segments of each kind, after and before READY."""

    def piece(kind: int, data: bytes = b"") -> bytes:
        return _PIECE.pack(kind, len(data)) + data

    header = struct.pack(">BBhBi", 0x85, 0, 1, 8, 30)
    for choice in range(6):
        for ready in (b"", piece(2)):
            for kinds in ((1, 1), (3, 3), (4,), (5, 6), (6, 6, 6), (0, 1), (0x21, 3)):
                yield bytes([choice, 5]) + ready + b"".join(piece(k, b"body" * 9) for k in kinds)
            split = piece(6, header) + piece(6, bytes(10)) + piece(6, bytes(20)) + piece(3, b"end")
            yield bytes([choice, 9]) + ready + split


def _is_documented(m: _Modules, error: Exception) -> bool:
    """Whether a type says that it raises this of bytes."""
    return isinstance(error, m("protocol.errors").MarshalException | UnicodeDecodeError
                      | OverflowError)  # fmt: skip


def _is_whole(m: _Modules, kind: type) -> bool:
    """Whether a type has the types that it is made of: ``ListType`` alone is none of any value."""
    made_of = kind.subtypes
    needs = kind.num_subtypes != 0 or issubclass(kind, m("types").VectorType)
    return (bool(made_of) or not needs) and all(_is_whole(m, each) for each in made_of)


def types(drivers: list[ModuleType]) -> Callable[[bytes], None]:
    """Type strings: byte 0 chooses Cassandra's notation or CQL's, the rest is the text."""

    def outcome(m: _Modules, data: bytes) -> tuple[str, ...]:
        text, registry = data[1:].decode("utf-8", "replace"), m("types.registry")
        known = {"u": m("types").UserType.make_udt_class("ks", "u", ["a"], [m("types").Int32Type])}
        try:
            found = (
                registry.lookup_cqltype(text, known)
                if data[0] % 2
                else registry.lookup_casstype(text)
            )
        except ValueError as error:
            return type(error).__name__, plain(str(error))
        written = found.cass_parameterized_type(full=True)
        # Between quotes classes of others may have any name.
        if not {"'", '"'} & set(text) and _is_whole(m, found):
            again = registry.lookup_casstype(written)
            assert again.cass_parameterized_type(full=True) == written, written
        with contextlib.suppress(ValueError):  # not all of them can be written in CQL
            registry.lookup_cqltype(found.cql_parameterized_type(), known)
        return written, found.cql_parameterized_type(), str(found.serial_size())

    def check(data: bytes) -> None:
        if data:
            both(drivers, lambda m: outcome(m, data))

    return check


def types_seeds(driver: ModuleType) -> Iterator[bytes]:
    """Each type in both notations."""
    types = import_module(f"{driver.__name__}.types")
    for _, kind, _ in _columns(types):
        yield b"\0" + kind.cass_parameterized_type(full=True).encode()
        yield b"\0" + kind.cass_parameterized_type().encode()
        yield b"\1" + kind.cql_parameterized_type().encode()
    for text in ("'com.acme.Sketch'", 'frozen<"u">', "map<text, frozen<list<u>>>", "vector<u, 3>"):
        yield b"\1" + text.encode()
    for text in (
        "DynamicCompositeType(a=>Int32Type,b=>UTF8Type)",
        "ReversedType(FrozenType(X))",
        "CompositeType(Int32Type,UTF8Type)",
        "ColumnToCollectionType(61:ListType(X))",
    ):
        yield b"\0" + text.encode()


def values(drivers: list[ModuleType]) -> Callable[[bytes], None]:
    """Values: byte 0 is the version, a type string up to a zero byte follows, then the value."""

    def outcome(m: _Modules, data: bytes) -> tuple[str, ...]:
        version = VERSIONS[data[0] % 3]
        text, _, given = data[1:].partition(b"\0")
        try:
            kind = m("types.registry").lookup_casstype(text.decode("utf-8", "replace"))
        except ValueError as error:
            return type(error).__name__, ""
        reader = m("types.deserializers").find_deserializer(kind)
        try:
            value = reader.deserialize_bytes(given, version)
        except Exception as error:
            if not _is_documented(m, error) and _is_whole(m, kind):
                raise
            return type(error).__name__, plain(str(error))
        try:
            written = m("types.serializers").find_serializer(kind).serialize(value, version)
        except (TypeError, ValueError, OverflowError) as error:
            # None and EMPTY are no values, neither are those inside; the rest is said of both.
            return plain(value), type(error).__name__, plain(str(error))
        if _is_whole(m, kind):
            assert plain(reader.deserialize_bytes(written, version)) == plain(value)
        return plain(value), written.hex()

    def check(data: bytes) -> None:
        if data:
            both(drivers, lambda m: outcome(m, data))

    return check


def values_seeds(driver: ModuleType) -> Iterator[bytes]:
    """A value of each type."""
    types = import_module(f"{driver.__name__}.types")
    for choice in (1, 2):
        for _, kind, data in _columns(types):
            yield bytes([choice]) + kind.cass_parameterized_type().encode() + b"\0" + data


def _schema_rows() -> dict[str, list[dict]]:
    """Rows of a schema with everything in it, as a server gave them, without most."""
    held = SchemaServer.recorded().tables
    few: dict[str, list[dict]] = {}
    for table, rows in held.items():
        rich = [row for row in rows if row["keyspace_name"] in {"rich", "RichToo"}]
        few[table] = rich[:: max(1, len(rich) // 12)]
    few["system_virtual_schema.keyspaces"] = [{"keyspace_name": "v"}]
    few["system_virtual_schema.tables"] = [{"keyspace_name": "v", "table_name": "t", "comment": ""}]
    return few


def schema(drivers: list[ModuleType]) -> Callable[[bytes], None]:
    """Schema rows: byte 0 is the server's version, the rest edits rows that a server gave."""
    tables = _schema_rows()
    quiet = {"keyspace_name": "quiet", "durable_writes": True, "replication": {"class": "X"}}
    versions = ("5.0.9", "4.1", "3.11.19", "3.0.8", "", "six")

    def outcome(m: _Modules, data: bytes) -> tuple[str, ...]:
        changed = edited(tables, data[1:])
        found = {table: rows if isinstance(rows, list) else [] for table, rows in changed.items()}
        for table, rows in found.items():
            found[table] = [row for row in rows if isinstance(row, dict)]
        found.setdefault("system_schema.keyspaces", []).append(quiet)

        async def ask(queries: list[str]) -> list[list[dict]]:
            return [found.get(query.split()[3], []) for query in queries]

        read = m("topology.schema.reader").read_keyspaces
        keyspaces = asyncio.run(read(ask, versions[data[0] % len(versions)]))
        assert "quiet" in keyspaces, "one keyspace hides another"
        return tuple(keyspaces[name].export_as_string() for name in keyspaces)

    def check(data: bytes) -> None:
        if data:
            both(drivers[:1], lambda m: outcome(m, data))

    return check


def schema_seeds(_: ModuleType) -> Iterator[bytes]:
    """Rows as they are, and some edits."""
    for version in range(6):
        for edits in (b"", b"\x01\x02\x03", b"\x05\x06\x07\x10\x11\x02", bytes(range(30))):
            yield bytes([version]) + edits
