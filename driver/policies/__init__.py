"""Policies: decisions that a user can take over from the driver."""
