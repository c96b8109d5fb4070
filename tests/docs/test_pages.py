"""Nothing in the documentation is shown as if it ran without being run when the site is built."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = sorted(
    path
    for path in DOCS.rglob("*.md")
    if path.relative_to(DOCS).parts[0] not in ("_build", "models")
)
# Run by the build (docs/_ext/run.py, MyST-NB), structure of the site, or no code at all.
ALLOWED = {"{run}", "{code-cell}", "{toctree}", "text"}


def kinds(text):
    """What each fenced block is."""
    found, inside = [], False
    for line in text.splitlines():
        if line.startswith("```"):
            if not inside:
                found.append(line.strip("`").split(" ")[0])
            inside = not inside
    return found


def test_kinds():
    assert kinds("```python\na\n```\n\n```{run}\npcorrect\n```") == ["python", "{run}"]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(DOCS)))
def test_every_block_is_run(page):
    assert set(kinds(page.read_text(encoding="utf-8"))) <= ALLOWED


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(DOCS)))
def test_no_open_ends(page):
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"@@|TODO|RESULTS_HERE|XXX", text)


def test_every_page_is_reachable():
    listed = {
        (page.parent / re.sub(r".*<(.*)>", r"\1", entry.strip())).resolve()
        for page in PAGES
        for block in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(), re.DOTALL)
        for entry in block.splitlines()
        if entry.strip() and not entry.startswith(":")
    }
    for page in PAGES:
        assert page.stem == "index" or page.with_suffix("").resolve() in listed, page
