"""The adaptors: names that this driver has in another form."""

import importlib
import io
import threading

import pytest
from cql_node import CqlNode

from driver import compat
from driver.protocol import errors
from driver.types import Int32Type
from driver.types.deserializers import make_deserializers
from driver.wire.frame import FRAME_HEADER_LENGTH
from driver.wire.handlers import ProtocolHandler
from driver.wire.responses import ResultMessage
from driver.wire.responses import errors as messages

ROWS = bytes.fromhex("00000002 00000004 00000007 ffffffff")


def raised(message):
    """What callers get for a message of the server."""
    return message.to_exception()


@pytest.mark.usefixtures("served")
def test_a_message_without_a_public_exception_is_caught_by_its_name_in_protocol():
    from cassandra.protocol import ErrorMessage, RequestValidationException, SyntaxException

    error = raised(messages.SyntaxException(0x2000, "line 1"))
    for kind in (SyntaxException, RequestValidationException, ErrorMessage, errors.SyntaxException):
        with pytest.raises(kind, match="line 1"):
            raise error
    assert (error.code, error.message, error.info) == (0x2000, "line 1", None)


@pytest.mark.usefixtures("served")
def test_a_message_with_a_public_exception_still_becomes_that():
    info = {"consistency": 1, "required_replicas": 2, "alive_replicas": 1}
    error = raised(messages.UnavailableErrorMessage(0x1000, "few", info))
    assert type(error) is errors.Unavailable
    assert error.alive_replicas == 1


@pytest.mark.usefixtures("served")
def test_an_unknown_code_and_one_that_the_peer_does_not_know_are_exceptions():
    from cassandra.protocol import ErrorMessage

    assert isinstance(raised(messages.ErrorMessage(0x9999, "new")), ErrorMessage)
    info = {"consistency": 1, "received_responses": 0, "required_responses": 1}
    unknown = raised(messages.CASWriteUnknownErrorMessage(0x1700, "who knows", info))
    assert type(unknown) is errors.CASWriteUnknown


def test_without_compat_messages_become_our_exceptions():
    message = messages.SyntaxException(0x2000, "line 1")
    with compat.installed(force=True):
        assert type(raised(message)) is not errors.SyntaxException
    assert type(raised(message)) is errors.SyntaxException


@pytest.mark.usefixtures("served")
def test_our_messages_are_instances_of_the_served_classes():
    from cassandra import protocol

    message = messages.OverloadedErrorMessage(0x1001, "busy")
    assert isinstance(message, protocol.OverloadedErrorMessage)
    assert isinstance(message, protocol.RequestExecutionException)
    assert isinstance(message, protocol.ErrorMessage)
    assert not isinstance(message, protocol.ServerError)
    assert not isinstance(message, protocol.RequestValidationException)
    assert not isinstance("busy", protocol.ErrorMessage)


@pytest.mark.usefixtures("served")
def test_a_served_error_gives_what_the_class_of_the_message_has():
    from cassandra.protocol import ErrorMessage, ServerError

    body = io.BytesIO(bytes.fromhex("00000000 0004") + b"oops")
    assert isinstance(ErrorMessage.recv_body(body, 4, None), ServerError)
    assert ErrorMessage.opcode == 0
    assert ServerError.summary == "Server error"
    with pytest.raises(AttributeError):
        _ = ServerError.nothing
    with pytest.raises(AttributeError):
        _ = ServerError._nothing


@pytest.mark.usefixtures("served")
def test_row_parsers_parse_rows():
    from cassandra.bytesio import BytesIOReader
    from cassandra.obj_parser import LazyParser, ListParser, parse_rows_lazy
    from cassandra.parsing import ParseDesc

    description = ParseDesc(["a"], [Int32Type], None, None, make_deserializers([Int32Type]), 4)
    assert ListParser().parse_rows(BytesIOReader(ROWS), description) == [(7,), (None,)]
    assert list(LazyParser().parse_rows(BytesIOReader(ROWS), description)) == [(7,), (None,)]
    assert list(parse_rows_lazy(BytesIOReader(b"\xff" + ROWS, 1), description)) == [(7,), (None,)]


RESULT = bytes.fromhex("00000002 00000001 00000001 0001") + b"k" + bytes.fromhex("0001") + b"t"
RESULT += bytes.fromhex("0001") + b"a" + bytes.fromhex("0009") + ROWS


