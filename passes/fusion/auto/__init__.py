"""Automatic fusion: what the operator library has no rule for, by the bytes it saves."""
