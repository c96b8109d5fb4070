"""The latent-truth model against simulated truth, its own PyMC program and published label errors.

How it is known to be right: the gradient equals finite differences; on answers whose faulty prompts
are known the probabilities separate them, are calibrated and find the groups with many; the PyMC
program gives the same number at the same parameters; and a deliberately broken likelihood (keys of
faulty prompts taken for those of clear ones) fails the same checks.
"""

import dataclasses
import importlib.util
from pathlib import Path

import numpy as np
import pytest

from pcorrect.consistency import latent_truth
from pcorrect.consistency.choice import Choice, ChoicePrior
from pcorrect.consistency.latent_truth import Prior, fit
from pcorrect.consistency.votes import Votes
from pcorrect.errors import DataError

MODELS = Path(__file__).resolve().parents[2] / "models"


def area(score, bad):
    """Probability that a faulty prompt scores higher than another one."""
    order = np.argsort(np.argsort(score))
    return (order[bad].mean() - (bad.sum() - 1) / 2) / (~bad).sum()


def as_free(votes):
    return dataclasses.replace(votes, options=np.zeros_like(votes.options))


@pytest.mark.parametrize("free", [False, True])
def test_gradient(make, free):
    votes, _ = make([0.1, 0.3], per_group=20, llms=4)
    choice = Choice(as_free(votes) if free else votes, ChoicePrior())
    rng = np.random.default_rng(0)
    at = choice.start() + 0.1 * rng.normal(size=len(choice.start()))
    weight = np.where(choice.seen, rng.random(len(votes.prompt)), 0.0)
    unseen = np.where(choice.free | (choice.left > 0), rng.random(choice.n), 0.0)
    _, gradient = choice._objective(at, weight, unseen)
    step = 1e-6
    numeric = [
        (
            choice._objective(at + e, weight, unseen)[0]
            - choice._objective(at - e, weight, unseen)[0]
        )
        / (2 * step)
        for e in step * np.eye(len(at))
    ]
    np.testing.assert_allclose(gradient, numeric, rtol=1e-5, atol=1e-5)


def checked(found, bad, rates):
    """The checks of the simulation: separation, calibration, groups."""
    p = found.faulty
    high = p > 0.6
    return (
        area(p, bad) > 0.9
        and bad[high].sum() > 0.5 * bad.sum()
        and bad[high].mean() > 0.6
        and np.argmax(found.rate) == np.argmax(rates)
    )


def test_finds_wrong_keys_where_llms_err_together(make):
    rates = [0.01, 0.02, 0.05, 0.02, 0.4, 0.01]
    votes, bad = make(rates, per_group=100)
    found = fit(votes)
    assert checked(found, bad, rates)
    assert found.faulty == pytest.approx(found.wrong_key + found.unclear)
    assert np.all((found.faulty >= 0) & (found.faulty <= 1))
    by_prompt = np.bincount(votes.prompt, found.truth)
    assert np.all(by_prompt <= found.wrong_key + 1e-9)
    assert not found.truth[votes.key].any()


def test_the_checks_fail_a_broken_likelihood(make, monkeypatch):
    rates = [0.01, 0.02, 0.05, 0.02, 0.4, 0.01]
    votes, bad = make(rates, per_group=100)
    right = latent_truth._wrong_key

    def broken(choice, position, prior):
        _, truth, unseen = right(choice, position, prior)
        return choice.key_probability(position), truth, unseen

    monkeypatch.setattr(latent_truth, "_wrong_key", broken)
    assert not checked(fit(votes), bad, rates)


def test_finds_free_answers_too(make):
    votes, bad = make([0.05, 0.3], per_group=150, options=12)
    found = fit(as_free(votes))
    assert area(found.faulty, bad) > 0.9


def test_weak_llms_flag_nothing(make):
    votes, bad = make([0.0], per_group=150, options=30, ability=-3.0)
    found = fit(as_free(votes))
    assert not bad.any()
    assert np.mean(found.faulty > 0.5) < 0.02


def test_order_of_llms_and_labels_of_groups_do_not_matter(make):
    votes, _ = make([0.02, 0.3], per_group=40)
    other = dataclasses.replace(votes, share=votes.share[:, ::-1], group=1 - votes.group)
    np.testing.assert_allclose(fit(votes).faulty, fit(other).faulty, atol=2e-3)


def test_one_llm_and_one_prompt():
    votes = Votes(
        np.array([0, 0]),
        np.array([True, False]),
        np.array([[0.0], [1.0]]),
        np.zeros(1, int),
        np.zeros(1, int),
    )
    found = fit(votes)
    assert 0 < found.faulty[0] < 0.9
    nobody = dataclasses.replace(votes, share=np.zeros((2, 1)))
    assert np.isfinite(fit(nobody).faulty).all()


def test_votes_need_one_key_each():
    with pytest.raises(DataError, match="one key row"):
        Votes(
            np.zeros(2, int), np.zeros(2, bool), np.ones((2, 1)), np.zeros(1, int), np.ones(1, int)
        )


def program():
    spec = importlib.util.spec_from_file_location("program", MODELS / "latent_truth.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.filterwarnings("ignore")
def test_program_gives_the_same_number(make, free):
    votes, _ = make([0.05, 0.3], per_group=25, llms=5)
    votes = as_free(votes) if free else votes
    choice, prior = Choice(votes, ChoicePrior()), Prior()
    rng = np.random.default_rng(3)
    at = choice.start() + 0.3 * rng.normal(size=len(choice.start()))
    a, alpha, beta, log_omega = choice.parameters(at)
    rate = np.array([0.03, 0.4])
    right = choice.key_probability(at)
    wrong, _, _ = latent_truth._wrong_key(choice, at, prior)
    bad = 0.5 * wrong + 0.5 * choice.key_probability(at, prior.flat)
    e = rate[votes.group]
    expected = e * bad / (e * bad + (1 - e) * right)
    model = program().build(votes, prior)
    g, j = choice.groups, choice.llms
    level = np.log(prior.rate)
    values = {
        "a": a,
        "log_alpha": at[1],
        "alpha_group": at[2 : 2 + g] / prior.choice.alpha_group_sd,
        "log_omega": at[2 + g + j],
        "omega_group": at[3 + g + j :] / prior.choice.omega_group_sd,
        "beta": beta,
        "level": level,
        "rate_group": (np.log(rate) - level) / prior.group_sd,
    }
    function = model.compile_fn(model["faulty"], inputs=model.free_RVs, point_fn=False)
    found = function(*(values[rv.name] for rv in model.free_RVs))
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert alpha.shape == log_omega.shape == (g,)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_engine_agrees_with_sampling(make):
    import pymc as pm

    votes, _ = make([0.02, 0.05, 0.4])
    with program().build(votes):
        draws = pm.sample(500, tune=500, chains=2, cores=1, progressbar=False, random_seed=1)
    mean = draws.posterior["faulty"].mean(("chain", "draw")).values
    found = fit(votes).faulty
    assert np.corrcoef(mean, found)[0, 1] > 0.99
    assert np.abs(mean - found).max() < 0.12
