"""Which prompts one llm gets and another does not: per-prompt differences with probabilities."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pcorrect.api import one_benchmark
from pcorrect.comparison.difference import fit_both
from pcorrect.comparison.joint import Coupling, couple
from pcorrect.comparison.paired_result import PairedDifference
from pcorrect.comparison.pairing import make_pair, two_llms
from pcorrect.data import IntArray
from pcorrect.errors import PcorrectError
from pcorrect.fitting import DEFAULT_MODEL, Fit
from pcorrect.marginal import FloatArray, check_interval

_COLUMNS = (
    "prompt",
    "n_correct_a",
    "n_generations_a",
    "n_correct_b",
    "n_generations_b",
    "p_a",
    "p_b",
    "difference",
    "lower",
    "upper",
    "p_better",
    "p_only_a",
    "p_only_b",
    "clear",
)


@dataclass(frozen=True)
class PromptDifferences:
    """Per-prompt differences of p, a minus b, from a's biggest advantage down to b's.

    Parameters
    ----------
    a, b, benchmark : str
    prompt : ndarray of str, shape (n,)
    n_correct, n_generations : ndarray of int64, shape (2, n)
    p_a, p_b : ndarray, shape (n,)
        Posterior means.
    difference, lower, upper : ndarray, shape (n,)
        Mean and equal-tailed credible interval of p_a - p_b.
    p_better : ndarray, shape (n,)
        P(p_a > p_b).
    p_only_a, p_only_b : ndarray, shape (n,)
        Probability that a fresh generation of a is right and one of b wrong, and the other way.
    clear : ndarray of bool, shape (n,)
        Prompts listed as different; the expected share of wrong signs among them is at most
        1 - ci_prob.
    ci_prob : float
    """

    a: str
    b: str
    benchmark: str
    prompt: NDArray[np.object_]
    n_correct: IntArray
    n_generations: IntArray
    p_a: FloatArray
    p_b: FloatArray
    difference: FloatArray
    lower: FloatArray
    upper: FloatArray
    p_better: FloatArray
    p_only_a: FloatArray
    p_only_b: FloatArray
    clear: NDArray[np.bool_]
    ci_prob: float

    def __len__(self) -> int:
        return len(self.prompt)

    def to_records(self) -> list[dict[str, Any]]:
        """One dict per prompt, in order."""
        return [
            {
                "prompt": str(self.prompt[i]),
                "n_correct_a": int(self.n_correct[0, i]),
                "n_generations_a": int(self.n_generations[0, i]),
                "n_correct_b": int(self.n_correct[1, i]),
                "n_generations_b": int(self.n_generations[1, i]),
                **{name: float(getattr(self, name)[i]) for name in _COLUMNS[5:-1]},
                "clear": bool(self.clear[i]),
            }
            for i in range(len(self))
        ]

    def to_csv(self) -> str:
        """The whole table as CSV text."""
        text = io.StringIO()
        writer = csv.DictWriter(text, _COLUMNS, lineterminator="\n")
        writer.writeheader()
        for row in self.to_records():
            writer.writerow(row | {"clear": int(row["clear"])})
        return text.getvalue()

    def lines(self, count: int) -> list[str]:
        """The `count` prompts that differ most, as a text table."""
        order = np.sort(np.argsort(-np.abs(self.difference), kind="stable")[:count])
        width = max(6, *(len(str(self.prompt[i])) for i in order))
        level = f"{100 * self.ci_prob:g} % interval (eti)"
        head = f"  {'prompt':<{width}}  {'a':>7}  {'b':>7}  p_a - p_b  {level:<20}  P(a better)"
        lines = [head]
        for i in order:
            a, b = (f"{self.n_correct[j, i]}/{self.n_generations[j, i]}" for j in range(2))
            lines.append(
                f"  {self.prompt[i]!s:<{width}}  {a:>7}  {b:>7}  {self.difference[i]:>+9.3f}  "
                f"{f'{self.lower[i]:+.3f} to {self.upper[i]:+.3f}':<20}  {self.p_better[i]:.3f}"
                f"{'  clear' if self.clear[i] else ''}"
            )
        wins = self.clear & (self.difference > 0)
        lines.append(
            f"  clear differences: a on {int(wins.sum())} prompts, b on "
            f"{int(self.clear.sum() - wins.sum())} of {len(self)} (at most "
            f"{1 - self.ci_prob:.0%} of these signs expected to be wrong)"
        )
        return lines


def prompt_differences(
    data: Any,
    a: str | None = None,
    b: str | None = None,
    *,
    benchmark: str | None = None,
    ci_prob: float = 0.95,
    model: str = DEFAULT_MODEL,
    seed: int = 0,
    **reading: Any,
) -> PromptDifferences:
    """Per-prompt differences of two llms, ranked.

    The p of a prompt are drawn jointly (`pcorrect.comparison.joint`): where difficulty goes
    together, a difference seen in a few generations is more likely to be chance.

    Parameters
    ----------
    data : Counts, list of Counts, path, list of paths, data frame or Generations
        Or the result of `paired_difference`, whose fits are used again.
    a, b : str, optional
        The llms; default the only two.
    benchmark : str, optional
    ci_prob : float
        Probability of the intervals, and of the signs of the prompts marked clear.
    model, seed
        As in `paired_difference`.
    **reading
        Options of `read`.

    Returns
    -------
    PromptDifferences

    Raises
    ------
    DataError
        The llms share no prompt.
    ChoiceError
        An llm or benchmark does not occur, or none is chosen among several.
    """
    check_interval(ci_prob, "eti")
    known: tuple[Fit, ...] = ()
    if isinstance(data, PairedDifference) and data.pair is not None:
        pair, known = data.pair, data.fits
    else:
        counts = one_benchmark(data, benchmark, **reading)
        pair = make_pair(counts, *two_llms(counts, a, b))
    if not pair.paired:
        raise PcorrectError("an unpaired comparison has no per-prompt differences: pair by prompt")
    a, b = pair.a, pair.b
    fits = known or fit_both(pair, model, seed)
    # Computed in an order that knows nothing of names, then turned.
    swap = pair.reversed_order
    one, two = (fits[1], fits[0]) if swap else (fits[0], fits[1])
    table = _by_pair(couple(one, two, np.random.default_rng([seed, 1])), ci_prob)
    if a == b:
        # the same generations: nothing can differ
        table[:, 1] = table[:, 0]
        table[:, 2:] = [0.0, 0.0, 0.0, 0.5, 0.0, 0.0]
    p_a, p_b, difference, lower, upper, p_better, only_a, only_b = table.T
    if swap:
        p_a, p_b, only_a, only_b = p_b, p_a, only_b, only_a
        difference, lower, upper, p_better = -difference, -upper, -lower, 1 - p_better
    order = np.argsort(-difference, kind="stable")
    return PromptDifferences(
        a,
        b,
        pair.benchmark,
        pair.prompt[order],
        pair.n_correct[:, order],
        pair.n_generations[:, order],
        p_a=p_a[order],
        p_b=p_b[order],
        difference=difference[order],
        lower=lower[order],
        upper=upper[order],
        p_better=p_better[order],
        p_only_a=only_a[order],
        p_only_b=only_b[order],
        clear=clear_signs(p_better[order], 1 - ci_prob),
        ci_prob=ci_prob,
    )


def _by_pair(coupling: Coupling, ci_prob: float) -> FloatArray:
    """Summaries of (p_a, p_b) for each prompt, shape (n, 8)."""
    pairs, of_prompt = coupling.pairs()
    tail = [(1 - ci_prob) / 2, (1 + ci_prob) / 2]
    out = np.empty((len(pairs), 8))
    for row, (x, y, weight) in enumerate(coupling.pair_weights()):
        flat, gap = weight.ravel(), (x[:, None] - y[None, :]).ravel()
        mean_a, mean_b = weight.sum(axis=1) @ x, weight.sum(axis=0) @ y
        both = float(x @ weight @ y)
        order = np.argsort(gap)
        # The pieces are a sample: each stands for the middle of its own probability.
        cdf = np.cumsum(flat[order]) - flat[order] / 2
        lower, upper = np.interp(tail, cdf, gap[order])
        out[row] = (
            mean_a,
            mean_b,
            mean_a - mean_b,
            lower,
            upper,
            flat @ ((gap > 0) + 0.5 * (gap == 0)),
            mean_a - both,
            mean_b - both,
        )
    return np.asarray(out[of_prompt])


def clear_signs(p_better: FloatArray, rate: float) -> NDArray[np.bool_]:
    """The largest set of signs whose mean posterior probability of being wrong is at most `rate`.

    (Bayesian directional false discovery rate, Müller et al. 2006: take the surest first.)
    """
    wrong = np.minimum(p_better, 1 - p_better)
    order = np.argsort(wrong, kind="stable")
    mean = np.cumsum(wrong[order]) / np.arange(1, len(wrong) + 1)
    chosen = np.zeros(len(wrong), bool)
    # The running mean of sorted values increases: the last one below the rate ends the set.
    chosen[order[: int(np.sum(mean <= rate))]] = True
    return chosen
