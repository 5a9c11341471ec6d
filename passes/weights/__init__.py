"""Passes that compute new weights: norms folded into them, several joined to one."""
