"""The optimiser's safety net: does a pass keep the values, which rewrite did not, what crashed."""
