"""Populations of p_i that real results look like, by name: the table of the coverage study."""

import numpy as np

SMOOTH = {
    "Beta(.8, .4)": lambda n, rng: rng.beta(0.8, 0.4, n),
    "Beta(2, 3)": lambda n, rng: rng.beta(2, 3, n),
}
SPIKY = {
    "85 % at 1, 10 % at .3, 5 % at 0": lambda n, rng: rng.choice([1, 0.3, 0], n, p=[0.85, 0.1, 0.05]),
    "30 % at 1, 30 % at .5, 40 % at .02": lambda n, rng: rng.choice(
        [1, 0.5, 0.02], n, p=[0.3, 0.3, 0.4]
    ),
    "60 % at 1, 40 % Beta(2, 6)": lambda n, rng: np.where(
        rng.random(n) < 0.6, 1.0, rng.beta(2, 6, n)
    ),
    "Beta(40, 1), Beta(1, 30), Beta(2, 2) mixed": lambda n, rng: np.choose(
        rng.integers(0, 3, n), [rng.beta(40, 1, n), rng.beta(1, 30, n), rng.beta(2, 2, n)]
    ),
}
