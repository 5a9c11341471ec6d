"""Exporter graphs with a few things changed: what rules must tell apart, and keep."""
