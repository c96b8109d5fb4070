"""One of several: filters, metrics, scorers."""

from __future__ import annotations

from collections.abc import Sequence

from pcorrect.errors import ChoiceError


def choose(wanted: str | None, names: Sequence[str], what: str, where: str) -> str:
    """Return the name that was asked for, or the only one.

    Parameters
    ----------
    wanted : str or None
        The caller's choice.
    names : sequence of str
        What the input holds.
    what : str
        "filter", "metric" or "scorer": the option's name.
    where : str
        Name of the input, for messages.

    Returns
    -------
    str

    Raises
    ------
    ChoiceError
        There are several and none was chosen, or the chosen one is absent.
    """
    if wanted is not None and wanted in names:
        return wanted
    if wanted is None and len(names) == 1:
        return names[0]
    listed = ", ".join(repr(name) for name in names)
    problem = f"several {what}s" if wanted is None else f"no {what} {wanted!r}"
    raise ChoiceError(f"{where}: {problem}; choose one with --{what}: {listed}", list(names))
