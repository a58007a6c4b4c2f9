"""The published site: history, changes, claims and calibration as static files."""

from .publication import Asked, Published, publish

__all__ = ["Asked", "Published", "publish"]
