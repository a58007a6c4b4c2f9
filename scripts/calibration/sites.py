"""Where extra work can go, and the cases that run it.

Sites of different families do not touch one another's targets, so that one commit can hold one
site of each family, and one gate answers for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


#: The variants of this project.
IMPLEMENTATIONS = ("cython", "python")


@dataclass(frozen=True)
class Site:
    """A function of the driver that some cases call.

    Attributes:
        name: for the records.
        family: of sites of which a commit may hold one.
        file: the source.
        function: its name, with its class's before it if it has one.
        targets: benchmarks that call it, and roughly how often each call of them does.
        impls: implementations that run this source.
    """

    name: str
    family: str
    file: str
    function: str
    targets: tuple[tuple[str, int], ...]
    impls: tuple[str, ...] = IMPLEMENTATIONS

    @property
    def cython(self) -> bool:
        """Whether the source is Cython's."""
        return self.file.endswith(".pyx")


def _encode(family: str, file: str, function: str, *targets: str) -> Site:
    return Site(
        f"encode {family}", f"encode {family}", f"driver/wire/requests/{file}.py",
        f"{function}.send_body", tuple((f"encode_message.time_{name}", 1) for name in targets),
        ("python",),
    )  # fmt: skip


def _decode(name: str, file: str, function: str, impls: Sequence[str], **targets: int) -> Site:
    return Site(
        f"decode {name}", "decode", f"driver/{file}", function,
        tuple((f"decode_rows.time_{case}", calls) for case, calls in targets.items()),
        tuple(impls),
    )  # fmt: skip


_DISPATCHED = tuple(
    (f"result_dispatch.time_{what}", 1)
    for what in ("rows", "rows_with_tablet", "error", "schema_change")
)
SITES: tuple[Site, ...] = (
    _encode("query", "query", "QueryMessage", "query_1kb_plain", "query_64b_plain",
            "query_16kb_lz4", "query_1kb_v5"),
    _encode("execute", "query", "ExecuteMessage", "execute_mixed_plain", "execute_mixed_v5",
            "execute_vector_1536_plain"),
    _encode("batch", "batch", "BatchMessage", "batch_100_plain"),
    Site("encode, compiled", "encode compiled", "driver/_cython/wire/requests/frames.pyx",
         "write_body",
         (("encode_message.time_query_64b_plain", 1),
          ("encode_message.time_execute_mixed_plain", 1),
          ("encode_message.time_batch_100_plain", 1)), ("cython",)),
    Site("bound routing key", "routing", "driver/statements/bound.py", "BoundStatement.routing_key",
         (("routing_key.time_bound_statement_composite_of_three", 1),), ("python",)),
    Site("routing key parts", "routing", "driver/statements/routing_key.py", "pack_parts",
         (("routing_key.time_pack_parts_composite_of_three", 1),), ("python",)),
    Site("routing key parts, compiled", "routing", "driver/_cython/statements/routing_key.pyx",
         "pack_parts", (("routing_key.time_pack_parts_composite_of_three", 1),), ("cython",)),
    Site("bind", "bind", "driver/statements/bound.py", "BoundStatement.bind",
         (("bind.time_reading", 1), ("bind.time_mixed_scalars_10", 1), ("bind.time_udt", 1)),
         ("python",)),
    Site("dispatch", "dispatch", "driver/execution/request.py", "RequestExecution._set_result",
         _DISPATCHED, ("python",)),
    Site("dispatch, compiled", "dispatch", "driver/_cython/execution/request.pyx", "take",
         _DISPATCHED, ("cython",)),
    _decode("message", "wire/decoding.py", "decode_message", ("python",),
            one_row=1, names_and_types_10_columns=1, page_100=1, one_row_with_metadata=1),
    _decode("message, compiled", "_cython/wire/decoding.pyx", "decode_message", ("cython",),
            one_row=1, names_and_types_10_columns=1, page_100=1, one_row_with_metadata=1),
    _decode("rows, compiled", "_cython/wire/rows.pyx", "_Reader.take_row", ("cython",),
            page_100=100, page_5000=5000, udt=100),
    _decode("text, compiled", "_cython/types/deserializers.pyx", "_Utf8.deserialize", ("cython",),
            wide_text=500),
    _decode("vectors, compiled", "_cython/types/deserializers.pyx", "_NumberVector.deserialize",
            ("cython",), vectors_128=50, vectors_1536=50),
    _decode("rows, pure", "wire/rows.py", "_values", ("python",), page_100=1, udt=1),
    Site("token, compiled", "token compiled", "driver/_cython/topology/token.pyx", "hash_of",
         (("routing_key.time_murmur3_200_bytes", 1),), ("cython",)),
    Site("token, pure", "token pure", "driver/topology/token.py", "murmur3",
         (("routing_key.time_murmur3_200_bytes", 1), ("routing_key.time_murmur3_single_int", 1)),
         ("python",)),
    Site("vectors, compiled", "serialize compiled", "driver/_cython/types/serializers.pyx",
         "_Vector.encode",
         (("serialize.time_vector_float_128", 1), ("serialize.time_vector_float_1536", 1),
          ("serialize.time_vector_int_128", 1)), ("cython",)),
    Site("vectors, pure", "serialize pure", "driver/types/vector.py", "VectorType.serialize",
         (("serialize.time_vector_float_128", 1), ("serialize.time_vector_text_8_generic", 1)),
         ("python",)),
)  # fmt: skip


def families(sites: Iterable[Site] = SITES) -> dict[str, list[Site]]:
    """The sites by family, in the order of the table."""
    found: dict[str, list[Site]] = {}
    for site in sites:
        found.setdefault(site.family, []).append(site)
    return found
