"""Compiled twins: a mirror of the tree, one .pyx for each name in implementation.TWINS."""
