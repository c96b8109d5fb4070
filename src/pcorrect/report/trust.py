"""What can be checked about one llm on one benchmark: shape, runs, and what decided k."""

from __future__ import annotations

from dataclasses import dataclass

from pcorrect.adequacy.beta_shape import Adequacy, assess_beta
from pcorrect.adequacy.runs import RunCheck, check_runs
from pcorrect.adequacy.stopping import StoppingCheck, check_stopping
from pcorrect.errors import PcorrectError
from pcorrect.fitting import Fit
from pcorrect.generations import Generations


@dataclass(frozen=True)
class Trust:
    """Checks of one fit; None is "not applicable".

    Parameters
    ----------
    shape : Adequacy or None
        Of the Beta shape; None for a program of the user's own.
    runs : RunCheck or None
        Whether generations with the same number form runs that differ; None without their numbers.
    stopping : StoppingCheck
        Whether k depends on the results.
    """

    shape: Adequacy | None
    runs: RunCheck | None
    stopping: StoppingCheck


def trust(fit: Fit, generations: Generations | None) -> Trust:
    """Check a fit against its data.

    Parameters
    ----------
    fit : Fit
    generations : Generations or None
        The rows behind the counts.
    """
    matrix = None
    if generations is not None:
        from pcorrect.readers import outcomes

        try:
            found = outcomes(generations, fit.counts.llm, fit.counts.benchmark)
        except PcorrectError:
            found = None  # counts per prompt: no single generations
        if found is not None and len(found.correct) == len(fit.counts.prompt):
            matrix = found.correct
    runs = None if matrix is None or not matrix.size else check_runs(matrix, seed=fit.seed)
    stopping = check_stopping(fit.counts, outcomes=matrix, seed=fit.seed)
    return Trust(_shape(fit), runs, stopping)


def _shape(fit: Fit) -> Adequacy | None:
    """As `pcorrect fit` prints it."""
    if fit.model.endswith(".py"):
        return None
    robust = fit.model == "dp_beta"
    return assess_beta(
        fit.counts,
        robust=fit.population if robust else None,
        alpha=fit.draws["alpha"] if robust else None,
        priors=fit.priors,
        grid=fit.grid if fit.model.startswith("beta_") else None,
        seed=fit.seed,
    )
