"""Compiled modules: a mirror of the tree, one .pyx for each name in implementation.TWINS and ALONE."""
