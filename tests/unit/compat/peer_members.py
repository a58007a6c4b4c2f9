"""Prints, as JSON, which of the members given as arguments the classes of ``cassandra`` have.

Run by a test, in a process of its own and, for this driver, through ``driver.compat``.
"""

import importlib
import json
import sys


def is_there(member):
    owner, _, name = member.rpartition(".")
    module, _, class_name = owner.rpartition(".")
    return hasattr(getattr(importlib.import_module(module), class_name), name)


json.dump(list(filter(is_there, sys.argv[1:])), sys.stdout)
