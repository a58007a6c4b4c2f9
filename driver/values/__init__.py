"""Layer 1: Python values for CQL types that the standard library has no exact match for."""
