"""The parts of scripts/upstream-suite."""
