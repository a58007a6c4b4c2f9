"""A patch of a served name reaches the module behind it, and is undone cleanly."""

import sys
from types import ModuleType
from unittest import mock

import pytest

import driver.policies.timestamps
import driver.types.literals
import driver.types.temporal
import driver.values.date
from driver import compat

pytestmark = pytest.mark.usefixtures("served")

Date = driver.values.date.Date
PLACES = (driver.values.date, driver.types.temporal, driver.types.literals)


def dates():
    """What the name stands for in each module of the driver that has it."""
    return [place.Date for place in PLACES]


def test_a_patch_reaches_the_module_behind_and_those_that_imported_the_name():
    with mock.patch("cassandra.util.Date") as fake:
        assert dates() == [fake] * 3
    assert dates() == [Date] * 3


def test_a_patch_shows_in_every_module_that_serves_the_name():
    import cassandra.encoder

    with mock.patch("cassandra.util.Date") as fake:
        assert cassandra.encoder.Date is fake
    assert cassandra.encoder.Date is Date


def test_patches_nest():
    import cassandra.util

    with mock.patch("cassandra.util.Date", "outer"):
        with mock.patch("cassandra.encoder.Date", "inner"):
            assert dates() == ["inner"] * 3
        assert dates() == ["outer"] * 3
        assert cassandra.util.Date == "outer"
    assert dates() == [Date] * 3


def test_a_patch_of_an_attribute_of_a_served_class_is_one_of_our_class():
    import cassandra.util

    with mock.patch.object(cassandra.util.Date, "date", return_value="patched"):
        assert Date(0).date() == "patched"
    assert Date(0).date() != "patched"


def test_a_patch_that_fails_is_undone_too():
    def fail():
        raise RuntimeError

    with pytest.raises(RuntimeError), mock.patch("cassandra.util.Date"):
        fail()
    assert dates() == [Date] * 3


def test_the_decorator_patches_for_the_time_of_the_call():
    @mock.patch("cassandra.util.Date")
    def decorated(fake):
        assert dates() == [fake] * 3

    decorated()
    assert dates() == [Date] * 3


def test_a_module_that_the_modules_behind_import_can_be_patched():
    before = driver.policies.timestamps.time
    with mock.patch("cassandra.timestamps.time") as fake:
        assert driver.policies.timestamps.time is fake
        assert __import__("time") is not fake
    assert driver.policies.timestamps.time is before


def test_a_function_of_a_module_that_the_modules_behind_import_can_be_patched():
    from cassandra.connection import DefaultEndPoint

    with mock.patch("cassandra.connection.socket.getaddrinfo") as fake:
        __import__("socket").getaddrinfo("host", 1)
        assert DefaultEndPoint("10.0.0.1").resolve() == ("10.0.0.1", 9042)
    fake.assert_called_once_with("host", 1)


def test_a_logger_of_several_modules_behind_is_patched_in_each_and_put_back_in_each():
    behind = ("token_aware", "dc_aware")
    modules = [sys.modules[f"driver.policies.load_balancing.{name}"] for name in behind]
    before = [vars(module).get("log") for module in modules]
    assert any(before)
    with mock.patch("cassandra.policies.log") as fake:
        assert [
            vars(module)["log"] for module, was in zip(modules, before, strict=True) if was
        ] == [fake for was in before if was]
    assert [vars(module).get("log") for module in modules] == before


def test_monkeypatch_sets_deletes_and_undoes(monkeypatch):
    import cassandra.util

    with monkeypatch.context() as patched:
        patched.setattr("cassandra.util.Date", 1)
        assert dates() == [1] * 3
        patched.setattr(cassandra.util, "Date", 2)
        assert dates() == [2] * 3
    assert dates() == [Date] * 3

    with monkeypatch.context() as patched:
        patched.delattr("cassandra.util.Date")
        assert not hasattr(cassandra.util, "Date")
        assert not hasattr(driver.values.date, "Date")
    assert dates() == [Date] * 3


def test_a_module_that_is_first_imported_under_a_patch_is_put_right_afterwards(monkeypatch):
    late = ModuleType("driver.late")
    with mock.patch("cassandra.util.Date") as fake:
        late.Date = fake
        monkeypatch.setitem(sys.modules, "driver.late", late)
    assert late.Date is Date


def test_a_name_that_nobody_served_can_be_created():
    import cassandra.util

    with mock.patch("cassandra.util.brand_new", 1, create=True):
        assert cassandra.util.brand_new == 1
    assert not hasattr(cassandra.util, "brand_new")


def test_uninstall_undoes_what_is_still_patched():
    with compat.installed():
        import cassandra.util

        cassandra.util.Date = "forgotten"
        assert dates() == ["forgotten"] * 3
        compat.uninstall()
        assert dates() == [Date] * 3
    compat.install(force=True)


def test_there_is_no_moment_without_the_name(monkeypatch):
    import cassandra.util

    deleted = []
    monkeypatch.setattr(type(cassandra.util), "__delattr__", lambda *what: deleted.append(what))
    with mock.patch("cassandra.util.Date"):
        pass
    assert deleted == []
