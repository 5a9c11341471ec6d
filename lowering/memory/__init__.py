"""Where buffers lie: the problem as a value, solvers, and a checker that knows none of them."""
