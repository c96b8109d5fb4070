"""From an engine's output to a `Fit`: one function per engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial

import numpy as np

from pcorrect.cells import Cells
from pcorrect.convergence import ess_bulk, r_hat
from pcorrect.data import PromptCounts
from pcorrect.engines.exact import LogDensity, QuadratureError, grid_posterior
from pcorrect.engines.grid import score_moments
from pcorrect.marginal import FloatArray, Marginal
from pcorrect.moment_estimates import Moments, moments
from pcorrect.populations.beta import Shape
from pcorrect.populations.population import Population
from pcorrect.priors import Priors
from pcorrect.prompts import DrawnPrompts, GridPrompts, PopulationPrompts
from pcorrect.result import PARAMETERS, Fit, Lazy, not_identified

# Quadrature errors in posterior sd that no Monte Carlo error falls below.
_TOLERABLE = 1e-3


def fit_gibbs(
    counts: PromptCounts, model: str, priors: Priors, seed: int, chains: int, draws: int
) -> Fit:
    """The Dirichlet process by the Gibbs sampler."""
    from pcorrect.engines import gibbs

    rng = np.random.default_rng([seed, 0])
    result = gibbs.sample(Cells.scored(counts), priors, rng, chains=chains, draws=draws)
    # alpha moves slowly and matters little: the chains are judged by what is reported of p
    names = [x for x in ("mu", "score", "sigma") if x not in not_identified(counts)]
    diagnostics = {
        "r_hat": max(result.r_hat[name] for name in names),
        "ess": min(result.ess[name] for name in names),
    }
    return _from_population(
        counts,
        (model, "gibbs", priors, seed),
        result.population,
        {"score": result.score, "alpha": result.alpha},
        diagnostics,
    )


def fit_family(
    counts: PromptCounts,
    model: str,
    engine: str,
    priors: Priors,
    seed: int,
    chains: int,
    draws: int,
) -> Fit:
    """The inflated Beta or the logit-normal population."""
    from pcorrect.engines.inflated import sample_inflated_beta
    from pcorrect.engines.two_parameter import sample_logit_normal

    rng = np.random.default_rng([seed, 0])
    sample = sample_inflated_beta if model == "inflated_beta" else sample_logit_normal
    result = sample(Cells.scored(counts), priors, rng, chains=chains, draws=draws)
    return _from_population(
        counts,
        (model, engine, priors, seed),
        result.population,
        {"score": result.score, **result.parameters},
        result.diagnostics,
    )


def _from_population(
    counts: PromptCounts,
    made_by: tuple[str, str, Priors, int],
    population: Population,
    drawn: Mapping[str, FloatArray],
    diagnostics: Mapping[str, float],
) -> Fit:
    """A fit that is known by draws of the population; `drawn` holds the score and further ones."""
    shape = drawn["score"].shape
    mu = population.mean().reshape(shape)
    variance = population.variance().reshape(shape)
    values = {
        "mu": mu,
        "score": drawn["score"],
        "sigma": np.sqrt(variance),
        # at 0 or 1 within rounding both are rounding errors, and their ratio anything
        "rho": np.clip(variance / np.maximum(mu * (1 - mu), np.finfo(float).eps), 0.0, 1.0),
        **{name: value for name, value in drawn.items() if name != "score"},
    }
    closed = moments(counts)
    cells = Cells.from_counts(counts.n_correct, counts.n_generations)
    return Fit(
        counts,
        *made_by,
        values,
        Lazy({name: partial(Marginal.from_draws, value) for name, value in values.items()}),
        PopulationPrompts(cells, population, made_by[3]),
        lambda: population,
        closed,
        diagnostics,
        (*_warnings(counts, closed), *_convergence_warnings(diagnostics)),
    )


def _convergence_warnings(diagnostics: Mapping[str, float]) -> list[str]:
    """What a Markov chain's diagnostics say against it."""
    found: list[str] = []
    if "r_hat" not in diagnostics:
        return found
    if not diagnostics["r_hat"] < 1.01:
        found.append(
            f"r_hat is {diagnostics['r_hat']:.3f}, above 1.01: the chains disagree; use more draws"
        )
    if diagnostics["ess"] < 400:
        found.append(
            f"the effective sample size is {diagnostics['ess']:.0f}, below 400: use more draws"
        )
    return found


