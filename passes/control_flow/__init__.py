"""Patterns of `ge-simplify-control-flow`."""
