"""The page in a real browser: renders, sorts, searches, answers to the pointer, stays harmless."""

import json

import pytest

from pcorrect.comparison import rank
from pcorrect.readers import counts
from pcorrect.report import render_report
from tests.support.results import HOSTILE, results


def column(page, table, i):
    return page.eval_on_selector_all(
        f"#{table} tbody tr:not([hidden])", f"rows => rows.map(r => r.cells[{i}].textContent)"
    )


def contrast(page, selector):
    """WCAG contrast ratio of an element's text with the page."""
    return page.evaluate(
        """selector => {
            const light = (colour) => {
                const part = colour.match(/[\\d.]+/g).slice(0, 3).map((v) => {
                    v /= 255;
                    return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
                });
                return 0.2126 * part[0] + 0.7152 * part[1] + 0.0722 * part[2];
            };
            const ink = light(getComputedStyle(document.querySelector(selector)).color);
            const paper = light(getComputedStyle(document.body).backgroundColor);
            return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
        }""",
        selector,
    )


@pytest.mark.parametrize("dark", [False, True])
def test_renders_without_errors_and_without_network(look, two_report, dark):
    page = look(two_report, dark=dark)
    assert page.said == []
    assert page.locator("figure.chart").count() >= 8
    for selector in ("body", ".note", ".c1", ".c2", "a", ".tick"):
        assert contrast(page, selector) >= 4.5, selector


def test_the_theme_can_be_turned(look, two_report):
    page = look(two_report)
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click("#theme")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    page.click("#theme")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == before


@pytest.mark.parametrize("report", ["two_report", "five_report"])
def test_a_phone_shows_everything_without_scrolling_sideways(look, report, request):
    page = look(request.getfixturevalue(report), width=390)
    for block in page.locator("summary").all():
        block.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    small = page.evaluate(
        """[...document.querySelectorAll("main *")].filter(e => e.childElementCount === 0
            && e.textContent.trim() && !["SCRIPT", "STYLE"].includes(e.tagName)
            && parseFloat(getComputedStyle(e).fontSize) < 10).length"""
    )
    assert small == 0
    assert page.said == []


def test_tables_sort_by_number_and_by_name(look, five_report):
    page = look(five_report)
    values = "rows => rows.map(r => Number(r.cells[1].dataset.v))"
    page.click("#scores-table thead th:nth-child(2) button")
    found = page.eval_on_selector_all("#scores-table tbody tr", values)
    assert found == sorted(found, reverse=True)
    page.click("#scores-table thead th:nth-child(2) button")
    found = page.eval_on_selector_all("#scores-table tbody tr", values)
    assert found == sorted(found)
    page.click("#scores-table thead th:nth-child(1) button")
    assert column(page, "scores-table", 0) == [f"llm-{m}" for m in range(5)]


def test_prompts_page_sort_search_and_open(look, five_report):
    page = look(five_report)
    assert len(column(page, "prompts-table", 0)) == 25
    page.click(".more")
    assert len(column(page, "prompts-table", 0)) == 30
    assert page.is_hidden(".more")
    page.click("#prompts-table thead th:nth-child(1) button")
    assert column(page, "prompts-table", 0) == [f"q{i:02d}" for i in range(25)]
    page.fill(".prompts .filter", "q1 q19")
    assert column(page, "prompts-table", 0) == ["q19"]
    page.press("#prompts-table tbody button", "Enter")
    assert page.get_attribute("#prompts-table tbody button", "aria-expanded") == "true"
    opened = page.inner_text("#prompts-table .details")
    assert "Key: 0" in opened
    assert "by 5 llms" in opened
    page.press("#prompts-table tbody button", "Enter")
    assert page.locator("#prompts-table .details").count() == 0
    page.fill(".prompts .filter", "no such prompt")
    assert column(page, "prompts-table", 0) == []


def test_charts_answer_to_the_pointer(look, two_report):
    page = look(two_report)
    chart = page.locator("#enough figure.chart .plot").first
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    page.mouse.move(box["x"] + 4, box["y"] + 20)
    assert "k = 1: SE " in page.inner_text("#tip")
    page.mouse.move(2, 2)
    assert page.is_hidden("#tip")


def test_pairs_answer_to_the_pointer(look, five_llms, five_report):
    page = look(five_report)
    square = page.locator(".square")
    square.scroll_into_view_if_needed()
    box = square.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] * 0.1)
    found = rank(counts(five_llms))
    expected = f"P({found.llm[0]} better than {found.llm[1]}) = {found.p_better[0, 1]:.3f}"
    assert page.inner_text("#tip") == expected


def test_folded_charts_open(look, five_report):
    page = look(five_report)
    page.locator("summary").first.click()
    assert page.locator("details[open] figure.chart").first.is_visible()


def test_hostile_text_is_shown_and_does_nothing(look, tmp_path):
    rows = results(2, len(HOSTILE))
    for row in rows:
        i = int(row["prompt"][1:])
        row |= {
            "prompt": HOSTILE[i][:2000],
            "answer": HOSTILE[(i + 1) % len(HOSTILE)],
            "target": HOSTILE[0],
            "llm": f"<img src=x onerror=window.hacked=1>{row['llm']}",
            "benchmark": "<script>window.hacked=1</script>",
        }
    table = tmp_path / "hostile.jsonl"
    table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    texts = {text[:2000]: text + "<script>window.hacked=1</script>" for text in HOSTILE}
    html = render_report(table, model="beta_bernoulli", texts=texts, title=HOSTILE[1])
    for width in (1200, 390):
        page = look(html, width=width)
        while page.is_visible(".more"):
            page.click(".more")
        for row in page.locator("#prompts-table tbody button").all():
            row.press("Enter")
        for chart in page.locator("figure.chart .plot").all()[:12]:
            chart.hover()
        assert page.evaluate("window.hacked") is None
        assert page.said == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        shown = page.inner_text("#prompts-table")
        assert HOSTILE[0] in shown
        assert "more characters" in shown


def test_without_a_script_the_page_still_reads(browser, two_report, tmp_path):
    path = tmp_path / "plain.html"
    path.write_text(two_report.replace("<script>", '<script type="none">'), "utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    assert len(column(page, "prompts-table", 0)) == 24
    assert page.is_hidden(".filter")
    page.close()
