"""Pages of the statistical models: the docstring of each program in `models/`, and its source."""

import ast
import re
from pathlib import Path

#: Order on the site; a model that is not named here comes last.
ORDER = (
    "dp_beta",
    "beta_bernoulli",
    "beta_binomial",
    "inflated_beta",
    "logit_normal",
    "paired",
    "latent_truth",
)


def write(models: Path, folder: Path) -> None:
    """Write `folder`/<model>.md for every program."""
    folder.mkdir(exist_ok=True)
    names = [path.stem for path in sorted(models.glob("*.py"))]
    for name in names:
        _keep(folder / f"{name}.md", page(name, (models / f"{name}.py").read_text()))
    for stale in {path.stem for path in folder.glob("*.md")} - set(names):
        (folder / f"{stale}.md").unlink()


def page(name: str, source: str) -> str:
    """The card as Markdown: sections as they are, indented equations as code."""
    tree = ast.parse(source)
    card = ast.get_docstring(tree) or ""
    below = (tree.body[0].end_lineno or 0) + 2 if card else 1
    title, _, body = card.partition("\n")
    body = re.sub(r"``(.+?)``", r"`\1`", body)
    # inside a paragraph an asterisk or a less-than sign means itself
    body = "\n".join(
        line if line.startswith("    ") else re.sub(r"(?<!`)([*<])", r"\\\1", line)
        for line in body.splitlines()
    )
    return (
        f"# `{name}`\n\n**{title.strip()}**\n\n{body.strip()}\n\n"
        f"## The program\n\n`models/{name}.py`; this card is its docstring.\n\n"
        f"```{{literalinclude}} ../../models/{name}.py\n:language: python\n:lines: {below}-\n```\n"
    )


def _keep(path: Path, text: str) -> None:
    """Write a file only where it changes, so that Sphinx need not read it again."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
