"""The published site: history, changes, claims and calibration as static files."""
