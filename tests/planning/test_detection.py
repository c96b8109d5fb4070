"""Power and detectable differences against scipy's distribution and simulated comparisons."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, ndtri, stdtrit
from scipy.stats import nct, norm

from pcorrect.data import PromptCounts
from pcorrect.errors import PcorrectError
from pcorrect.planning.detection import detectable_difference, power
from pcorrect.planning.variances import Variances
from pcorrect.result import Fit

A = Variances.assume(0.7, 0.3, 200)
B = Variances.assume(0.65, 0.35, 200)


def test_against_scipy() -> None:
    found = power(A, B, difference=0.05, n=[30, 200], k=[1, 8], correlation=[0, 0.9]).value[1]
    for i, n in enumerate((30, 200)):
        for j, k in enumerate((1, 8)):
            for m, r in enumerate((0, 0.9)):
                between = 0.09 + 0.35**2 - 2 * r * 0.3 * 0.35
                within = (0.21 - 0.09) + (0.65 * 0.35 - 0.35**2)
                se = np.sqrt((between + within / k) / n)
                exact = nct.sf(stdtrit(n - 1, 0.975), n - 1, 0.05 / se)
                assert found[i, j, m] == pytest.approx(exact, rel=1e-6)
    score = power(A, B, difference=0.05, n=200, k=8, estimand="score").value[1, 0, 0, 0]
    assert score == pytest.approx(norm.sf(ndtri(0.975) - 0.05 / np.sqrt(0.225 / 1600)), rel=1e-6)


def test_against_simulated_comparisons() -> None:
    """Logit-normal pairs: the share of significant paired t tests, within 4 binomial errors."""
    rng = np.random.default_rng(1)
    u = rng.standard_normal((2, 400_000))
    p = expit(1.5 * u[0] + 0.6)
    q = expit(1.5 * (0.8 * u[0] + 0.6 * u[1]) + 0.2)
    one, two = (Variances.assume(float(x.mean()), float(x.std()), 100) for x in (p, q))
    n, k, runs = 100, 4, 10_000
    index = rng.integers(len(p), size=(runs, n))
    d = (rng.binomial(k, p[index]) - rng.binomial(k, q[index])) / k
    t = d.mean(axis=1) / (d.std(axis=1, ddof=1) / np.sqrt(n))
    share = float(np.mean(t > stdtrit(n - 1, 0.975)))
    predicted = power(
        one,
        two,
        difference=float(p.mean() - q.mean()),
        n=n,
        k=k,
        correlation=float(np.corrcoef(p, q)[0, 1]),
    ).value[1, 0, 0, 0]
    assert predicted == pytest.approx(share, abs=4 * np.sqrt(0.25 / runs) + 0.01)


@pytest.mark.parametrize("estimand", ["mu", "score"])
def test_detectable_difference_has_the_power(estimand: str) -> None:
    found = detectable_difference(A, n=[30, 500], k=[2, 16], estimand=estimand)
    for i, n in enumerate((30, 500)):
        for j, k in enumerate((2, 16)):
            gap = float(found.value[1, i, j, 0])
            again = power(A, difference=gap, n=n, k=k, estimand=estimand)
            assert again.value[1, 0, 0, 0] == pytest.approx(0.8, abs=1e-6)


def test_directions() -> None:
    """More prompts, generations and correlation help; the floor in k is there for mu only."""
    value = power(A, difference=0.04, n=[50, 200], k=[1, 4, 64], correlation=[0, 0.5, 0.9]).value[1]
    assert all(np.all(np.diff(value, axis=i) > 0) for i in range(3))
    far = power(A, difference=0.04, n=50, k=1e9, correlation=0.0)
    assert far.value[1, 0, 0, 0] < 0.2
    assert power(A, difference=0.04, n=50, k=1e9, estimand="score").value[1, 0, 0, 0] == 1


def test_uncertain_variances_give_intervals(spiky_fit: Fit) -> None:
    found = power(spiky_fit, difference=0.05, n=198, k=8)
    low, middle, high = found.value[:, 0, 0, 0]
    assert low < middle < high
    both = power(spiky_fit, A, difference=0.05, n=198, k=8)
    assert both.value.shape == (3, 1, 1, 1)
    data = found.to_dataset()
    assert data["power"].dims == ("bound", "n", "k", "correlation")
    assert data.attrs["difference"] == 0.05
    assert "difference" in detectable_difference(A, n=10, k=1).to_dataset()


@pytest.mark.parametrize(
    "options",
    [
        {"difference": 0.0},
        {"difference": 1.0},
        {"n": 1},
        {"k": 0.5},
        {"correlation": 1.1},
        {"estimand": "p"},
    ],
)
def test_out_of_range(options: dict[str, object]) -> None:
    with pytest.raises(PcorrectError):
        power(A, **({"difference": 0.1, "n": 50, "k": 4} | options))  # type: ignore[arg-type]


def test_power_out_of_range_or_unknown() -> None:
    with pytest.raises(PcorrectError, match="power"):
        detectable_difference(A, n=10, k=1, power=0.01)
    with pytest.raises(PcorrectError, match="k = 1 everywhere"):
        power(PromptCounts.from_arrays([1, 0], 1), difference=0.1, n=10, k=2)


@pytest.mark.parametrize("level", [0.0, -1.0, 1.5])
def test_levels_lie_between_0_and_1(level: float) -> None:
    assumed = Variances.assume(0.6, 0.3, 50)
    with pytest.raises(PcorrectError, match="level must lie"):
        power(assumed, difference=0.1, n=50, k=4, level=level)
    with pytest.raises(PcorrectError, match="level must lie"):
        detectable_difference(assumed, n=50, k=4, level=level)


def test_what_no_difference_reaches_is_inf() -> None:
    found = detectable_difference(Variances.assume(0.6, 0.3, 50), n=[2, 50], k=4, level=0.01)
    assert np.isinf(found.value[:, 0]).all()
    assert np.isfinite(found.value[:, 1]).all()
