"""The page: complete, safe, and with the numbers of the API."""

import base64
import hashlib
import json
import re
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import pcorrect
from pcorrect.adequacy.beta_shape import assess_beta
from pcorrect.adequacy.runs import check_runs
from pcorrect.comparison import paired_difference, rank, suite, suite_difference
from pcorrect.consistency.effect import score_effect
from pcorrect.consistency.flags import flag_prompts
from pcorrect.errors import PcorrectError
from pcorrect.fitting import run_fit
from pcorrect.planning import plan_report
from pcorrect.readers import counts, outcomes
from pcorrect.report import render_report, write_report
from tests.support.results import HOSTILE, frame, results


def html_text(html):
    """What a piece of HTML says."""
    return unescape(re.sub(r"<[^>]*>", "", html))


class Tables(HTMLParser):
    """The numbers of every table by its id: rows of (name, [(value, low, high), …])."""

    def __init__(self, html):
        super().__init__()
        self.tables, self.ids, self.tags, self._rows, self._head = {}, [], [], None, None
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append((tag, attrs))
        if "id" in attrs:
            self.ids.append(attrs["id"])
        if tag == "table":
            self._rows = self.tables.setdefault(attrs["id"], [])
        if tag == "tr" and self._rows is not None:
            self._rows.append([])
        if tag == "td" and "data-v" in attrs:
            cell = [attrs["data-v"], attrs.get("data-low"), attrs.get("data-high")]
            self._rows[-1].append(tuple(None if v is None else float(v) for v in cell))

    def numbers(self, name):
        return [row for row in self.tables[name] if row]


def test_scores_are_those_of_the_api(two_llms, two_report):
    rows = Tables(two_report).numbers("scores-table")
    (table,) = counts(two_llms)
    for llm, row in zip(table.llm, rows, strict=True):
        fit = run_fit(table.select(llm), model="beta_bernoulli")
        mu, score, n, k, sigma, mean, se_mu, se_score = row
        assert (n[0], k[0]) == (24, 4)
        for found, name in ((mu, "mu"), (score, "score")):
            marginal = fit.marginals[name]
            assert found == (marginal.mean, *marginal.interval(0.95))
        assert sigma[0] == fit.marginals["sigma"].mean
        closed = fit.moments
        assert (mean[0], se_mu[0], se_score[0]) == (closed.mu, closed.se_mu, closed.se_score)


def test_interval_and_level_are_passed_on(two_llms):
    html = render_report(two_llms, model="beta_bernoulli", ci_prob=0.8, ci_kind="hdi")
    (table,) = counts(two_llms)
    fit = run_fit(table.select("llm-0"), model="beta_bernoulli")
    mu = Tables(html).numbers("scores-table")[0][0]
    assert mu[1:] == fit.marginals["mu"].interval(0.8, "hdi")
    assert "80 % highest-density interval" in html
    assert "95 % equal-tailed" not in html
    assert "95 % interval" not in html


def test_difference_is_that_of_the_api(two_llms, two_report):
    (table,) = counts(two_llms)
    found = paired_difference(table, model="beta_bernoulli")
    mu, score = Tables(two_report).numbers("difference-quiz")
    assert mu[0] == (found.mu.mean, found.mu.lower, found.mu.upper)
    assert score[0] == (found.score.mean, found.score.lower, found.score.upper)
    assert (mu[1][0], score[1][0]) == (found.p_better, found.p_better_score)


def test_ranking_is_that_of_the_api(five_llms, five_report):
    found = rank(counts(five_llms))
    rows = Tables(five_report).numbers("ranking-0")
    for i, (mu, place, at_once, p_best) in enumerate(rows):
        assert mu == (found.mean[i], found.lower[i], found.upper[i])
        assert place == (found.rank_mean[i], found.rank_lower[i], found.rank_upper[i])
        assert at_once[1:] == (found.rank_least[i], found.rank_most[i])
        assert p_best[0] == found.p_best[i]


