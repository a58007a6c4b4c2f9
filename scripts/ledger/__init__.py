"""The ledger of published claims: read, measured on the commits that carry them, judged, told."""
