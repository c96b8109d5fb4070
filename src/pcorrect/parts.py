"""What every reader hands on: a piece of the generations table, as a query over the engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pcorrect.errors import DataError

# A row stands for `n` generations, of which `scored` have a score and `correct` are right: one
# generation in long tables and logs, all generations of a prompt in tables of counts.
COLUMNS = {
    "benchmark": "VARCHAR",
    "llm": "VARCHAR",
    "prompt": "VARCHAR",
    "group": "VARCHAR",
    "generation": "BIGINT",
    "n": "BIGINT",
    "scored": "BIGINT",
    "correct": "BIGINT",
    "reason": "VARCHAR",
    "answer": "VARCHAR",
    "target": "VARCHAR",
    "row": "BIGINT",
}
# Why a generation is left out. The first group can be counted as wrong, the second never: such a
# row is not a failed generation.
NO_SCORE = "no score"
ERROR = "error"
UNFINISHED = "not completed"
NO_COUNT = "no count"
REPEAT = "exact repeat"
NOT_WRONG = (NO_COUNT, REPEAT)
DEFAULT_BENCHMARK = "benchmark"

Errors = Literal["missing", "wrong"]


@dataclass(frozen=True)
class Source:
    """One input.

    Parameters
    ----------
    number : int
        Its place among the inputs.
    name : str
        Its name in messages.
    llm : str
        The llm it stands for if it names none.
    """

    number: int
    name: str
    llm: str


@dataclass(frozen=True)
class Part:
    """Rows of one source.

    Parameters
    ----------
    source : Source
    query : str
        SELECT with the columns of `COLUMNS`; NULL llm or benchmark where the source has none.
    has_llm, has_benchmark : bool
        Whether the source itself names the llm and the benchmark.
    notes : tuple of str
    names : str
        SELECT of all llms and benchmarks, where `query` holds only those asked for.
    protected : bool
        Whether texts went through `duck.protect`.
    """

    source: Source
    query: str
    has_llm: bool
    has_benchmark: bool
    notes: tuple[str, ...] = ()
    names: str = ""
    protected: bool = False


@dataclass(frozen=True)
class Selection:
    """What to keep and how to count it.

    Parameters
    ----------
    llm, benchmark : tuple of str
        Keep these only; a single name also names sources that carry none.
    errors : str
        "missing" leaves generations without a score out, "wrong" counts them as wrong.
    """

    llm: tuple[str, ...] = ()
    benchmark: tuple[str, ...] = ()
    errors: Errors = "missing"

    def __post_init__(self) -> None:
        if self.errors not in ("missing", "wrong"):
            raise DataError(f"errors must be 'missing' or 'wrong', not {self.errors!r}")
