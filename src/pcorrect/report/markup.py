"""HTML that is safe by construction: text is escaped unless it is markup already."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable
from typing import Any

# Characters that HTML forbids (or that no font shows), and half surrogates, which UTF-8 has not.
_UNSHOWABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_VOID = frozenset({"br", "hr", "input", "meta", "col"})


class Markup(str):
    """Text that is HTML already and is not escaped again."""

    __slots__ = ()


type Content = str | int | float | Iterable[Content] | None


def visible(text: object) -> str:
    """The text, with the code of each character that cannot be shown in its place."""
    return _UNSHOWABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", str(text))


def escape(text: object) -> Markup:
    """The text as HTML, for elements and for quoted attributes."""
    return text if isinstance(text, Markup) else Markup(html.escape(visible(text), quote=True))


def join(content: Content, between: str = "") -> Markup:
    """Content, nested as it may be, as one piece of HTML; None is nothing."""
    if content is None:
        return Markup("")
    if isinstance(content, str | int | float):
        return escape(content)
    return Markup(between.join(join(item) for item in content))


def tag(name: str, *content: Content, **attributes: object) -> Markup:
    """An element.

    Parameters
    ----------
    name : str
    *content
        Text, markup, or (nested) iterables of these; None is nothing.
    **attributes
        ``class_`` is class, ``data_v`` is data-v. None and False leave an attribute out, True
        writes its name only.
    """
    written = []
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        attribute = key.rstrip("_").replace("_", "-")
        written.append(f" {attribute}" if value is True else f' {attribute}="{escape(value)}"')
    start = f"<{name}{''.join(written)}>"
    return Markup(start if name in _VOID else f"{start}{join(content)}</{name}>")


def data_block(value: Any, **attributes: object) -> Markup:
    """JSON inside a script element that is data, never run.

    Every character that could end the element, or start another one, is written as an escape, and
    so is everything beyond ASCII: half surrogates survive.
    """
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return tag("script", Markup(text), type="application/json", **attributes)
