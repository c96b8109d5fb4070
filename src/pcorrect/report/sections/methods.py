"""How the numbers were made, and how to cite them."""

from __future__ import annotations

import importlib.metadata
import platform

from pcorrect.fitting import Fit
from pcorrect.plots import words
from pcorrect.report.markup import Markup, tag
from pcorrect.report.material import Material

_MODELS = {
    "dp_beta": (
        "the probabilities p_i that a generation for prompt i is correct come from a population "
        "that follows a Dirichlet process centred on a Beta distribution with mean m, standard "
        "deviation t and concentration alpha; mu and sigma are mean and standard deviation of the "
        "population itself"
    ),
    "beta_bernoulli": (
        "the probabilities p_i that a generation for prompt i is correct come from a Beta "
        "distribution with mean mu and standard deviation sigma"
    ),
}
_MODELS["beta_binomial"] = _MODELS["beta_bernoulli"]

PAPER = (
    "Zhang, Cai & Chen (2025). Beyond the Singular: The Essential Role of Multiple Generations in "
    "Effective Benchmark Evaluation and Analysis. arXiv:2502.08943"
)


def build(material: Material) -> Markup:
    """Methods paragraph, versions, and how to cite."""
    options, fit = material.options, material.fits[0]
    version = importlib.metadata.version("pcorrect")
    versions = ", ".join(
        f"{name} {importlib.metadata.version(name)}" for name in ("numpy", "scipy", "duckdb")
    )
    text = (
        f"Model {fit.model}: {_MODELS.get(fit.model, 'a PyMC program of the user')}. "
        f"{_priors(fit)} Posterior by the {fit.engine} engine ({_quality(material)}), seed "
        f"{options.seed}. Intervals are {words.level(options.ci_prob, options.ci_kind)}s. "
        "Moment estimates: mean of the prompts' shares correct, with the standard errors of Zhang, "
        "Cai & Chen (2025), section 2."
    )
    cite = (
        f"The pcorrect developers. pcorrect {version}: Bayesian statistics for benchmark results "
        "with several generations per prompt."
    )
    return tag(
        "div",
        [tag("p", part) for part in [text, *_further(material)]],
        tag(
            "p", f"Computed by pcorrect {version} ({versions}, Python {platform.python_version()})."
        ),
        tag("h3", "How to cite"),
        tag("ul", tag("li", cite), tag("li", PAPER, ".")),
    )


def _further(material: Material) -> list[str]:
    """How the parts beyond single fits were made, where there are any."""
    out = []
    if material.differences or material.rankings:
        out.append(
            "Differences and ranks of mu: Dirichlet weights over the prompts, shared by all llms "
            "(Bayesian bootstrap with a correction for few prompts), so that prompts are paired; "
            "pairs are told apart by simultaneous intervals."
        )
    if material.flags is not None:
        out.append(
            "Suspect keys: answers are clustered, and a latent-truth model weighs how often llms "
            "agree on an answer that is not the key; S = sum over clusters of share × log share."
        )
    out.append(
        "Checks: posterior predictive check of the Beta shape, calibrated by refitted replicates; "
        "permutation tests of exchangeable runs and of k against results."
    )
    return out


def _priors(fit: Fit) -> str:
    priors = fit.priors
    names = ("m", "t") if fit.model == "dp_beta" else ("mu", "sigma")

    def beta(pair: tuple[float, float]) -> str:
        return "Uniform(0, 1)" if tuple(pair) == (1, 1) else f"Beta({pair[0]:g}, {pair[1]:g})"

    text = (
        f"Priors: {names[0]} ~ {beta(priors.mu)}; {names[1]} / √({names[0]} (1 − {names[0]})) ~ "
        f"{beta(priors.spread)}"
    )
    if fit.model == "dp_beta":
        text += f"; alpha log-uniform on {priors.alpha[0]:g} to {priors.alpha[1]:g}"
    return f"{text}."


def _quality(material: Material) -> str:
    """The worst diagnostics of all fits."""
    worst: dict[str, float] = {}
    for fit in material.fits:
        for name, value in fit.diagnostics.items():
            pick = min if name == "ess" else max
            worst[name] = pick(worst.get(name, value), value)
    texts = {
        "quadrature_error": "quadrature error at most {:.0e} posterior sd",
        "r_hat": "largest R-hat {:.3f}",
        "ess": "smallest effective sample size {:.0f}",
        "divergences": "{:.0f} divergent transitions at most",
    }
    return ", ".join(texts[name].format(value) for name, value in worst.items() if name in texts)
