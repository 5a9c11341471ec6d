"""The operator library: which fused kernels exist, one file a family of rules."""
