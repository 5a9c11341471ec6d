"""Data that need not move: pieces and joined values as views of other bytes."""
