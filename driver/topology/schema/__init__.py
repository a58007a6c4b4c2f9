"""The schema: its parts, their CQL text, and how they are read from a server."""
