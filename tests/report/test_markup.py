"""Markup escapes by construction."""

import html
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pcorrect.report.markup import Markup, data_block, escape, join, tag, visible


def test_text_is_escaped_and_markup_is_not():
    assert escape("<b> & \"'") == "&lt;b&gt; &amp; &quot;&#x27;"
    assert escape(Markup("<b>")) == "<b>"
    assert tag("p", "a<b", tag("i", "x")) == "<p>a&lt;b<i>x</i></p>"


def test_content_nests_and_none_is_nothing():
    assert join(["a", None, ["<", 1, 2.5]]) == "a&lt;12.5"
    assert tag("ul", [tag("li", n) for n in range(2)], None) == "<ul><li>0</li><li>1</li></ul>"


def test_attributes():
    made = tag("td", data_v="1", class_=None, hidden=False, colSpan=2, title='"<')
    assert made == '<td data-v="1" colSpan="2" title="&quot;&lt;"></td>'
    assert tag("input", disabled=True) == "<input disabled>"
    assert tag("meta", name_="a") == '<meta name="a">'


@pytest.mark.parametrize("text", ["\ud800", "\x00", "\x1b", "\ufffe", "\x9f"])
def test_what_cannot_be_shown_becomes_its_code(text):
    shown = visible(f"a{text}b")
    assert shown == f"a\\u{ord(text):04x}b"
    shown.encode("utf-8")


@given(st.text(alphabet=st.characters(codec=None)))
def test_data_is_never_markup_and_comes_back(text):
    block = data_block({"t": text}, class_="rows")
    inside = block.removeprefix('<script type="application/json" class="rows">')
    inside = inside.removesuffix("</script>")
    assert not set(inside) & set("<>&")
    assert inside.isascii()
    assert json.loads(inside) == {"t": text}


@given(st.text(alphabet=st.characters(codec=None)))
def test_escaped_text_comes_back_as_visible_text(text):
    made = escape(text)
    assert not set(made) & set("<>\"'")
    assert html.unescape(made) == visible(text)
