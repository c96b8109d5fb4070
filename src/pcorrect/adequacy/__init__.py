"""Can the result be trusted? Shape of the population, exchangeable runs, k, priors."""
