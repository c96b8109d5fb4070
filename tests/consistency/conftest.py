"""Answers whose faulty prompts are known."""

import numpy as np
import pytest

from pcorrect.consistency.votes import Votes


def simulated(
    rates,
    *,
    per_group=60,
    llms=8,
    options=4,
    seed=0,
    ability=2.0,
):
    """Votes of llms that err together, and which keys are wrong.

    Each prompt has a difficulty shared by all llms and an attractive wrong answer; a faulty one has
    a key that is not its truth.
    """
    rng = np.random.default_rng(seed)
    prompt, key, share, group, wrong = [], [], [], [], []
    for g, rate in enumerate(rates):
        for _ in range(per_group):
            i = len(group)
            group.append(g)
            truth, trap = rng.choice(options, 2, replace=False)
            p = 1 / (1 + np.exp(-(ability + 1.5 * rng.normal() + 0.5 * rng.normal(size=llms))))
            lured = rng.random(llms) < 0.6
            other = np.where(lured, trap, rng.integers(options, size=llms))
            answer = np.where(rng.random(llms) < p, truth, other)
            bad = rng.random() < rate
            listed = (truth + rng.integers(1, options)) % options if bad else truth
            wrong.append(bad)
            for c in sorted({*answer.tolist(), int(listed)}):
                prompt.append(i)
                key.append(c == listed)
                share.append((answer == c).astype(float))
    votes = Votes(
        np.array(prompt),
        np.array(key),
        np.array(share),
        np.array(group),
        np.full(len(group), options),
    )
    return votes, np.array(wrong)


@pytest.fixture
def make():
    """The simulator."""
    return simulated
