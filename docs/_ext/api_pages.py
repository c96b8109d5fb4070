"""Pages of the API, one per task, from the public names that `pcorrect` declares."""

import importlib
from pathlib import Path

import pcorrect

#: Task -> (title, modules whose public names belong to it, further classes and functions;
#: ``package.*``: all others that the package exports).
TASKS: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "reading": (
        "Read results",
        ("readers", "generations", "data", "errors", "simulation"),
        (),
    ),
    "fitting": (
        "Fit, summarise, save",
        ("api", "priors", "summaries", "storage", "moment_estimates"),
        (),
    ),
    "checking": (
        "Check a result",
        ("adequacy.beta_shape",),
        (
            "adequacy.beta_shape.Adequacy",
            "adequacy.runs.check_runs",
            "adequacy.runs.RunCheck",
            "adequacy.published.check_published_gap",
            "adequacy.published.PublishedGap",
            "adequacy.stopping.check_stopping",
            "adequacy.stopping.StoppingCheck",
            "adequacy.sensitivity.prior_sensitivity",
            "adequacy.sensitivity.Sensitivity",
        ),
    ),
    "comparing": ("Compare llms", ("comparison",), ("comparison.*",)),
    "planning": ("How many generations", ("planning",), ("planning.*",)),
    "answers": (
        "Answers, consistency, wrong keys",
        (
            "consistency.clusters",
            "consistency.tables",
            "consistency.flags",
            "consistency.effect",
        ),
        (
            "consistency.tables.PromptTable",
            "consistency.flags.Flags",
        ),
    ),
    "plotting": ("Plots and reports", ("plots",), ("report.write_report", "report.render_report")),
}


def write(folder: Path) -> None:
    """Write `folder`/<task>.rst.

    Raises
    ------
    ValueError
        A module with public names belongs to no task.
    """
    folder.mkdir(exist_ok=True)
    for stale in folder.glob("*.rst"):
        if stale.stem not in TASKS:
            stale.unlink()
    homeless = set(pcorrect._HOLDS) - {m for _, modules, _ in TASKS.values() for m in modules}
    if homeless:
        raise ValueError(f"docs/_ext/api_pages.py: no task for the modules {sorted(homeless)}")
    for task, (title, modules, more) in TASKS.items():
        public = [name for module in modules for name in pcorrect._HOLDS[module].split()]
        text = page(title, public, _expanded(more, public))
        path = folder / f"{task}.rst"
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def _expanded(paths: tuple[str, ...], public: list[str]) -> list[str]:
    """``package.*`` stands for what else the package exports."""
    found = []
    for path in paths:
        package, star, _ = path.partition(".*")
        if not star:
            found.append(path)
            continue
        names = importlib.import_module(f"pcorrect.{package}").__all__
        # results of functions first
        names = sorted((n for n in names if n not in public), key=lambda n: (n[0].islower(), n))
        found += [f"{package}.{name}" for name in names]
    return found


def page(title: str, public: list[str], more: list[str]) -> str:
    """Entries in the order in which the package declares them."""
    blocks = [title + "\n" + "=" * len(title)]
    blocks += [_entry("pcorrect", name, getattr(pcorrect, name)) for name in public]
    if more:
        head = "Beside the public names"
        blocks.append(head + "\n" + "-" * len(head))
        blocks.append("Results that these functions return, and functions for special needs.")
    for path in more:
        module, _, name = f"pcorrect.{path}".rpartition(".")
        blocks.append(_entry(module, name, getattr(importlib.import_module(module), name)))
    return "\n\n".join(blocks) + "\n"


def _entry(module: str, name: str, thing: object) -> str:
    if not isinstance(thing, type):
        return f".. autofunction:: {module}.{name}"
    if issubclass(thing, Exception):
        return f".. autoexception:: {module}.{name}"
    return f".. autoclass:: {module}.{name}\n   :members:"
