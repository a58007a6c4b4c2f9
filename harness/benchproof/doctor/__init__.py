"""The doctor: what this machine can and cannot measure, and what to do about it."""

from .machine import Finding
from .report import diagnose

__all__ = ["Finding", "diagnose"]
