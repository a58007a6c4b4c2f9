"""install() and uninstall(): who answers `import cassandra`, and that nothing else is disturbed."""

import importlib
import inspect
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from driver import compat
from driver.values.date import Date


def run(code, *arguments, options=()):
    """Run code in a fresh interpreter, and give what it printed."""
    done = subprocess.run(
        [sys.executable, *options, "-c", textwrap.dedent(code), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.usefixtures("served")
def test_names_are_objects_of_this_driver():
    from cassandra import ConsistencyLevel
    from cassandra.util import Date as TheirDate

    from driver.protocol.consistency import ConsistencyLevel as Ours

    assert ConsistencyLevel is Ours
    assert TheirDate is Date
    assert isinstance(Date(0), TheirDate)


@pytest.mark.usefixtures("served")
def test_every_form_of_import_works():
    import cassandra
    import cassandra.policies as by_alias
    from cassandra import policies as from_package

    namespace = {}
    exec("from cassandra.encoder import *", namespace)  # noqa: S102  (the form under test)
    assert by_alias is from_package is cassandra.policies is sys.modules["cassandra.policies"]
    assert {"Encoder", "cql_quote"} <= set(namespace)


@pytest.mark.usefixtures("served")
def test_a_name_that_is_not_served_is_an_attribute_error_that_names_the_module():
    import cassandra.util

    with pytest.raises(AttributeError, match=r"'cassandra\.util', served by driver\.compat"):
        _ = cassandra.util.Nothing
    with pytest.raises(ImportError, match="cannot import name 'Nothing'"):
        from cassandra.util import Nothing  # noqa: F401


@pytest.mark.usefixtures("served")
def test_a_module_that_is_not_served_is_not_found():
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("cassandra.nothing")
    assert importlib.util.find_spec("cassandra.nothing") is None


@pytest.mark.usefixtures("served")
@pytest.mark.parametrize(
    ("module", "reason"),
    [
        ("cassandra.graph", "graph is not part"),
        ("cassandra.datastax.graph", "DataStax"),
    ],
)
def test_what_is_left_out_says_so(module, reason):
    with pytest.raises(ImportError, match=reason):
        importlib.import_module(module)


@pytest.mark.usefixtures("served")
def test_a_module_of_the_package_is_there_that_only_others_import():
    import cassandra

    assert cassandra.connection.ConnectionBusy.__name__ == "ConnectionBusy"


@pytest.mark.usefixtures("served")
def test_options_are_written_for_the_object_mapper():
    from cassandra.metadata import TableMetadataV3

    options = {"comment": "it's", "caching": {"keys": "ALL"}, "gc_grace_seconds": None}
    written = ["caching = {'keys': 'ALL'}", "comment = 'it''s'"]
    assert TableMetadataV3._make_option_strings(options) == written


@pytest.mark.usefixtures("served")
def test_the_object_mapper_is_that_of_an_installed_driver(tmp_path, monkeypatch):
    from driver.cluster import Cluster

    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    with pytest.raises(ImportError, match="pip install cassandra-driver"):
        importlib.import_module("cassandra.cqlengine.models")
    mapper = tmp_path / "cassandra" / "cqlengine"
    mapper.mkdir(parents=True)
    (mapper / "__init__.py").write_text("from cassandra.cluster import Cluster")
    (mapper / "models.py").write_text("from . import Cluster")
    importlib.invalidate_caches()
    assert importlib.import_module("cassandra.cqlengine.models").Cluster is Cluster


@pytest.mark.usefixtures("served")
def test_dir_lists_what_is_served():
    import cassandra.timestamps

    assert "MonotonicTimestampGenerator" in dir(cassandra.timestamps)
    assert set(cassandra.timestamps.__all__) <= set(dir(cassandra.timestamps))


@pytest.mark.usefixtures("served")
def test_reload_gives_the_same_module():
    import cassandra.util

    assert importlib.reload(cassandra.util) is cassandra.util
    assert cassandra.util.Date is Date


@pytest.mark.usefixtures("served")
def test_pickles_that_name_cassandra_load():
    by_their_name = b"ccassandra.util\nDate\n(I7\ntR."
    assert pickle.loads(by_their_name) == Date(7)  # noqa: S301  (written above)


@pytest.mark.usefixtures("served")
def test_pickles_of_our_objects_survive_a_round_trip():
    from cassandra.util import SortedSet

    assert pickle.loads(pickle.dumps(SortedSet([2, 1]))) == SortedSet([1, 2])  # noqa: S301


@pytest.mark.usefixtures("served")
def test_inspect_finds_the_module_behind():
    import cassandra.util

    assert inspect.getmodule(cassandra.util.Date).__name__ == "driver.values.date"
    assert inspect.getmodule(cassandra.util) is cassandra.util


def test_installing_twice_is_once():
    with compat.installed(force=True):
        compat.install()
        with compat.installed():
            pass
        assert compat.is_installed()
    assert not compat.is_installed()
    compat.uninstall()


def test_a_package_that_is_imported_already_is_an_error_that_says_what_to_do():
    out = run(
        """
        import cassandra, driver.compat
        try:
            driver.compat.install()
        except RuntimeError as error:
            print(error)
        """
    )
    assert "already imported" in out
    assert "install(force=True)" in out


def test_force_puts_the_real_package_aside_and_uninstall_brings_it_back():
    out = run(
        """
        import cassandra.util as real, driver.compat, sys
        driver.compat.install(force=True)
        import cassandra.util as served
        driver.compat.uninstall()
        import cassandra.util as again
        import cassandra.query
        print(again is real, served is real, cassandra.query.__file__.count("driver"))
        """
    )
    assert out == "True False 0"


def test_the_real_package_imports_as_before_after_uninstall():
    out = run(
        """
        import sys
        before = list(sys.meta_path)
        import driver.compat
        driver.compat.install()
        import cassandra.query, cassandra.util
        driver.compat.uninstall()
        assert sys.meta_path == before
        assert not [name for name in sys.modules if name.split(".")[0] == "cassandra"]
        import cassandra.util
        print(type(cassandra.util).__name__, cassandra.util.Date.__module__)
        """
    )
    assert out == "module cassandra.util"


def test_no_real_package_is_needed():
    code = """
        import sys
        sys.path.insert(0, sys.argv[1])
        import importlib.util
        assert importlib.util.find_spec("cassandra") is None
        import driver.compat
        driver.compat.install()
        from cassandra.cluster import Cluster
        from cassandra.query import SimpleStatement
        print(SimpleStatement.__module__, Cluster.__name__)
        """
    root = Path(compat.__file__).parents[2]
    # -S leaves site-packages out.
    assert run(code, root, options=("-I", "-S")) == "driver.statements.simple Cluster"
