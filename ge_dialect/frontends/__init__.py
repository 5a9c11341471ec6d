"""Readers of foreign model formats, one package or module a format."""
