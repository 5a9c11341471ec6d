"""Composite ops back to primitive ones, so that a target without their kernels runs any graph."""
