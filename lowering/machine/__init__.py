"""A model of the machine: what a kernel costs, and how streams of kernels run together.

Everything here is predicted, never measured.
"""
