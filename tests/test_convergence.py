"""R-hat and effective sample size equal ArviZ's."""

import arviz_stats
import numpy as np
import pytest

from pcorrect.convergence import ess_bulk, r_hat


@pytest.mark.parametrize("correlation", [-0.4, 0.0, 0.5, 0.95])
@pytest.mark.parametrize("shape", [(4, 1000), (4, 101), (2, 50)])
def test_equal_to_arviz(correlation, shape):
    rng = np.random.default_rng(7)
    x = rng.normal(size=shape) + 0.2 * rng.normal(size=(shape[0], 1))
    for i in range(1, shape[1]):
        x[:, i] += correlation * x[:, i - 1]
    assert r_hat(x) == pytest.approx(float(arviz_stats.rhat(x)), rel=1e-9)
    assert ess_bulk(x) == pytest.approx(float(arviz_stats.ess(x)), rel=1e-9)


def test_a_constant_has_converged():
    assert r_hat(np.ones((4, 10))) == 1.0
    assert ess_bulk(np.ones((4, 10))) == 40
