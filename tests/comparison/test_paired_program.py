"""models/paired.py, the PyMC program of the comparison, against `paired_difference`."""

import numpy as np
import pytest

from pcorrect.comparison import paired_difference
from pcorrect.engines.nuts import load_program, models_folder
from pcorrect.errors import DataError
from pcorrect.readers import counts as read_counts

pytestmark = pytest.mark.filterwarnings("ignore")


def nuts(counts, draws):
    import nutpie

    model = load_program(models_folder() / "paired.py").build(counts)
    trace = nutpie.sample(
        nutpie.compile_pymc_model(model),
        chains=2,
        draws=draws,
        tune=500,
        seed=1,
        cores=1,
        progress_bar=False,
    )
    assert int(trace.sample_stats.diverging.sum()) <= draws // 50
    names = ("difference", "score_difference", "correlation")
    return {name: trace.posterior[name].values.ravel() for name in names}


def agree(result, drawn):
    """Means within half a posterior sd, sds within a third: two models, one logit-normal."""
    for value, name in (
        (result.mu, "difference"),
        (result.score, "score_difference"),
        (result.correlation, "correlation"),
    ):
        assert abs(value.mean - drawn[name].mean()) < 0.5 * drawn[name].std()
        assert value.sd == pytest.approx(drawn[name].std(), rel=0.33)


def test_small(counts_of):
    rng = np.random.default_rng(0)
    z = rng.multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], 100).T
    p = 1 / (1 + np.exp(-np.array([[0.5], [0.2]]) - 1.5 * z))
    counts = counts_of(rng.binomial(8, p), 8)
    agree(paired_difference(counts, "a", "b", model="beta_bernoulli"), nuts(counts, 400))


@pytest.mark.slow
@pytest.mark.parametrize(
    "names",
    [
        ("gpt-5.1-2025-11-13_high", "gpt-5.2-2025-12-11_medium"),
        ("claude-sonnet-4-20250514_59K", "DeepSeek-R1-0528"),
    ],
)
def test_gpqa(shared, names):
    (counts,) = read_counts(str(shared / "data" / "epoch_gpqa_diamond.csv.gz"), llm=list(names))
    agree(paired_difference(counts, *names), nuts(counts, 1500))


def test_refusals(counts_of):
    build = load_program(models_folder() / "paired.py").build
    with pytest.raises(DataError, match="two llms"):
        build(counts_of([[1]], 4))
    with pytest.raises(DataError, match="share no prompt"):
        build(counts_of([[1, 0], [0, 1]], [[4, 0], [0, 4]]))
