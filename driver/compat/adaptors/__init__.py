"""Thin adaptors: names of the ``cassandra`` package that this driver does not have in that form."""
