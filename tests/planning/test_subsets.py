"""The expectation over subsets of the generations against listing every subset."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pcorrect.data import PromptCounts
from pcorrect.errors import PcorrectError
from pcorrect.planning.subsets import subset_expectations

CASES = {
    "balanced": ([0, 1, 3, 4], [4, 4, 4, 4]),
    "all right": ([3, 3], [3, 3]),
    "unequal": ([2, 0, 1, 3], [4, 2, 1, 3]),
    "unscored prompt": ([2, 0, 1], [3, 0, 3]),
    "one prompt": ([2], [4]),
}


def listed(s: list[int], big_k: list[int], k: int) -> dict[str, float]:
    """Every choice of min(k, K_i) of the generations of each prompt, one by one."""
    outcomes = [[1] * right + [0] * (all_ - right) for right, all_ in zip(s, big_k, strict=True)]
    subsets = [
        list(itertools.combinations(prompt, min(k, len(prompt)))) for prompt in outcomes if prompt
    ]
    means, variances, errors = [], [], []
    for chosen in itertools.product(*subsets):
        p_hat = np.array([np.mean(x) for x in chosen])
        used = np.array([len(x) for x in chosen])
        means.append(p_hat.mean())
        if len(p_hat) > 1:
            variances.append(p_hat.var(ddof=1) / len(p_hat))
        if k > 1:
            w = np.zeros(len(p_hat))
            many = used > 1
            w[many] = p_hat[many] * (1 - p_hat[many]) / (used[many] - 1)
            # a single generation carries the average of the others' variance
            if many.any():
                within = np.mean(w[many] * used[many])
                w[~many] = within / used[~many]
                errors.append(w.mean() / len(p_hat))
    return {
        "mean": float(np.mean(means)),
        "sd": float(np.std(means)),
        "se2_mu": float(np.mean(variances)) if variances else np.nan,
        "se2_score": float(np.mean(errors)) if errors else np.nan,
    }


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_equals_the_list_of_all_subsets(name: str, k: int) -> None:
    s, big_k = CASES[name]
    if k > max(big_k):
        pytest.skip("no such subset")
    found = subset_expectations(PromptCounts.from_arrays(s, big_k), np.array([k]))
    wanted = listed(s, big_k, k)
    for key, value in wanted.items():
        got = float(getattr(found, key)[0])
        assert got == pytest.approx(value, abs=1e-12, nan_ok=True), (key, got, value)


def test_equals_the_moment_extrapolation() -> None:
    """With balanced counts the expected squared error is (sigma_hat**2 + W_hat / k) / n."""
    from pcorrect.moment_estimates import moments

    rng = np.random.default_rng(3)
    counts = PromptCounts.from_arrays(rng.binomial(16, rng.beta(0.5, 0.5, 45)), 16)
    closed = moments(counts)
    k = np.arange(1, 17)
    found = subset_expectations(counts, k)
    assert closed.sigma2 is not None
    assert closed.within is not None
    np.testing.assert_allclose(
        found.se2_mu, (closed.sigma2 + closed.within / k) / 45, rtol=0, atol=1e-14
    )
    np.testing.assert_allclose(found.se2_score[1:], closed.within / k[1:] / 45, rtol=1e-12)


def test_cost_depends_on_cells_not_prompts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A million prompts in nine cells: the arithmetic sees nine numbers."""
    import pcorrect.planning.subsets as module

    seen: list[int] = []
    original = module.thinned_variance

    def spy(s: np.ndarray, big_k: np.ndarray, k: np.ndarray) -> np.ndarray:
        seen.append(len(np.ravel(s)))
        return original(s, big_k, k)

    monkeypatch.setattr(module, "thinned_variance", spy)
    s = np.arange(1_000_000) % 9
    subset_expectations(PromptCounts.from_arrays(s, 8), np.arange(1, 9))
    assert seen
    assert max(seen) <= 9


def test_dataset() -> None:
    data = subset_expectations(PromptCounts.from_arrays([1, 3], [4, 2 + 1]), np.array([1, 4]))
    assert list(data.to_dataset()["n_short"].values) == [0, 1]
    with pytest.raises(PcorrectError, match="between 1 and the 4"):
        subset_expectations(PromptCounts.from_arrays([1, 3], 4), np.array([5]))
    with pytest.raises(PcorrectError, match="no scored generation"):
        subset_expectations(PromptCounts.from_arrays([0], 0), np.array([1]))
