"""Results small enough to report on in a moment, and a browser to look at reports with."""

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import pcorrect
from pcorrect.report import render_report

CHROMIUM = os.environ.get("PCORRECT_CHROMIUM", "/usr/bin/chromium")

# What people and harnesses put into ids, names and answers, and attackers might.
HOSTILE = [
    "<script>window.hacked = 1</script>",
    "</script><img src=x onerror='window.hacked = 1'>",
    "<!-- <script>",
    "]]>\"'&lt;",
    "half \ud800 surrogate",
    "\u202eright to left",
    "bell \x07 and nul \x00",
    "javascript:window.hacked=1",
    "{{7*7}} ${7*7}",
    "y" * 100_000,
]


def results(llms: int = 2, prompts: int = 24, k: int = 4) -> list[dict[str, Any]]:
    """Rows of results whose outcome differs by llm and prompt."""
    rows = []
    for m in range(llms):
        for i in range(prompts):
            for j in range(k):
                correct = int((7 * i + 3 * j + 5 * m) % 11 < 6 - 2 * m + i % 3)
                rows.append(
                    {
                        "llm": f"llm-{m}",
                        "benchmark": "quiz",
                        "prompt": f"q{i:02d}",
                        "generation": j + 1,
                        "correct": correct,
                        "answer": "0" if correct else str(1 + (i + j) % 2),
                        "target": "0",
                    }
                )
    return rows


def frame(rows: list[dict[str, Any]]) -> Any:
    """Rows as a data frame."""
    import pandas as pd

    return pd.DataFrame(rows)


@pytest.fixture(scope="session")
def two_llms() -> Any:
    """A generations table of two llms."""
    return pcorrect.from_frame(frame(results()))


@pytest.fixture(scope="session")
def five_llms() -> Any:
    """A generations table of five llms: ranked, not compared in pairs."""
    return pcorrect.from_frame(frame(results(5, 30)))


@pytest.fixture(scope="session")
def two_report(two_llms: Any) -> str:
    """Report on two llms, by the exact engine."""
    return render_report(two_llms, model="beta_bernoulli")


@pytest.fixture(scope="session")
def five_report(five_llms: Any) -> str:
    """Report on five llms."""
    return render_report(five_llms, model="beta_bernoulli")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Debian's chromium, driven by playwright."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not Path(CHROMIUM).exists():
        pytest.skip(f"no chromium at {CHROMIUM} (set PCORRECT_CHROMIUM)")
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    flags += ["--disable-component-update", "--disable-sync"]
    with playwright.sync_playwright() as run, tempfile.TemporaryDirectory() as folder:
        context = run.chromium.launch_persistent_context(
            folder, executable_path=CHROMIUM, headless=True, args=flags
        )
        yield context
        context.close()


@pytest.fixture
def look(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Open a report; the page keeps in `said` what its console said."""
    pages = []

    def open_page(html: str, *, width: int = 1200, dark: bool = False) -> Any:
        path = tmp_path / f"{len(pages)}.html"
        path.write_bytes(html.encode("utf-8"))
        page = browser.new_page()
        page.said = []
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.on("request", lambda request: page.said.append(f"request {request.url}"))
        page.emulate_media(color_scheme="dark" if dark else "light")
        page.set_viewport_size({"width": width, "height": 800})
        page.goto(path.as_uri())
        page.said.remove(f"request {path.as_uri()}")
        pages.append(page)
        return page

    yield open_page
    for page in pages:
        page.close()
