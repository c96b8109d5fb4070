"""NUTS against the exact engine on the same data, and a user's own program."""

from pathlib import Path

import numpy as np
import pytest

from pcorrect import PcorrectError, PromptCounts
from pcorrect.convergence import ess_bulk
from pcorrect.engines import nuts
from pcorrect.fitting import Fit, run_fit
from pcorrect.priors import Priors

# numba, which compiles PyMC's densities, warns of its own cache and of features to come
pytestmark = pytest.mark.filterwarnings("ignore")


def assert_agree(exact: Fit, sampled: Fit) -> None:
    """Means of mu, sigma and every p_i differ by less than 4 Monte Carlo standard errors.

    With two hundred prompts 4 standard errors are passed by chance once in 80 runs; 5 once in 9000.
    """
    for name in ("mu", "sigma", "rho", "score"):
        draws = sampled.draws[name]
        error = draws.std() / np.sqrt(ess_bulk(draws))
        assert abs(draws.mean() - exact.marginals[name].mean) < 4 * error + 1e-9, name
    chains = sampled.draws["mu"].shape
    p = sampled.prompts.draws(np.random.default_rng(0)).reshape(*chains, -1)
    expected = exact.prompts.table(0.95, "eti").mean
    for i in range(p.shape[2]):
        error = p[:, :, i].std() / np.sqrt(ess_bulk(p[:, :, i]))
        assert abs(p[:, :, i].mean() - expected[i]) < 5 * error + 1e-6, i


def test_collapsed_program_agrees_with_the_exact_engine(spiky):
    exact = run_fit(spiky, model="beta_bernoulli")
    sampled = run_fit(spiky, model="beta_bernoulli", engine="nuts", seed=5)
    assert sampled.diagnostics["divergences"] == 0
    assert sampled.diagnostics["r_hat"] < 1.01
    assert_agree(exact, sampled)


def test_textbook_program_by_path():
    # clear of the edges, where the textbook form can be sampled
    counts = PromptCounts.from_arrays([3, 5, 6, 4, 7, 2, 5, 4, 6, 3], 10)
    exact = run_fit(counts, model="beta_bernoulli")
    path = nuts.program_path("beta_bernoulli")
    sampled = run_fit(counts, model=str(path), seed=1, draws=2000)
    assert sampled.engine == "nuts"
    for name in ("mu", "sigma"):
        draws = sampled.draws[name]
        error = draws.std() / np.sqrt(ess_bulk(draws))
        assert abs(draws.mean() - exact.marginals[name].mean) < 5 * error


CASES = {
    "all right": (np.full(30, 8), 8),
    "one prompt": ([3], 5),
    "one generation": ([1] * 60 + [0] * 40, 1),
    "unequal": ([0, 1, 3, 8, 16, 2, 0], [8, 1, 4, 8, 16, 8, 0]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_agreement_on_awkward_data(name):
    counts = PromptCounts.from_arrays(*CASES[name])
    exact = run_fit(counts, model="beta_bernoulli")
    sampled = run_fit(counts, model="beta_bernoulli", engine="nuts", seed=2, draws=2000)
    assert_agree(exact, sampled)


def test_programs_start_at_a_finite_density_and_impute_nothing():
    for name in ("beta_bernoulli", "beta_binomial"):
        module = nuts.load_program(nuts.program_path(name))
        for s, k in CASES.values():
            model = nuts.build_program(module, PromptCounts.from_arrays(s, k), Priors())
            logp = model.compile_logp()(model.initial_point())
            assert np.isfinite(logp), (name, s)
            assert not [v.name for v in model.free_RVs if "unobserved" in v.name]


def test_priors_reach_the_program():
    counts = PromptCounts.from_arrays([3, 5], 8)
    prior = Priors(mu=(100, 100))
    exact = run_fit(counts, model="beta_bernoulli", priors=prior)
    sampled = run_fit(counts, model="beta_bernoulli", engine="nuts", priors=prior)
    error = sampled.draws["mu"].std() / np.sqrt(ess_bulk(sampled.draws["mu"]))
    assert abs(sampled.draws["mu"].mean() - exact.marginals["mu"].mean) < 5 * error


def own(tmp_path: Path, body: str) -> str:
    path = tmp_path / "own.py"
    path.write_text(f"import pymc as pm\n\n\ndef build(counts):\n{body}\n    return model\n")
    return str(path)


def test_a_users_own_program(tmp_path):
    body = """
    with pm.Model(coords={"prompt": counts.prompt}) as model:
        mu = pm.Uniform("mu")
        sigma = pm.Deterministic("sigma", 0.5 * pm.math.sqrt(mu * (1 - mu)))
        p = pm.Beta("p", 3 * mu, 3 * (1 - mu), dims="prompt")
        pm.Binomial("s", n=counts.n_generations, p=p, observed=counts.n_correct)"""
    found = run_fit(PromptCounts.from_arrays([3, 5, 4], 8), model=own(tmp_path, body), draws=200)
    assert set(found.marginals) == {"mu", "score", "sigma", "rho"}
    np.testing.assert_allclose(found.draws["rho"], 0.25)


@pytest.mark.parametrize(
    ("body", "match"),
    [
        ("    model = pm.Model()\n    pm.Uniform('mu', model=model)", "no sigma"),
        ("    model = 1 / 0", r"own\.py.*division by zero"),
    ],
)
def test_mistakes_in_a_program_are_named(tmp_path, body, match):
    body = (
        body
        if "Uniform" not in body
        else ("    with pm.Model() as model:\n        pm.Uniform('mu')")
    )
    with pytest.raises(PcorrectError, match=match):
        run_fit(PromptCounts.from_arrays([3], 8), model=own(tmp_path, body))


def test_unknown_models_and_engines_are_refused():
    counts = PromptCounts.from_arrays([3], 8)
    with pytest.raises(PcorrectError, match="no model 'x'"):
        run_fit(counts, model="x")
    with pytest.raises(PcorrectError, match=r"no model file 'x\.py'"):
        run_fit(counts, model="x.py")
    with pytest.raises(PcorrectError, match="no engine 'fast'"):
        run_fit(counts, model="beta_bernoulli", engine="fast")


def assert_same_posterior(counts: PromptCounts, model: str, *, draws: int) -> None:
    """Fast engine and NUTS agree within 4 Monte Carlo standard errors of their difference."""
    fast = run_fit(counts, model=model, seed=1, draws=draws)
    slow = run_fit(counts, model=model, engine="nuts", seed=1, draws=draws)
    for name in ("mu", "sigma", "score"):
        x, y = fast.draws[name], slow.draws[name]
        error = np.sqrt(x.var() / ess_bulk(x) + y.var() / ess_bulk(y))
        assert abs(x.mean() - y.mean()) < 4 * error, name
        assert x.std() == pytest.approx(y.std(), rel=0.15), name


def test_dirichlet_process_agrees_with_its_program():
    counts = PromptCounts.from_arrays(
        [0, 1, 3, 8, 16, 2, 0, 5, 5, 8], [8, 1, 4, 8, 16, 8, 0, 8, 8, 8]
    )
    assert_same_posterior(counts, "dp_beta", draws=1000)


@pytest.mark.slow
def test_dirichlet_process_agrees_with_its_program_on_spiky_counts(spiky):
    assert_same_posterior(spiky, "dp_beta", draws=2000)
