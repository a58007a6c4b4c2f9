"""The placeholders of a simple statement as bind markers."""

import pytest

from driver.statements.placeholders import with_markers


@pytest.mark.parametrize(
    ("text", "query", "names"),
    [
        ("SELECT v FROM t WHERE k = %s", "SELECT v FROM t WHERE k = ?", None),
        ("UPDATE t SET v = %(v)s WHERE k = %(k)s", "UPDATE t SET v = ? WHERE k = ?", ("v", "k")),
        ("... k > %(k)s AND k < %(k)s + 1", "... k > ? AND k < ? + 1", ("k", "k")),
        ("... v = 'it''s 5 ?' AND k = %s", "... v = 'it''s 5 ?' AND k = ?", None),
        ("... v LIKE '5%%' AND k = %s", "... v LIKE '5%' AND k = ?", None),
        ('... "a ? b" = %s', '... "a ? b" = ?', None),
        ("... k = %s -- which?\n AND l = %s", "... k = ? -- which?\n AND l = ?", None),
        ("... k /* is it? */ = %s", "... k /* is it? */ = ?", None),
        ("... b = $$ '? $$ AND k = %s", "... b = $$ '? $$ AND k = ?", None),
        ("... k = %s % 5".replace("% 5", "%% 5"), "... k = ? % 5", None),
    ],
)
def test_each_placeholder_becomes_a_marker(text, query, names):
    marked = with_markers(text)
    assert marked.query == query
    assert marked.names == names
    assert marked.markers == (len(names) if names else query.count("= ?"))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT v FROM t",
        "SELECT v FROM t WHERE k = '%s'",
        'SELECT "%s" FROM t WHERE k = %s',
        "SELECT v FROM t -- of %s\n WHERE k = %s",
        "SELECT v FROM t /* %(k)s */ WHERE k = %(k)s",
        "SELECT v FROM t WHERE k = %(k)s AND l = %s",
        "SELECT v FROM t WHERE k = %s AND l = ?",
        "SELECT v FROM t WHERE k = %d",
        "SELECT v FROM t WHERE k = %s % 5",
    ],
)
def test_what_cannot_be_marked_stays_as_it_is(text):
    assert with_markers(text) is None


@pytest.mark.parametrize(
    ("text", "parameters", "values"),
    [
        ("%s, %s", (1, 2), (1, 2)),
        ("%s, %s", [1, 2], [1, 2]),
        ("%s, %s", (1,), None),
        ("%s, %s", {"a": 1}, None),
        ("%s", "a", None),
        ("%(a)s, %(b)s, %(a)s", {"b": 2, "a": 1, "c": 3}, [1, 2, 1]),
        ("%(a)s, %(b)s", {"a": 1}, None),
        ("%(a)s", (1,), None),
    ],
)
def test_values_are_in_the_order_of_the_markers(text, parameters, values):
    assert with_markers(text).values(parameters) == values
