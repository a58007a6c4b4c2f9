"""Benchmarks of the package `cassandra`: what pull requests to scylladb/python-driver speed up.

They are measured on both sides of a pull request by `scripts/originals`. Every case proves that the
function which the pull request changed has run, and gives its answer, so that both sides' answers
are compared. A module that one side does not have is asked for in `setup`.
"""
