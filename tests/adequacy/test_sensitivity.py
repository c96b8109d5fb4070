"""Power scaling against refits, and its verdicts."""

import numpy as np
import pytest

from pcorrect import PcorrectError, Priors, PromptCounts
from pcorrect.adequacy.sensitivity import power_scaling, prior_sensitivity
from pcorrect.fitting import run_fit
from pcorrect.populations.population import Population

pytestmark = pytest.mark.filterwarnings("ignore")


def test_weak_priors_with_much_data(spiky):
    for model in ("beta_bernoulli", "dp_beta"):
        found = prior_sensitivity(run_fit(spiky, model=model))
        assert set(found.diagnosis.values()) == {"none"}
        assert found.likelihood["mu"] > 0.05
        assert "hardly matter" in found.verdict


def test_strong_priors_against_the_data():
    counts = PromptCounts.from_arrays([3, 5, 8, 0, 7], 8)
    found = prior_sensitivity(
        run_fit(counts, model="beta_bernoulli", priors=Priors(mu=(40.0, 4.0)))
    )
    assert found.diagnosis["mu"] == "prior and data may conflict"
    assert "refit" in found.verdict


def test_what_is_not_identified_is_left_out():
    counts = PromptCounts.from_arrays([1, 0, 1, 1] * 10, 1)
    found = prior_sensitivity(run_fit(counts, model="beta_bernoulli"))
    assert set(found.prior) == {"mu", "score"}


def test_weights_are_those_of_other_pseudo_counts():
    """exp((c - 1) log prior) turns the posterior under Beta(1, 1) into that under Beta(c, c)."""
    from pcorrect.adequacy.sensitivity import log_prior

    counts = PromptCounts.from_arrays([3, 5, 8, 0, 7], 8)
    fit = run_fit(counts, model="beta_bernoulli", draws=20_000)
    for c in (0.7, 1.5):
        weight = np.exp((c - 1) * log_prior(fit, fit.population))
        weight /= weight.sum()
        other = run_fit(counts, model="beta_bernoulli", priors=Priors(mu=(c, c), spread=(c, c)))
        for name in ("mu", "sigma"):
            value = np.ravel(fit.draws[name])
            mean = weight @ value
            error = np.sqrt(weight**2 @ (value - mean) ** 2)
            assert mean == pytest.approx(other.marginals[name].mean, abs=5 * error + 1e-5)
        # and the priors do differ
        assert abs(other.marginals["sigma"].mean - value.mean()) > 5 * error


def test_scaling_by_itself():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((4, 1000))
    # normal priors around 3, as strong as the likelihood and a hundred times weaker
    for strength, expected in ((0.5, "prior and data may conflict"), (0.005, "none")):
        prior = -strength * (x - 3) ** 2 / 2
        found = power_scaling({"x": x}, prior, -(x**2) / 2 - prior)
        assert found.diagnosis["x"] == expected
    # a likelihood that says nothing
    found = power_scaling({"x": x}, -((x - 3) ** 2) / 2, 1e-3 * x)
    assert found.diagnosis["x"] == "prior decides"
    assert "state them" in found.verdict


def test_own_programs_have_no_known_prior(spiky):
    fit = run_fit(spiky, model="beta_bernoulli")
    from dataclasses import replace

    with pytest.raises(PcorrectError, match="log prior is not known"):
        prior_sensitivity(replace(fit, model="mine.py"))
    with pytest.raises(PcorrectError, match="log prior is not known"):
        prior_sensitivity(replace(fit, make_population=lambda: None))


def test_prior_of_every_family_is_that_of_its_engine(spiky):
    from dataclasses import replace

    from pcorrect.adequacy.sensitivity import log_prior
    from pcorrect.cells import Cells
    from pcorrect.engines.inflated import sample_inflated_beta
    from pcorrect.engines.two_parameter import sample_logit_normal

    cells = Cells.from_counts(spiky.n_correct, spiky.n_generations)
    fit = run_fit(spiky, model="beta_bernoulli")
    priors = Priors(mu=(2.0, 3.0), spread=(1.5, 2.0))
    for model, sampler in (
        ("inflated_beta", sample_inflated_beta),
        ("logit_normal", sample_logit_normal),
    ):
        result = sampler(cells, priors, np.random.default_rng(1))
        this = replace(fit, model=model, priors=priors, draws=result.parameters)
        difference = log_prior(this, result.population) - result.log_prior.ravel()
        assert np.ptp(difference) < 1e-6


def test_prior_of_the_beta():
    from pcorrect.adequacy.sensitivity import _log_prior_of_beta

    mu, r = np.array([0.3, 0.6]), np.array([0.2, 0.9])
    nu = 1 / r**2 - 1
    value = _log_prior_of_beta(Population.beta(mu * nu, (1 - mu) * nu), Priors())
    expected = np.log(mu * (1 - mu) * r * (1 - r))
    np.testing.assert_allclose(value, expected)
