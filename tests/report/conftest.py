"""Reports on small results, made once, and a browser to look at them with."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import pcorrect
from pcorrect.report import render_report
from tests.support.results import frame, results

CHROMIUM = os.environ.get("PCORRECT_CHROMIUM", "/usr/bin/chromium")


@pytest.fixture(scope="session")
def two_llms() -> Any:
    """A generations table of two llms."""
    return pcorrect.from_frame(frame(results()))


@pytest.fixture(scope="session")
def one_llm() -> Any:
    """A generations table of one llm on a few prompts."""
    return pcorrect.from_frame(frame(results(1, 6)))


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


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's chromium, driven by playwright (whose event loop no other module should meet)."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not Path(CHROMIUM).exists():
        pytest.skip(f"no chromium at {CHROMIUM} (set PCORRECT_CHROMIUM)")
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    flags += ["--disable-component-update", "--disable-sync"]
    with playwright.sync_playwright() as run:
        chromium = run.chromium.launch(executable_path=CHROMIUM, headless=True, args=flags)
        yield chromium
        chromium.close()


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
