"""The result of averaging over several benchmarks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pcorrect.comparison.estimates import Estimate
from pcorrect.marginal import CiKind


@dataclass(frozen=True)
class SuiteRow:
    """One average: a benchmark, the macro average, or the micro average.

    Parameters
    ----------
    name : str
    weight : float or None
        Share of a benchmark in the macro average.
    n_prompts : int
    estimate, se : float, float or None
        Moment estimate and its standard error for new prompts; None with one prompt (or group).
    mu : Estimate
        Posterior.
    p_above_zero : float or None
        Of a difference: P(a better).
    """

    name: str
    weight: float | None
    n_prompts: int
    estimate: float
    se: float | None
    mu: Estimate
    p_above_zero: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain types; `p_better` only where the row is a difference."""
        row: dict[str, Any] = {
            "name": self.name,
            "weight": self.weight,
            "n_prompts": self.n_prompts,
            "estimate": self.estimate,
            "se": self.se,
            "mu": self.mu.to_dict(),
        }
        if self.p_above_zero is not None:
            row["p_better"] = self.p_above_zero
        return row


@dataclass(frozen=True)
class Suite:
    """A suite of benchmarks for one llm, or the difference of two llms on it.

    Parameters
    ----------
    llm : str
        The llm, or "a - b".
    parts : tuple of SuiteRow
    macro : SuiteRow
        Weighted mean of the benchmarks' means: each counts by its weight, whatever its size. Its
        error is that of this average.
    micro : SuiteRow
        Mean over all prompts together, with the error of that one.
    notes : tuple of str
    """

    llm: str
    parts: tuple[SuiteRow, ...]
    macro: SuiteRow
    micro: SuiteRow
    ci_prob: float
    ci_kind: CiKind
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain types for JSON."""
        return {
            "llm": self.llm,
            "parts": [part.to_dict() for part in self.parts],
            "macro": self.macro.to_dict(),
            "micro": self.micro.to_dict(),
            "ci_prob": self.ci_prob,
            "ci_kind": self.ci_kind,
            "notes": list(self.notes),
        }

    def lines(self) -> list[str]:
        """A text table."""
        rows = [*self.parts, self.macro, self.micro]
        width = max(len(row.name) for row in rows)
        level = f"{100 * self.ci_prob:g} % interval ({self.ci_kind})"
        lines = [
            f"{self.llm}: suite",
            f"  {'':<{width}}  prompts  weight  estimate      SE  {level}",
        ]
        for row in rows:
            weight = "" if row.weight is None else f"{row.weight:.3f}"
            se = "-" if row.se is None else f"{row.se:.4f}"
            better = "" if row.p_above_zero is None else f"  P(a better) {row.p_above_zero:.4f}"
            lines.append(
                f"  {row.name:<{width}}  {row.n_prompts:>7}  {weight:>6}  {row.estimate:>8.4f}  "
                f"{se:>6}  {row.mu.lower:.4f} to {row.mu.upper:.4f}{better}"
            )
        lines.append("  all of mu, for new prompts like these")
        lines.append("  macro: every benchmark by its weight; micro: every prompt alike")
        lines += [f"  note: {note}" for note in self.notes]
        return lines
