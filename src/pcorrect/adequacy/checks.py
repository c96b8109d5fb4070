"""What can be checked about one fit: shape of the population, runs, and what decided k."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pcorrect.adequacy.beta_shape import Adequacy, assess_beta
from pcorrect.adequacy.runs import RunCheck, check_runs, not_compared
from pcorrect.adequacy.stopping import StoppingCheck, check_stopping
from pcorrect.errors import DataError
from pcorrect.generations import Generations
from pcorrect.observations import outcomes_of_runs
from pcorrect.result import Fit

_ASSUME_BETA = ("beta_bernoulli", "beta_binomial")
#: Runs are compared where there are at most so many generations: a second's work.
MOST_GENERATIONS = 250_000
_NO_SHAPE = "The Beta shape is not checked: which generations there are depends on the results."


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
    matrix, numbers = None, None
    few = fit.counts.n_generations.sum() <= MOST_GENERATIONS
    if generations is not None and few and fit.counts.n_generations.max() > 1:
        try:
            found, numbers = outcomes_of_runs(generations, fit.counts.llm, fit.counts.benchmark)
            if len(found.correct) == len(fit.counts.prompt) and found.correct.size:
                matrix = found.correct
        except DataError:
            pass  # a table of counts: no single generations
    stopping = check_stopping(fit.counts, outcomes=matrix, seed=fit.seed)
    runs = None
    if matrix is not None and numbers is None:
        runs = not_compared(matrix, "prompts do not share the numbers of their generations")
    elif matrix is not None and stopping.status == "depends":
        runs = not_compared(matrix, "which generations there are depends on the results")
    elif matrix is not None:
        runs = check_runs(matrix, numbers=numbers, seed=fit.seed)
    shape = check_shape(fit)
    if shape is not None and stopping.status == "depends":
        # its replicates have the same k whatever their results
        shape = replace(shape, status="not checked", verdict=_NO_SHAPE)
        shape = replace(shape, p_value=None, p_histogram=None, p_shift=None)
    return Checks(shape, runs, stopping, fit.model)


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
