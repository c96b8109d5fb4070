"""Comparing llms: who is better, by how much, and how sure are we."""

from pcorrect.comparison.difference import paired_difference
from pcorrect.comparison.estimates import Equivalence, Estimate, equivalence
from pcorrect.comparison.greedy import GreedyGap, greedy_gap
from pcorrect.comparison.paired_result import PairedDifference
from pcorrect.comparison.pass_k import PassK, pass_at_k, unbiased_pass
from pcorrect.comparison.prompt_level import PromptDifferences, prompt_differences
from pcorrect.comparison.ranking import rank
from pcorrect.comparison.ranking_result import Ranking
from pcorrect.comparison.ranks import Stability
from pcorrect.comparison.suite_table import Suite, SuiteRow
from pcorrect.comparison.suites import suite, suite_difference
from pcorrect.comparison.within import Randomness, RandomnessTable, randomness

__all__ = [
    "Equivalence",
    "Estimate",
    "GreedyGap",
    "PairedDifference",
    "PassK",
    "PromptDifferences",
    "Randomness",
    "RandomnessTable",
    "Ranking",
    "Stability",
    "Suite",
    "SuiteRow",
    "equivalence",
    "greedy_gap",
    "paired_difference",
    "pass_at_k",
    "prompt_differences",
    "randomness",
    "rank",
    "suite",
    "suite_difference",
    "unbiased_pass",
]
