"""Exceptions from the rules of the code: few, and none that a user of the driver would meet."""

from inspect import isclass, isfunction
from pathlib import Path

import driver

ROOT = Path(__file__).resolve().parents[2]

#: Bare ``Any`` in public signatures, and why.
THE_USER_S_OWN = {
    "ClusterOptions.of",  # any option, as ClusterOptions itself has them typed
    "ClusterOptions.__init__",  # a connection class of the user's, for another transport
    "SaslAuthProvider.__init__",  # what the SASL library takes
    "SniEndPointFactory.configure",  # called by a cluster, not by users
    "ResultSet.get_query_trace",  # a QueryTrace, which is of a layer above
    "BoundStatement.__init__",  # a retry policy, which is of a layer above; or anything like it
}


def functions():
    """(name, function) of all public functions and methods."""
    for name in driver.__all__:
        thing = getattr(driver, name)
        if isfunction(thing):
            yield name, thing
        elif isclass(thing) and thing.__module__.startswith("driver."):
            for owner in thing.__mro__:
                if owner.__module__.startswith("driver."):
                    for method, value in vars(owner).items():
                        inner = getattr(value, "fget", None) or getattr(value, "__func__", value)
                        if isfunction(inner) and (
                            not method.startswith("_") or method == "__init__"
                        ):
                            yield f"{name}.{method}", inner


def test_no_public_signature_says_any_but_for_what_is_the_user_s():
    bare = {
        name
        for name, function in functions()
        if any(told == "Any" for told in getattr(function, "__annotations__", {}).values())
    }
    assert bare == THE_USER_S_OWN


def test_lines_that_are_excused_from_a_rule_are_few():
    excused = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in (ROOT / "driver").rglob("*.py")
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if "# noqa" in line
    ]
    assert len(excused) < 100
