"""Engines: what turns counts, a population and priors into a posterior."""
