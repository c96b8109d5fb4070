"""What an engine found out about one llm on one benchmark, in NumPy terms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from pcorrect.data import PromptCounts
from pcorrect.engines.grid import GridPosterior
from pcorrect.marginal import FloatArray, Marginal
from pcorrect.moment_estimates import Moments
from pcorrect.populations.population import Population
from pcorrect.priors import Priors
from pcorrect.prompts import PromptPosterior

#: What the package reports of every population, in this order, and the question each answers.
PARAMETERS = {
    "mu": "new prompts like these",
    "score": "exactly these prompts",
    "sigma": "spread of p between prompts",
    "rho": "intra-class correlation",
}


class Lazy[T](Mapping[str, T]):
    """A mapping whose values are computed when they are first asked for.

    Printing mu takes a hundredth of the time of drawing everything that a result can hold.
    """

    def __init__(self, makers: Mapping[str, Callable[[], T]]) -> None:
        self._makers = makers
        self._made: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


@dataclass(frozen=True)
class Fit:
    """Everything that an engine found out about one llm on one benchmark.

    Parameters
    ----------
    counts : PromptCounts
    model, engine : str
    priors : Priors
    seed : int
    draws : dict of ndarray, each of shape (chain, draw)
        Scalar parameters, at least `mu`, `score`, `sigma` and `rho`.
    marginals : dict of Marginal
        The same ones; from quadrature weights where the engine has them, else from the draws.
    prompts : PromptPosterior
        The posterior of every p_i.
    make_population : callable
        Returns `population`.
    moments : Moments
        The closed-form estimates beside it.
    diagnostics : dict of float
        ``quadrature_error`` (posterior sd), or ``r_hat`` (largest), ``ess`` (smallest bulk) and
        ``divergences``.
    warnings : tuple of str
    grid : GridPosterior or None
        Nodes and weights of the exact engine.
    """

    counts: PromptCounts
    model: str
    engine: str
    priors: Priors
    seed: int
    draws: Mapping[str, FloatArray]
    marginals: Mapping[str, Marginal]
    prompts: PromptPosterior
    make_population: Callable[[], Population | None]
    moments: Moments
    diagnostics: Mapping[str, float]
    warnings: tuple[str, ...] = ()
    grid: GridPosterior | None = None
    extra: Mapping[str, FloatArray] = field(default_factory=dict)

    @property
    def population(self) -> Population | None:
        """One population per draw, chain-major; None for a user's own program."""
        return self.make_population()

    @property
    def not_identified(self) -> tuple[str, ...]:
        """Parameters whose posterior repeats the prior, or nearly."""
        return not_identified(self.counts)


def not_identified(counts: PromptCounts) -> tuple[str, ...]:
    """Parameters that the counts say nothing about: sigma and rho at k = 1 or n = 1."""
    k = counts.n_generations
    return () if np.sum(k > 0) > 1 and np.any(k > 1) else ("sigma", "rho")
