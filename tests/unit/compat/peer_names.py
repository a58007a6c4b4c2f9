"""Prints, as JSON, the public names of the installed ``cassandra`` package, by module.

Run by a test in a process of its own. Public is a name without an underscore in front that the
package itself defines, in that module or in another one of its modules. Modules, and what comes
from the standard library, are none of its names.
"""

import importlib
import inspect
import json
import pkgutil
import sys
import types

import cassandra

LEFT_OUT = ("cassandra.cqlengine", "cassandra.graph", "cassandra.datastax")
#: Constants of the standard library cannot be told from the package's own by looking at them.
FOREIGN = {"FIRST_COMPLETED", "EV_READ", "EV_WRITE", "EV_ERROR"}


def is_its_own(name, value):
    if name.startswith("_") or name in FOREIGN or isinstance(value, types.ModuleType):
        return False
    defined_in = getattr(value, "__module__", None)
    if isinstance(defined_in, str):
        return defined_in.split(".")[0] == "cassandra" or defined_in == "__main__"
    if inspect.isbuiltin(value):
        # Bound methods of struct.Struct are made by the package; other builtins are not.
        return type(getattr(value, "__self__", None)).__name__ == "Struct"
    return True


def names():
    found, missing = {}, {}
    walked = (module.name for module in pkgutil.walk_packages(cassandra.__path__, "cassandra."))
    for module_name in ("cassandra", *walked):
        if module_name.startswith(LEFT_OUT):
            continue
        try:
            module = importlib.import_module(module_name)
        except Exception as error:  # noqa: BLE001  (what it needs is not installed)
            missing[module_name] = repr(error)
            continue
        found[module_name] = sorted(name for name, v in vars(module).items() if is_its_own(name, v))
    return {"found": found, "missing": missing}


json.dump(names(), sys.stdout)
