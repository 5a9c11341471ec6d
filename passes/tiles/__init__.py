"""How kernels divide into tiles: the rules that fusion, the tiler and cost models share."""
