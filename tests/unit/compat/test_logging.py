"""Loggers named cassandra.* get the records of this driver, once."""

import logging

import pytest

from driver import compat
from driver.compat.logs import counterpart


class Collecting(logging.Handler):
    def __init__(self):
        super().__init__()
        self.records = []

    def emit(self, record):
        self.records.append((record.name, record.getMessage()))


@pytest.fixture
def handler():
    return Collecting()


@pytest.fixture
def logger_of():
    """Loggers by name; what a test sets on them is undone."""
    touched = {}

    def get(name):
        logger = logging.getLogger(name)
        touched.setdefault(
            logger, (logger.level, logger.handlers[:], logger.filters[:], logger.propagate)
        )
        return logger

    yield get
    for logger, (level, handlers, filters, propagate) in touched.items():
        logger.setLevel(level)
        logger.handlers[:], logger.filters[:] = handlers, filters
        logger.propagate, logger.disabled = propagate, False


OURS = logging.getLogger("driver.pool.host_pool")


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("driver", "cassandra"),
        ("driver.cluster.session", "cassandra.cluster"),
        ("driver.execution.request", "cassandra.cluster"),
        ("driver.execution.metrics", "cassandra.metrics"),
        ("driver.net.heartbeat", "cassandra.connection"),
        ("driver.policies.load_balancing.token_aware", "cassandra.policies"),
        ("driver.policies.timestamps", "cassandra.timestamps"),
        ("driver.topology.schema.keyspace", "cassandra.metadata"),
        ("driver.implementation", "cassandra"),
    ],
)
def test_each_logger_has_a_counterpart(ours, theirs):
    assert counterpart(ours) == theirs


@pytest.mark.usefixtures("served")
@pytest.mark.parametrize("name", ["cassandra", "cassandra.pool"])
def test_a_handler_of_the_package_or_the_module_gets_our_records(name, handler, logger_of):
    logger_of(name).addHandler(handler)
    logger_of(name).setLevel(logging.DEBUG)
    OURS.debug("pool of %s", "a host")
    assert handler.records == [("cassandra.pool", "pool of a host")]


@pytest.mark.usefixtures("served")
def test_no_handler_gets_a_record_twice(handler, logger_of):
    for name in ("cassandra", "driver", "driver.pool"):
        logger_of(name)
    logger_of("").addHandler(handler)
    OURS.warning("once")
    assert handler.records == [("cassandra.pool", "once")]


@pytest.mark.usefixtures("served")
def test_levels_of_the_counterpart_decide(handler, logger_of):
    logger_of("cassandra").addHandler(handler)
    logger_of("cassandra").setLevel(logging.INFO)
    OURS.debug("no")
    assert not OURS.isEnabledFor(logging.DEBUG)
    logger_of("cassandra.pool").setLevel(logging.DEBUG)
    OURS.debug("yes")
    assert handler.records == [("cassandra.pool", "yes")]


@pytest.mark.usefixtures("served")
def test_filters_and_propagate_of_the_counterpart_hold(handler, logger_of):
    logger_of("cassandra").addHandler(handler)
    logger_of("cassandra.pool").addFilter(lambda record: "secret" not in record.getMessage())
    OURS.warning("a secret")
    OURS.warning("news")
    logger_of("cassandra.pool").propagate = False
    OURS.warning("kept")
    assert handler.records == [("cassandra.pool", "news")]


@pytest.mark.usefixtures("served")
def test_a_logger_that_a_configuration_disabled_still_answers_for_its_counterpart(
    handler, logger_of
):
    # logging.config.dictConfig disables loggers that it does not name.
    logger_of("cassandra").addHandler(handler)
    logger_of(OURS.name).disabled = True
    OURS.warning("heard")
    assert handler.records == [("cassandra.pool", "heard")]


@pytest.mark.usefixtures("served")
def test_a_logger_that_is_made_later_reaches_the_package(handler, logger_of):
    logger_of("cassandra").addHandler(handler)
    logger_of("cassandra").setLevel(logging.DEBUG)
    logger_of("driver.made_later").debug("here")
    assert [message for _, message in handler.records] == ["here"]


def test_without_compat_our_loggers_are_their_own(handler, logger_of):
    kind, parent = type(OURS), OURS.parent
    with compat.installed(force=True):
        assert type(OURS) is not kind
    assert type(OURS) is kind
    assert OURS.parent is parent
    logger_of("cassandra").addHandler(handler)
    OURS.warning("not for cassandra")
    assert handler.records == []
