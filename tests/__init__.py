"""Tests; a package, so that no `tests` of another distribution is found instead."""
