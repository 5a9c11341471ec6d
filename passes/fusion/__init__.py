"""Fusion by rules: what a rule is, how it is matched, and why it did not match."""