@pytest.mark.usefixtures("served")
@pytest.mark.parametrize("name", ["ListParser", "LazyParser"])
def test_a_protocol_handler_is_made_from_a_parser(name):
    from cassandra import obj_parser
    from cassandra.protocol import cython_protocol_handler

    handler = cython_protocol_handler(getattr(obj_parser, name)())
    assert issubclass(handler, ProtocolHandler)
    result = handler.decode_message(4, None, {}, 0, 0, 8, RESULT, None, None)
    assert list(result.parsed_rows) == [(7,), (None,)]


@pytest.mark.usefixtures("served")
def test_a_result_message_takes_a_method_made_from_a_parser():
    from cassandra.obj_parser import ListParser
    from cassandra.protocol import ResultMessage
    from cassandra.row_parser import make_recv_results_rows

    class Result(ResultMessage):
        recv_results_rows = make_recv_results_rows(ListParser())

    result = Result.recv_body(io.BytesIO(RESULT), 4, None, {}, None, None)
    assert result.parsed_rows == [(7,), (None,)]
    assert result.column_names == ["a"]


@pytest.mark.usefixtures("served")
def test_headers_of_frames_pack():
    from cassandra.marshal import v3_header_pack, v3_header_unpack

    packed = v3_header_pack(4, 0, 1, 7, 0)
    assert len(packed) == FRAME_HEADER_LENGTH
    assert v3_header_unpack(packed) == (4, 0, 1, 7, 0)


@pytest.mark.usefixtures("served")
def test_compressed_segments_go_through_files():
    from cassandra.connection import segment_codec_lz4

    if segment_codec_lz4 is None:
        pytest.skip("lz4 is not installed")
    buffer = io.BytesIO()
    segment_codec_lz4.encode(buffer, b"frame" * 100)
    buffer.seek(0)
    header = segment_codec_lz4.decode_header(buffer)
    assert header.payload_length < 500
    assert segment_codec_lz4.decode(buffer, header).payload == b"frame" * 100


@pytest.mark.usefixtures("served")
@pytest.mark.parametrize("name", ["asyncio", "asyncore", "eventlet", "gevent", "libev", "twisted"])
def test_every_reactor_is_our_connection(name):
    import importlib

    from cassandra.connection import Connection

    module = importlib.import_module(f"cassandra.io.{name}reactor")
    assert issubclass(getattr(module, f"{name.capitalize()}Connection"), Connection)


@pytest.mark.usefixtures("served")
def test_a_version_that_is_none_is_an_error():
    from cassandra.util import Version

    with pytest.raises(ValueError, match="not a version"):
        Version("one")
    assert len({Version("4.0.0"), Version("4.0"), Version("4.0.1")}) == 2


@pytest.mark.usefixtures("served")
def test_application_info_says_what_it_was_given():
    from cassandra.application_info import ApplicationInfo, ApplicationInfoBase

    options = {"DRIVER_NAME": "d"}
    ApplicationInfo("app", client_id="me").add_startup_options(options)
    assert options == {"DRIVER_NAME": "d", "APPLICATION_NAME": "app", "CLIENT_ID": "me"}
    with pytest.raises(TypeError, match="application_version must be a string"):
        ApplicationInfo(application_version=5)
    with pytest.raises(NotImplementedError):
        ApplicationInfoBase().add_startup_options(options)


def test_application_info_reaches_startup():
    from driver.cluster.core import ClusterCore
    from driver.cluster.options import ClusterOptions
    from driver.cluster.settings import connection_settings
    from driver.compat.adaptors.application_info import ApplicationInfo

    info = ApplicationInfo("app", "1.0")
    settings = connection_settings(ClusterCore(ClusterOptions(application_info=info)))
    assert settings.startup_options["APPLICATION_NAME"] == "app"
    assert settings.startup_options["APPLICATION_VERSION"] == "1.0"


def test_application_info_stands_in_place_of_the_other_options():
    from driver.cluster.core import ClusterCore
    from driver.cluster.options import ClusterOptions
    from driver.cluster.settings import connection_settings
    from driver.compat.adaptors.application_info import ApplicationInfo

    options = ClusterOptions(application_info=ApplicationInfo(), application_name="another")
    named = connection_settings(ClusterCore(options)).startup_options
    assert set(named) == {"DRIVER_NAME", "DRIVER_VERSION", "SESSION_ID"}


