"""What people run: `ge-opt`, `ge-compile`, `ge-run`, and the Python API behind them."""