def test_many_scores_come_best_first(five_report):
    mu = [row[0][0] for row in Tables(five_report).numbers("scores-table")]
    assert mu == sorted(mu, reverse=True)


def test_generations_that_are_enough_are_those_of_the_api(two_llms, two_report):
    (table,) = counts(two_llms)
    for llm, row in zip(table.llm, Tables(two_report).numbers("enough-table"), strict=True):
        plan = plan_report(run_fit(table.select(llm), model="beta_bernoulli"))
        assert row[0][0] == 4
        assert row[1] == (plan.minimal.k, plan.minimal.lower, plan.minimal.upper)
        at = list(plan.curve.k).index(4)
        assert row[2][0] == plan.curve.se_mu[1, at]
        assert row[3][0] == plan.curve.floor.value
        assert row[4][0] == plan.curve.se_score[1, at]


def test_checks_are_those_of_the_api(two_llms, two_report):
    (table,) = counts(two_llms)
    for llm, row in zip(table.llm, Tables(two_report).numbers("checks-table"), strict=True):
        data = table.select(llm)
        fit = run_fit(data, model="beta_bernoulli")
        shape = assess_beta(data, priors=fit.priors, grid=fit.grid, seed=0)
        runs = check_runs(outcomes(two_llms, llm).correct, seed=0)
        found = [cell[0] for cell in row]
        assert found == [shape.p_value, shape.shift_se, runs.p_value, runs.gap, runs.gap_expected]
        assert shape.verdict in html_text(two_report)
        assert runs.verdict in html_text(two_report)


def test_prompts_are_those_of_the_api(two_llms, two_report):
    flags = flag_prompts(two_llms)
    (table,) = counts(two_llms)
    p = {
        str(llm): run_fit(table.select(llm), model="beta_bernoulli").prompts.table(0.95, "eti")
        for llm in table.llm
    }
    where = {str(prompt): i for i, prompt in enumerate(table.prompt)}
    (block,) = re.findall(
        r'<script type="application/json" class="rows">(.*?)</script>', two_report
    )
    shown = json.loads(block)
    assert [row[0] for row in shown["rows"]] == [flag.prompt for flag in flags]
    for row, flag in zip(shown["rows"], flags, strict=True):
        i = where[flag.prompt]
        assert [cell[0] for cell in row[1:3]] == [p[str(llm)].mean[i] for llm in table.llm]
        for cell, llm in zip(row[1:3], table.llm, strict=True):
            data = table.select(llm)
            assert cell[1].startswith(f"{data.n_correct[i]}/{data.n_generations[i]} · ")
        assert row[3][0] == flag.p_mislabelled
        assert row[4][0] == flag.consistency
        assert row[5:7] == [flag.key or "", flag.rival or ""]
        assert [row[7][0], row[8][0]] == [flag.rival_share, flag.support]


def test_suspect_keys_are_said_and_what_they_mean():
    # five llms that know everything agree against the key of one prompt
    rows = [row | {"correct": 1, "answer": "0"} for row in results(5, 40)]
    for row in rows:
        if row["prompt"] == "q07":
            row |= {"correct": 0, "answer": "42"}
    data = pcorrect.from_frame(frame(rows))
    flags = flag_prompts(data)
    assert [p.prompt for p in flags if p.flagged] == ["q07"]
    html = render_report(data, model="beta_bernoulli")
    verdict = html_text(html.partition('class="verdict"')[2].partition("</ul>")[0])
    assert "1 prompt of 40 may well have a wrong or unclear key" in verdict
    assert "Most suspect: q07, where the key is '0' and 5 of 5 llms mostly answer '42'" in verdict
    effect = score_effect(flags)
    for row, llm in zip(Tables(html).numbers("effect-table"), effect.llms, strict=True):
        found = [cell[0] for cell in row]
        assert found[:4] == [llm.score, llm.removed, llm.rekeyed, llm.expected]
        assert found[4:] == [llm.rank, llm.rank_removed]


