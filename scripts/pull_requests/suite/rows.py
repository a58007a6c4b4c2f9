"""Pull requests 630, 741 and 765: pages of rows are decoded."""

from cassandra.protocol import ProtocolHandler, _ProtocolHandler

from .proving import proved
from .wire import FEATURES, RESULT, STREAM, VERSION, rows

MODULES = ("protocol", "row_parser", "obj_parser", "parsing", "deserializers", "cqltypes")
PURE = ("protocol:ResultMessage.recv_results_rows",)
WHOLE = ("protocol:ResultMessage.recv_body",)
ONE, HUNDRED, WIDE, THOUSAND = rows(1, 5), rows(100, 5), rows(100, 10), rows(1000, 5)
fast, pure = ProtocolHandler.decode_message, _ProtocolHandler.decode_message


def parsed(message):
    """Names and rows of a result."""
    return message.column_names, message.parsed_rows


@proved(WHOLE, MODULES, answer=parsed)
def time_1_row(decode=fast, body=ONE):
    """By the handler that a session uses."""
    return decode(VERSION, FEATURES, {}, STREAM, 0, RESULT, body, None, None)


@proved(WHOLE, MODULES, answer=parsed)
def time_100_rows(decode=fast, body=HUNDRED):
    """By the handler that a session uses."""
    return decode(VERSION, FEATURES, {}, STREAM, 0, RESULT, body, None, None)


@proved(WHOLE, MODULES, answer=parsed)
def time_1000_rows(decode=fast, body=THOUSAND):
    """By the handler that a session uses."""
    return decode(VERSION, FEATURES, {}, STREAM, 0, RESULT, body, None, None)


@proved(PURE, MODULES, answer=parsed)
def time_python_1_row(decode=pure, body=ONE):
    """By the handler that is written in Python."""
    return decode(VERSION, FEATURES, {}, STREAM, 0, RESULT, body, None, None)


@proved(PURE, MODULES, answer=parsed)
def time_python_100_rows(decode=pure, body=HUNDRED):
    """By the handler that is written in Python."""
    return decode(VERSION, FEATURES, {}, STREAM, 0, RESULT, body, None, None)


@proved(PURE, MODULES, answer=parsed)
def time_python_100_wide_rows(decode=pure, body=WIDE):
    """Ten columns instead of five."""
    return decode(VERSION, FEATURES, {}, STREAM, 0, RESULT, body, None, None)
