"""Messages and the bytes they travel as: the CQL native protocol v3, v4 and v5, without any I/O."""