def test_averages_over_benchmarks_are_those_of_the_api():
    rows = results(2, 12)
    rows += [row | {"benchmark": "other", "correct": 1 - row["correct"]} for row in rows]
    tables = counts(pcorrect.from_frame(frame(rows)))
    page = Tables(render_report(frame(rows), model="beta_bernoulli"))
    for llm, row in zip(["llm-0", "llm-1"], page.numbers("suite-table"), strict=True):
        found = suite(tables, llm)
        for cell, part in ((row[2], found.macro), (row[5], found.micro)):
            assert cell == (part.mu.mean, part.mu.lower, part.mu.upper)
        assert (row[3][0], row[4][0]) == (found.macro.estimate, found.macro.se)
    whole = suite_difference(tables, "llm-0", "llm-1")
    parts = [*whole.parts, whole.macro, whole.micro]
    for row, part in zip(page.numbers("suite-difference"), parts, strict=True):
        assert row[1] == (part.mu.mean, part.mu.lower, part.mu.upper)
        assert row[2][0] == part.p_above_zero


def test_anchors_are_there_and_unique(five_report):
    page = Tables(five_report)
    assert len(page.ids) == len(set(page.ids))
    links = [a["href"] for tag, a in page.tags if tag == "a"]
    assert links
    assert {link.removeprefix("#") for link in links} <= set(page.ids)


def test_nothing_is_loaded_and_only_our_script_may_run(two_report):
    page = Tables(two_report)
    for tag, attrs in page.tags:
        assert tag not in {"link", "img", "iframe", "object", "embed", "base", "form"}
        assert "src" not in attrs
        assert not [name for name in attrs if name.startswith("on")]
    assert "url(" not in two_report
    scripts = re.findall(r"<script>(.*?)</script>", two_report, re.DOTALL)
    assert len(scripts) == 1
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    (policy,) = [a["content"] for t, a in page.tags if a.get("http-equiv")]
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy


def test_the_verdict_says_who_is_better_and_how_many_generations_are_enough(two_report):
    verdict = two_report.partition('class="verdict"')[2].partition("</ul>")[0]
    assert "correct is expected on new prompts like these" in verdict
    assert "llm-0 is better than llm-1" in verdict
    assert "is within 10 % of what any k can give for new prompts" in verdict


def test_methods_name_versions_seed_and_priors(one_llm):
    html = render_report(
        one_llm, model="beta_bernoulli", seed=7, priors=pcorrect.Priors(mu=(2.0, 3.0))
    )
    methods = html.partition('id="methods"')[2]
    assert f"pcorrect {pcorrect.__version__}" in methods
    assert "seed 7" in methods
    assert "mu ~ Beta(2, 3)" in methods
    assert "arXiv:2502.08943" in methods


def test_warnings_are_in_the_verdict_once(five_llms):
    rows = results(4, 6, 1)
    html = render_report(frame(rows), model="beta_bernoulli")
    verdict = html.partition('class="verdict"')[2].partition("</ul>")[0]
    assert verdict.count("sigma and rho are not identified") == 1
    assert "not identified" in html.partition('id="scores-table"')[2].partition("</table>")[0]


def test_sections_without_material_are_left_out(tmp_path):
    table = tmp_path / "one.csv"
    table.write_text("prompt,n_correct,n_generations\nq,1,2\n")
    html = render_report(table, model="beta_bernoulli")
    ids = Tables(html).ids
    assert "comparison" not in ids
    assert "#comparison" not in html
    assert {"scores", "prompts", "methods"} <= set(ids)