@pytest.mark.usefixtures("served")
def test_object_mappers_quote_text_alone():
    from uuid import UUID

    from cassandra.encoder import cql_quote

    assert [cql_quote(term) for term in ("it's", 5, True)] == ["'it''s'", "5", "True"]
    assert cql_quote(UUID(int=0)) == "00000000-0000-0000-0000-000000000000"


@pytest.mark.parametrize("name", ["Asyncio", "Asyncore", "Libev"])
@pytest.mark.usefixtures("served")
def test_a_connection_is_opened_without_a_cluster(name):
    from cassandra.connection import ConnectionException
    from cassandra.protocol import QueryMessage

    reactor = importlib.import_module(f"cassandra.io.{name.lower()}reactor")
    klass = getattr(reactor, f"{name}Connection")
    klass.initialize_reactor()
    answers, answered = [], threading.Event()
    with CqlNode(versions=(4,)) as node:
        connection = klass.factory(node.endpoint, 5, protocol_version=4)
        with connection.lock:
            stream = connection.get_request_id()

        def take(answer):
            answers.append(answer)
            answered.set()

        connection.send_msg(QueryMessage("SELECT", 1), stream, cb=take)
        assert answered.wait(5)
        connection.close()
    assert answers[0].opcode == ResultMessage.opcode
    with pytest.raises(ConnectionException, match="Cannot connect"):
        klass.factory(node.endpoint, 5)


@pytest.mark.parametrize(
    ("ends_after", "text"), [(None, "q"), (0, "q"), (2.5, "q USING TIMEOUT 2500ms")]
)
@pytest.mark.usefixtures("served")
def test_a_query_of_scylladb_gives_up_after_a_time(ends_after, text):
    import datetime as dt

    from cassandra.util import maybe_add_timeout_to_query

    limit = None if ends_after is None else dt.timedelta(seconds=ends_after)
    assert maybe_add_timeout_to_query("q", limit) == text


@pytest.mark.usefixtures("served")
def test_any_object_is_written_as_it_says_and_a_batch_type_by_its_name():
    from cassandra.cqltypes import SimpleDateType
    from cassandra.encoder import Encoder
    from cassandra.query import BatchType, bind_params

    class Quoted:
        def __str__(self):
            return "('a', 'b')"

    assert bind_params("IN %s", (Quoted(),), Encoder()) == "IN ('a', 'b')"
    assert f"BEGIN {BatchType.UNLOGGED} BATCH" == "BEGIN UNLOGGED BATCH"
    assert SimpleDateType.EPOCH_OFFSET_DAYS == 2**31


def test_a_dict_with_more_names_and_a_text_are_bound_only_while_the_names_are_served():
    from driver import compat
    from driver.protocol.columns import ColumnMetadata
    from driver.statements import PreparedStatement
    from driver.types import UTF8Type

    marker = ColumnMetadata("ks", "t", "v", UTF8Type)
    prepared = PreparedStatement([marker], b"id", None, "q", None, 4, None, None)
    with compat.installed(force=True):
        assert prepared.bind({"v": "x", "more": 1}).values == [b"x"]
        assert prepared.bind("x").values == [b"x"]
        with pytest.raises(ValueError, match="2 values are too many"):
            prepared.bind("xy")
    for refused in ({"v": "x", "more": 1}, "x"):
        with pytest.raises((ValueError, TypeError), match=r"no bind marker|values are a sequence"):
            prepared.bind(refused)


@pytest.mark.usefixtures("served")
def test_codes_of_types_are_those_of_the_protocol():
    from cassandra import type_codes

    # Native protocol, section 4.2.5.2; 0x000A was text before v3.
    codes = (type_codes.CUSTOM_TYPE, type_codes.UTF8Type, type_codes.VarcharType)
    assert codes == (0x0000, 0x000A, 0x000D)
    assert (type_codes.ListType, type_codes.MapType, type_codes.SetType) == (0x20, 0x21, 0x22)
    assert (type_codes.UserType, type_codes.TupleType) == (0x30, 0x31)
    assert not hasattr(type_codes, "VectorType")
