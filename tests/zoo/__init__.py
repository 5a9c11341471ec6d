"""Trained models that PyPI packages carry, as test material."""