def test_hostile_text_stays_text(tmp_path):
    rows = results(2, len(HOSTILE))
    for row in rows:
        i = int(row["prompt"][1:])
        row |= {
            "prompt": HOSTILE[i][:2000],
            "answer": HOSTILE[(i + 1) % len(HOSTILE)],
            "llm": f"<i>{row['llm']}</i>",
            "target": HOSTILE[0],
        }
    table = tmp_path / "hostile.jsonl"
    table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    html = render_report(table, model="beta_bernoulli", title=HOSTILE[0])
    assert "<script>window" not in html
    assert "<img" not in html
    assert "<i>llm" not in html
    html.encode("utf-8")


def test_long_texts_are_cut_and_say_so(one_llm):
    html = render_report(one_llm, model="beta_bernoulli", texts={"q00": "z" * 100_000})
    assert "z" * 4000 + " \\u2026 (96,000 more characters)" in html
    assert "z" * 4001 not in html


def test_write_report_is_atomic(one_llm, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("before")
    with pytest.raises(PcorrectError, match="no model"):
        write_report(one_llm, path, model="nothing")
    assert path.read_text() == "before"
    write_report(one_llm, path, model="beta_bernoulli")
    assert path.read_text("utf-8").startswith("<!doctype html>")
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_no_directory_is_found_out_first(one_llm, tmp_path):
    with pytest.raises(PcorrectError, match="no directory"):
        write_report(one_llm, tmp_path / "no" / "report.html")


def test_nothing_to_report(tmp_path):
    table = tmp_path / "none.csv"
    table.write_text("prompt,n_correct,n_generations\nq,0,0\n")
    with pytest.raises(PcorrectError, match="nothing to report"):
        render_report(table)


def test_the_same_seed_gives_the_same_page(two_llms, two_report):
    assert render_report(two_llms, model="beta_bernoulli") == two_report


def test_counts_alone_are_enough(two_llms):
    html = render_report(counts(two_llms), model="beta_bernoulli")
    assert "P(mislabelled)" not in html
    assert len(Tables(html).numbers("scores-table")) == 2


def test_many_fits_have_tables_only(monkeypatch):
    monkeypatch.setattr("pcorrect.report.material._CHARTS", 4)
    html = render_report(frame(results(5, 8)), model="beta_bernoulli")
    assert "5 fits are too many to draw one by one" in html
    assert "<details" not in html


def test_several_benchmarks():
    rows = results(3, 10)
    rows += [row | {"benchmark": "other", "correct": 1 - row["correct"]} for row in rows]
    html = render_report(frame(rows), model="beta_bernoulli")
    page = Tables(html)
    assert len(page.numbers("scores-table")) == 6
    assert np.isclose(sum(row[3][0] for row in page.numbers("ranking-0")), 1)


def test_keys_without_answers_flag_nothing():
    rows = [row | {"answer": ""} for row in results(2, 12)]
    html = render_report(frame(rows), model="beta_bernoulli")
    assert "P(mislabelled)" not in html
    assert "Data map" not in html
    assert "<b>Keys: </b>" not in html


def test_llms_without_a_prompt_in_common_are_not_compared():
    for names in ("ab", "abc"):
        rows = [
            {"llm": name, "prompt": f"{name}{i}", "correct": (i + j) % 2}
            for name in names
            for i in range(6)
            for j in range(2)
        ]
        page = render_report(pcorrect.from_frame(pd.DataFrame(rows)), model="beta_bernoulli")
        assert "shared prompts" not in page
        said = "No two llms have a scored prompt" if names == "ab" else "on its own prompts"
        assert said in page


def test_a_text_belongs_to_its_benchmark(tmp_path):
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    row = {"llm": "m", "prompt_id": "2", "correct": 1}
    one.write_text(json.dumps(row | {"benchmark": "gsm", "question": "How many apples?"}) + "\n")
    two.write_text(json.dumps(row | {"benchmark": "musr"}) + "\n")
    page = render_report([one, two], model="beta_bernoulli")
    assert "How many apples?" not in page
    assert "How many apples?" in render_report([one], model="beta_bernoulli")
