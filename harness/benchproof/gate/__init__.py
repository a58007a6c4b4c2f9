"""The gate: base against head, both implementations, one verdict, told to people and machines."""
