"""Pages of rows as Apache Arrow's columns, by its C data interface; loaded when it is asked for."""
