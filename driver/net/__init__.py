"""Connections: what carries requests to a node and responses back."""
