"""The reference runtime: executes a plan on arenas that are byte arrays."""
