"""Mutates everything that is read from a file, and loads it: only clean errors may come out."""
