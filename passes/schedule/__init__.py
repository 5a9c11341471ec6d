"""The order of ops: what it costs in memory, and which other order costs less."""
