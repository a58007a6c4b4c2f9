"""Compiled modules: a mirror of the tree, a .pyx for each of implementation.TWINS and ALONE."""
