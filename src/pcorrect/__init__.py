"""pcorrect: Bayesian statistics for benchmark results with several generations per prompt."""
