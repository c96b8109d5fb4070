"""Answers to clusters, consistency, the data map, and prompts whose key may be wrong."""
