"""Symbols of a graph: equalities between them, what is checked of them, shapes to paste."""
