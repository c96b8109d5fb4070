"""The whole page: one file, no network, no script but ours."""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
from importlib import resources

from pcorrect.plots import words
from pcorrect.report.markup import Markup, join, tag
from pcorrect.report.material import Material
from pcorrect.report.sections import SECTIONS


def render(material: Material) -> str:
    """The report as one HTML document.

    Parameters
    ----------
    material : Material
    """
    style, script = (_asset(name) for name in ("report.css", "report.js"))
    title = material.options.title or _title(material)
    built = [(section, section.build(material)) for section in SECTIONS]
    shown = [(section, body) for section, body in built if body is not None]
    sentences = [line for section in SECTIONS for line in section.verdict(material)]
    links = [tag("a", section.title, href=f"#{section.name}") for section, _ in shown]
    body = tag(
        "body",
        tag(
            "header",
            tag("h1", title),
            tag("nav", links),
            tag("button", "Light / dark", type="button", id="theme"),
        ),
        tag(
            "main",
            tag(
                "section",
                tag("h2", "Verdict"),
                tag("ul", [tag("li", line) for line in sentences], class_="verdict"),
                id="verdict",
            ),
            [
                tag("section", tag("h2", section.title), part, id=section.name)
                for section, part in shown
            ],
        ),
        tag("div", id="tip", role="status"),
        # Ours, and known by its hash: nothing else on the page may run.
        tag("script", Markup(script)),
    )
    return join(
        [
            Markup("<!doctype html>\n"),
            tag("html", _head(title, style, script), body, lang="en"),
            Markup("\n"),
        ]
    )


def _head(title: str, style: str, script: str) -> Markup:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'"
    )
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name_="viewport", content="width=device-width, initial-scale=1"),
        tag(
            "meta", name_="generator", content=f"pcorrect {importlib.metadata.version('pcorrect')}"
        ),
        tag("title", title),
        tag("style", Markup(style)),
    )


def _title(material: Material) -> str:
    return f"{words.listed(material.llms, 2)} on {words.listed(material.benchmarks, 2)}"


def _asset(name: str) -> str:
    return (resources.files("pcorrect.report") / "assets" / name).read_text("utf-8")
