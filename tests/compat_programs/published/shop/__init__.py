"""An application for Django."""
