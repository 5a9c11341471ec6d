"""Composite ops found in the many spellings of exporters, one file a composite."""
