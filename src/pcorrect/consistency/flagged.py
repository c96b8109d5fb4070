"""The ranked prompts, as `flag_prompts` returns them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from pcorrect.consistency.grouping import AnswerGroups

if TYPE_CHECKING:
    import pandas as pd

FlagRule = Literal["latent", "paper"]


@dataclass(frozen=True)
class FlaggedPrompt:
    """What is known about the key of one prompt.

    Parameters
    ----------
    rank : int
        1 is the most suspect.
    benchmark, prompt, group : str
    p_mislabelled : float or None
        Probability that the prompt is faulty: its key is wrong, or it is unclear. None by the
        paper's rule, which gives none, and where there are no answers, or neither
        scores nor keys.
    p_wrong_key : float or None
        Probability that the key is wrong and another answer is right.
    p_correct : float or None
        Mean share of correct generations over llms; None without a score.
    consistency : float or None
        S of the answers of all llms together, each llm weighing the same; None with fewer than two
        answers.
    key, rival : str or None
        The key, where it is known, and the most likely other truth: of the answers given that are
        not the key.
    p_rival : float or None
        Probability that the rival is the right answer.
    rival_share : float
        Share of the answers that are the rival, each llm weighing the same.
    supporters : tuple of str
        The llms whose most frequent answer is the rival.
    n_llms, n_answers, no_answer : int
        Llms that answered, generations with an answer, and generations without one.
    flagged : bool
        By the rule asked for.
    """

    rank: int
    benchmark: str
    prompt: str
    group: str
    p_mislabelled: float | None
    p_wrong_key: float | None
    p_correct: float | None
    consistency: float | None
    key: str | None
    rival: str | None
    p_rival: float | None
    rival_share: float
    supporters: tuple[str, ...]
    n_llms: int
    n_answers: int
    no_answer: int
    flagged: bool

    @property
    def support(self) -> int:
        """Number of llms whose most frequent answer is the rival."""
        return len(self.supporters)

    def as_dict(self) -> dict[str, Any]:
        """The fields and `support`, as in the JSON output."""
        return {**vars(self), "support": self.support, "supporters": list(self.supporters)}


@dataclass(frozen=True)
class Flags:
    """Prompts ranked by suspicion.

    Parameters
    ----------
    prompts : tuple of FlaggedPrompt
        All prompts, most suspect first.
    rule : {"latent", "paper"}
    threshold : float
        From which probability on a prompt is flagged.
    groups : AnswerGroups
    order : ndarray of int64, shape (n,)
        Position in `groups` of each entry of `prompts`.
    rival_row : ndarray of int64, shape (n,)
        Row in `groups` of each prompt's rival, or -1; in the order of `groups`.
    rate : mapping of str to float
        Posterior mean of the share of faulty prompts in each group (empty by the paper's rule).
    weight : mapping of str to float
        How much each llm's answers tell, 1 on average (empty by the paper's rule).
    """

    prompts: tuple[FlaggedPrompt, ...]
    rule: FlagRule
    threshold: float
    groups: AnswerGroups
    order: NDArray[np.int64]
    rival_row: NDArray[np.int64]
    rate: Mapping[str, float]
    weight: Mapping[str, float]

    def __iter__(self) -> Iterator[FlaggedPrompt]:
        return iter(self.prompts)

    def __len__(self) -> int:
        return len(self.prompts)

    @property
    def judged(self) -> bool:
        """Whether prompts could be judged: there are answers, and scores or keys."""
        return self.groups.unjudged is None

    @property
    def notes(self) -> tuple[str, ...]:
        """What was decided about the input."""
        return self.groups.notes

    def to_frame(self) -> pd.DataFrame:
        """One row per prompt, most suspect first."""
        import pandas as pd

        return pd.DataFrame([prompt.as_dict() for prompt in self.prompts])
