"""Exact rewrites of `ge` into one spelling, one file a family of ops."""
