"""Reference semantics of `ge` ops: what each one computes, on numpy arrays."""
