"""Priors of the built-in models: the one place where they are set.

With ``r = sigma / sqrt(mu (1 - mu))``, the sd as a share of the largest one that `mu` allows
(``rho = r**2`` is the intra-class correlation), the defaults are flat in both::

    mu ~ Beta(1, 1)          r ~ Beta(1, 1)

so that ``sigma | mu ~ Uniform(0, sqrt(mu (1 - mu)))``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pcorrect.errors import PcorrectError

# Beta(.1, .1) has a tenth of its mass below 1e-9 and as much above one minus that.
_LEAST = 0.1
# As sure as that many prompts would make us. All engines agree up to here; far above, chains no
# longer move and quadrature finds no width.
_MOST = 1e6


@dataclass(frozen=True)
class Priors:
    """Priors of the population's mean and spread.

    Parameters
    ----------
    mu : pair of float
        Beta parameters of the prior of the population mean, from .1 to 1e6.
    spread : pair of float
        Beta parameters of the prior of ``r = sigma / sqrt(mu (1 - mu))``, from .1 to 1e6.
    alpha : pair of float
        Bounds of the log-uniform prior of the concentration of a Dirichlet-process population
        (not used by the others).

    Raises
    ------
    PcorrectError
        A Beta parameter is below .1 or above 1e6, or the bounds of `alpha` are not increasing.
    """

    mu: tuple[float, float] = (1.0, 1.0)
    spread: tuple[float, float] = (1.0, 1.0)
    alpha: tuple[float, float] = (1.0, 1e4)

    def __post_init__(self) -> None:
        for name in ("mu", "spread", "alpha"):
            low, high = (float(value) for value in getattr(self, name))
            rule = None
            if name == "alpha" and not 0 < low < high < np.inf:
                rule = "two increasing positive bounds"
            elif name != "alpha" and not all(_LEAST <= x <= _MOST for x in (low, high)):
                rule = (
                    f"two numbers from {_LEAST} (below, nearly all of it is at 0 or 1) to "
                    f"{_MOST:,.0f} (above, the data have no say)"
                )
            if rule is not None:
                raise PcorrectError(f"prior of {name}: needs {rule}, got {getattr(self, name)}")
            # Floats also where integers were given: Beta(100, 100) must not depend on the type.
            object.__setattr__(self, name, (low, high))

    def __str__(self) -> str:
        return (
            f"mu ~ Beta({self.mu[0]:g}, {self.mu[1]:g}), "
            f"sigma/sqrt(mu(1-mu)) ~ Beta({self.spread[0]:g}, {self.spread[1]:g})"
        )
