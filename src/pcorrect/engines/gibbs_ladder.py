"""Parallel tempering for the Gibbs sampler: chains with thinner data help the others to move."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pcorrect.engines.gibbs_pieces import FloatArray, IntArray
from pcorrect.engines.gibbs_state import Chains

# The thinnest data have about so many prompts, and each level so many times those of the next.
_SMALLEST, _RATIO = 30, 3.0
# Many cells make every level dear, and slow mixing is a matter of few generations.
_MANY_CELLS = 100
_RATIO_OF_MANY = 6.0


def thinned(n: IntArray) -> IntArray:
    """Counts of ever fewer prompts in the same proportions, shape (levels, M), `n` itself first.

    Cells are thinned in their order, as if prompts stood in a row and every j-th were kept, so that
    cells of one prompt each are thinned as well.
    """
    ratio = _RATIO if len(n) <= _MANY_CELLS else _RATIO_OF_MANY
    total = max(int(n.sum()), 1)
    steps = max(0, int(np.ceil(np.log(total / _SMALLEST) / np.log(ratio))))
    share = (_SMALLEST / total) ** (np.arange(steps + 1) / max(steps, 1))
    kept = np.floor(np.cumsum(n) * share[:, None] + 0.5)
    return np.diff(kept, axis=1, prepend=0.0).astype(np.int64)


class Ladder(Chains):
    """Chains in groups that hold the data and ever thinner versions of it (parallel tempering).

    With many prompts, the Beta and a handful of atoms can fit equally well, and no chain gets from
    the one to the other by small steps. With few prompts they do; states that are good for both
    sizes are exchanged between the chains of a group.

    `set_levels` has to be called before the first sweep.
    """

    def set_levels(self, n: IntArray) -> None:
        """Give each group the same ladder: `n` of shape (levels, M), the real data first.

        ``n`` of shape (groups, levels, M) gives each its own.
        """
        levels = n.shape[-2]
        groups = len(self.a) // levels
        every = np.broadcast_to(n, (groups, *n.shape[-2:]))
        self.n = every.reshape(groups * levels, n.shape[-1]).copy()
        self.level = np.tile(np.arange(levels), (groups, 1))

    def real(self) -> NDArray[np.intp]:
        """The chain of each group that now has the real data."""
        return np.flatnonzero(self.level == 0)

    def exchange(self, log_marginal: FloatArray) -> None:
        """Exchange the data of chains on neighbouring levels (Metropolis)."""
        groups, levels = self.level.shape
        if levels == 1:
            return
        chain = np.argsort(self.level, axis=1) + np.arange(groups)[:, None] * levels
        start = int(self.rng.integers(2))
        one, two = chain[:, start:-1:2].ravel(), chain[:, start + 1 :: 2].ravel()
        change = (self.n[two] - self.n[one]) * (log_marginal[one] - log_marginal[two])
        ok = self._accept(change.sum(axis=1))
        level = self.level.reshape(-1)
        one, two = one[ok], two[ok]
        for x in (self.n, level, self.log_step):
            x[one], x[two] = x[two], x[one]
