"""Repeated blocks of a graph, such as the layers of a transformer, optimised once for all."""
