"""The doctor: what this machine can and cannot measure, and what to do about it."""
