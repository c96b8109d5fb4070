"""Answers to clusters, consistency, the data map, and prompts whose key may be wrong.

texts, latex, numerals, syntax -> equivalence -> clusters        which answers are the same
answers (extraction, unscored) -> grouping                      who gave which answer how often
entropy -> tables                                               S(consistency) and the data map
votes -> choice -> latent_truth -> flags -> effect              suspects, and what they mean
"""
