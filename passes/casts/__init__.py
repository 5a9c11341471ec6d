"""Element types: where casts stand, and in what precision a graph computes."""
