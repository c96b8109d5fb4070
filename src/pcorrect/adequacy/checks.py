"""What can be checked about one fit: shape of the population, runs, and what decided k."""

from __future__ import annotations

from dataclasses import dataclass

from pcorrect.adequacy.beta_shape import Adequacy, assess_beta
from pcorrect.adequacy.runs import RunCheck, check_runs
from pcorrect.adequacy.stopping import StoppingCheck, check_stopping
from pcorrect.errors import DataError
from pcorrect.generations import Generations
from pcorrect.observations import outcomes
from pcorrect.result import Fit

_ASSUME_BETA = ("beta_bernoulli", "beta_binomial")
#: Runs are compared where there are at most so many generations: a second's work.
MOST_GENERATIONS = 250_000


@dataclass(frozen=True)
class Checks:
    """Checks of one fit; None is "not applicable".

    Parameters
    ----------
    shape : Adequacy or None
        Of the Beta shape; None for a program of the user's own.
    runs : RunCheck or None
        Whether generations with the same number form runs that differ; None where single
        generations are not known, or too many.
    stopping : StoppingCheck
        Whether k depends on the results.
    model : str
        Of the fit.
    """

    shape: Adequacy | None
    runs: RunCheck | None
    stopping: StoppingCheck
    model: str

    @property
    def warnings(self) -> list[str]:
        """What speaks against an assumption that the fit makes."""
        found = []
        if (
            self.model in _ASSUME_BETA
            and self.shape is not None
            and self.shape.status == "rejected"
        ):
            found.append(
                f"model {self.model} assumes the Beta shape, which is rejected here: its mu may be "
                "off by more than its interval says; the default model does not assume it"
            )
        if self.runs is not None and self.runs.status == "differ":
            found.append(self.runs.verdict)
        if self.stopping.status == "depends":
            found.append(self.stopping.verdict)
        return found


def check_fit(fit: Fit, generations: Generations | None = None) -> Checks:
    """Check a fit against its data.

    Parameters
    ----------
    fit : Fit
    generations : Generations, optional
        The rows behind the counts.
    """
    matrix = None
    few = fit.counts.n_generations.sum() <= MOST_GENERATIONS
    if generations is not None and few and fit.counts.n_generations.max() > 1:
        try:
            found = outcomes(generations, fit.counts.llm, fit.counts.benchmark)
        except DataError:
            found = None  # a table of counts: no single generations
        if found is not None and len(found.correct) == len(fit.counts.prompt):
            matrix = found.correct
    runs = None if matrix is None or not matrix.size else check_runs(matrix, seed=fit.seed)
    stopping = check_stopping(fit.counts, outcomes=matrix, seed=fit.seed)
    return Checks(check_shape(fit), runs, stopping, fit.model)


def check_shape(fit: Fit) -> Adequacy | None:
    """How well a Beta describes the counts; None for a program of the user's own."""
    if fit.model.endswith(".py"):
        return None
    robust = fit.model == "dp_beta"
    return assess_beta(
        fit.counts,
        robust=fit.population if robust else None,
        alpha=fit.draws["alpha"] if robust else None,
        priors=fit.priors,
        grid=fit.grid,
        seed=fit.seed,
    )