def fit_exact(
    counts: PromptCounts, model: str, priors: Priors, seed: int, chains: int, draws: int
) -> Fit:
    """The Beta population by quadrature; draws are made when they are asked for."""
    cells, scored = Cells.from_counts(counts.n_correct, counts.n_generations), Cells.scored(counts)
    log_density = LogDensity(scored, priors)
    closed = moments(counts)
    warnings = _warnings(counts, closed)
    try:
        grid = grid_posterior(log_density, start=_start(closed))
    except QuadratureError as error:
        grid = error.posterior
        if grid.error > _TOLERABLE:
            raise
        warnings = (
            *warnings,
            f"the quadrature error is {grid.error:.0e} posterior sd, not 1e-05 as usual",
        )

    @cache
    def shape() -> Shape:
        return grid.draws(chains * draws, log_density, np.random.default_rng([seed, 0]))

    @cache
    def population() -> Population:
        return Population.beta(*shape().ab)

    def by_chain(value: Callable[[], FloatArray]) -> Callable[[], FloatArray]:
        return lambda: value().reshape(chains, draws)

    def score() -> FloatArray:
        return draw_score(shape(), scored, np.random.default_rng([seed, 1]))

    return Fit(
        counts,
        model,
        "exact",
        priors,
        seed,
        Lazy(
            {
                "mu": by_chain(lambda: shape().mu),
                "score": by_chain(score),
                "sigma": by_chain(lambda: shape().sigma),
                "rho": by_chain(lambda: shape().rho),
            }
        ),
        Lazy(
            {
                "mu": grid.mu,
                "score": lambda: grid.score(scored, np.random.default_rng([seed, 4])),
                "sigma": grid.sigma,
                "rho": grid.rho,
            }
        ),
        GridPrompts(cells, grid, population),
        population,
        closed,
        {"quadrature_error": grid.error},
        warnings,
        grid,
    )


def fit_nuts(
    counts: PromptCounts,
    model: str,
    program: str,
    priors: Priors,
    seed: int,
    chains: int,
    draws: int,
    progress: bool,
) -> Fit:
    """A PyMC program, built-in or the user's, by NUTS."""
    from pcorrect.engines import nuts

    path = nuts.program_path(program)
    result = nuts.sample(
        path, counts, priors, chains=chains, draws=draws, seed=seed, progress=progress
    )
    values = dict(result.draws)
    p = values.pop("p")
    values.setdefault("rho", values["sigma"] ** 2 / (values["mu"] * (1 - values["mu"])))
    values.setdefault("score", p[:, :, counts.n_generations > 0].mean(axis=2))
    scalars = {name: value for name, value in values.items() if value.ndim == 2}
    main = [scalars[name] for name in PARAMETERS]
    population = None
    if "r" in scalars and program == "beta_binomial":
        nu = np.minimum(1 / np.ravel(scalars["r"]) ** 2 - 1, 1e8)
        mu = np.ravel(scalars["mu"])
        population = Population.beta(mu * nu, (1 - mu) * nu)
    diagnostics = {
        "r_hat": max(r_hat(x) for x in main),
        "ess": min(ess_bulk(x) for x in main),
        "divergences": float(result.n_divergences),
    }
    closed = moments(counts)
    warnings = list(_warnings(counts, closed))
    if result.n_divergences:
        warnings.append(
            f"{result.n_divergences} divergent transitions: the sampler missed part of the "
            "posterior; use the exact engine, or a program with the p_i integrated out"
        )
    warnings += _convergence_warnings(diagnostics)
    return Fit(
        counts,
        model,
        "nuts",
        priors,
        seed,
        scalars,
        {name: Marginal.from_draws(scalars[name]) for name in PARAMETERS},
        DrawnPrompts(counts, p.reshape(-1, p.shape[2])),
        lambda: population,
        closed,
        diagnostics,
        tuple(warnings),
        extra={name: value for name, value in values.items() if value.ndim > 2},
    )


def draw_score(shape: Shape, cells: Cells, rng: np.random.Generator) -> FloatArray:
    """Draws of mean(p_i) under a Beta population, one per point of `shape`.

    Prompt by prompt up to a thousand prompts; beyond, from the Beta of the exact mean and variance.
    """
    if len(cells.of_prompt) > 1000:
        from pcorrect.engines.two_parameter import beta_of_moments

        return beta_of_moments(*score_moments(cells, shape), rng)
    s, k = (x[cells.of_prompt] for x in (cells.n_correct, cells.n_generations))
    return np.asarray(Population.beta(*shape.ab).draw_p(s, k, rng).mean(axis=1))


def _start(closed: Moments) -> tuple[float, float]:
    """A point (logit mu, logit r) near the mode, from the moments."""
    mu = min(max(closed.mu or 0.5, 0.01), 0.99)
    r = min(max((closed.sigma or 0.25) / np.sqrt(mu * (1 - mu)), 0.05), 0.95)
    return float(np.log(mu / (1 - mu))), float(np.log(r / (1 - r)))


def _warnings(counts: PromptCounts, closed: Moments) -> tuple[str, ...]:
    """What a reader of the result has to know about the data."""
    found: list[str] = []
    k = counts.n_generations
    if not_identified(counts):
        why = "k = 1 everywhere; their posterior is the prior"
        if np.sum(k > 0) <= 1:
            why = "one prompt says next to nothing about the spread between prompts"
        found.append(f"sigma and rho are not identified: {why}")
        if np.all(k <= 1) and np.sum(k > 0) > 1:
            found.append(
                "score is not identified beyond mu at k = 1: its interval rests on the prior"
            )
    if empty := int(np.sum(k == 0)):
        noun = "prompt has" if empty == 1 else "prompts have"
        found.append(
            f"{empty} {noun} no scored generation: not in the likelihood; p_i is the population's"
        )
    return tuple(found)
