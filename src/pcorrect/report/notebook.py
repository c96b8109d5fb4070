"""Rich display in notebooks: our summary first, then what xarray shows of the result."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from pcorrect.errors import PcorrectError
from pcorrect.report.markup import Markup, tag

if TYPE_CHECKING:
    import xarray as xr

_CELL = "padding:.2em .7em;text-align:right"
_HEAD = "padding:.2em .7em;text-align:left"


def result_html(tree: xr.DataTree, *, ci_prob: float = 0.95, ci_kind: str = "eti") -> str:
    """A result of `fit` as HTML: the table of `summary`, warnings, and xarray's own view folded.

    Parameters
    ----------
    tree : DataTree
        A result of `fit`.
    ci_prob, ci_kind
        As in `summary`.

    Raises
    ------
    PcorrectError
        It is no result of this package.
    """
    from pcorrect.posterior import from_datatree
    from pcorrect.summaries import summary

    fit = from_datatree(tree)
    table = summary(tree, ci_prob=ci_prob, ci_kind=ci_kind)  # type: ignore[arg-type]
    k = fit.counts.n_generations
    used = f"{k.max()}" if k.min() == k.max() else f"{k.min()} to {k.max()}"
    heads = ["", *map(str, table.columns)]
    rows = [
        tag(
            "tr",
            tag("th", name, style=_HEAD),
            [tag("td", _text(value), style=_CELL) for value in row],
        )
        for name, row in zip(map(str, table.index), table.itertuples(index=False), strict=True)
    ]
    whole: Any = tree
    return tag(
        "div",
        tag(
            "p",
            tag("b", fit.counts.llm),
            f" on {fit.counts.benchmark}: {len(k):,} prompts, k = {used}; model {fit.model}, "
            f"{fit.engine} engine, seed {fit.seed}",
        ),
        tag(
            "table",
            tag("thead", tag("tr", [tag("th", head, style=_CELL) for head in heads])),
            tag("tbody", rows),
        ),
        [tag("p", f"Warning: {text}") for text in (*fit.moments.notes, *fit.warnings)],
        tag("details", tag("summary", "DataTree"), Markup(whole._repr_html_())),
    )


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value != value else f"{value:.4g}"


def register(shell: Any = None) -> bool:
    """Let IPython show results of this package by `result_html`; other trees stay as they are.

    Parameters
    ----------
    shell : InteractiveShell, optional
        Default: the running one.

    Returns
    -------
    bool
        Whether there is a shell to register with.
    """
    if shell is None:
        ipython: Any = sys.modules.get("IPython")
        shell = None if ipython is None else ipython.get_ipython()
    if shell is None:
        return False
    formatter = shell.display_formatter.formatters["text/html"]
    # by name: xarray is not imported for this
    for module in ("xarray.core.datatree", "xarray"):
        formatter.for_type_by_name(module, "DataTree", _show)
    return True


def _show(tree: Any) -> str:
    """Our view of our results, xarray's of everything else."""
    if tree.attrs.get("inference_library") == "pcorrect":
        try:
            return result_html(tree)
        except (PcorrectError, KeyError):
            pass  # a part of a result, or an older one: no summary of it
    return str(tree._repr_html_())
