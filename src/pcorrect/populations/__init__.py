"""Populations that the p_i come from: one file each, NumPy and SciPy only."""
