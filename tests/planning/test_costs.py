"""Prompts against generations: the closed form and the search against listing every design."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit

from pcorrect.data import PromptCounts
from pcorrect.errors import DataError, PcorrectError
from pcorrect.planning.costs import budget, log_usage
from pcorrect.planning.variances import Variances
from pcorrect.result import Fit

MU = st.floats(0.05, 0.95)
SHARE = st.floats(0.1, 0.95)
COST = st.floats(0, 50)


def assumed(mu: float, share: float) -> Variances:
    return Variances.assume(mu, share * np.sqrt(mu * (1 - mu)), 100)


@given(mu=MU, share=SHARE, cost=COST, total=st.floats(300, 5000))
def test_no_design_within_the_budget_is_better(
    mu: float, share: float, cost: float, total: float
) -> None:
    found = assumed(mu, share)
    plan = budget(found, total=total, cost_prompt=cost)
    b, w = found.between[0], found.within[0]
    listed = min(
        (b + w / k) / n
        for k in range(1, 400)
        for n in [int(total / (cost + k) * (1 + 1e-12))]
        if n >= 2
    )
    assert plan.n * (cost + plan.k) <= total * (1 + 1e-9)
    assert (b + w / plan.k) / plan.n == pytest.approx(listed, rel=1e-12)
    assert plan.se.value == pytest.approx(np.sqrt(listed), rel=1e-12)


@given(mu=MU, share=SHARE, cost=COST, half_width=st.floats(0.02, 0.2))
def test_no_design_of_the_wanted_width_is_cheaper(
    mu: float, share: float, cost: float, half_width: float
) -> None:
    found = assumed(mu, share)
    plan = budget(found, half_width=half_width, cost_prompt=cost)
    b, w = found.between[0], found.within[0]

    def excess(n: int, k: int) -> float:
        return float(stdtrit(n - 1, 0.975) * np.sqrt((b + w / k) / n)) / half_width - 1

    assert excess(plan.n, plan.k) < 1e-6
    for k in range(1, 200):
        # the largest number of prompts that would be cheaper than the plan at this k
        n = int(np.ceil(plan.cost / (cost + k) - 1e-9)) - 1
        assert n < 2 or excess(n, k) > 0, (n, k, plan.n, plan.k)


@given(mu=MU, share=SHARE, cost=st.floats(0.5, 50))
def test_closed_form_is_where_the_search_ends_up(mu: float, share: float, cost: float) -> None:
    """With a budget so large that whole prompts do not matter, k is k* rounded one way or other."""
    plan = budget(assumed(mu, share), total=1e9, cost_prompt=cost)
    best = plan.k_best.value
    assert plan.k in {max(1, int(np.floor(best))), int(np.ceil(best))}


def test_free_prompts_mean_one_generation_each() -> None:
    plan = budget(assumed(0.6, 0.5), total=500)
    assert (plan.n, plan.k, plan.k_best.value) == (500, 1, 0.0)


def test_prompts_at_hand_limit_the_plan() -> None:
    plan = budget(assumed(0.6, 0.5), total=1000, max_prompts=198)
    assert (plan.n, plan.k) == (198, 5)
    assert plan.limited
    with pytest.raises(PcorrectError, match=r"no k gives a half-width of 0\.01 with 198 prompts"):
        budget(assumed(0.6, 0.5), half_width=0.01, max_prompts=198)


def test_whole_curve(spiky_fit: Fit) -> None:
    plan = budget(spiky_fit, total=2000, cost_prompt=4)
    assert np.all(plan.costs <= 2000 * (1 + 1e-9))
    assert plan.ns[0] == 400
    chosen = int(np.flatnonzero(plan.ks == plan.k)[0])
    assert plan.ses[1, chosen] <= plan.ses[1].min() * 1.001
    assert plan.se.lower < plan.se.value < plan.se.upper
    assert plan.k_best.lower < plan.k_best.value < plan.k_best.upper
    data = plan.to_dataset()
    assert data.attrs["best_k"] == plan.k
    assert data["se_mu"].dims == ("bound", "k")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"total": 100, "half_width": 0.1},
        {"total": -1},
        {"half_width": 0.0},
        {"total": 100, "cost_prompt": -1},
        {"total": 100, "cost_generation": 0},
        {"total": 100, "max_prompts": 1},
        {"total": 1.5},
    ],
)
def test_impossible_budgets(options: dict[str, float]) -> None:
    with pytest.raises(PcorrectError):
        budget(assumed(0.6, 0.5), **options)  # type: ignore[arg-type]


def test_data_without_the_split_have_no_plan() -> None:
    with pytest.raises(PcorrectError, match="k = 1 everywhere"):
        budget(PromptCounts.from_arrays([1, 0, 1], 1), total=100)


def sample(tokens: object, **more: object) -> dict[str, object]:
    usage = {} if tokens is None else {"a/b": {"input_tokens": 1, "total_tokens": tokens}}
    return {"id": "q", "epoch": 1, "model_usage": usage} | more


def test_usage_of_both_kinds_of_log(tmp_path: Path) -> None:
    log = {"eval": {}, "samples": [sample(30, working_time=2.0), sample(50, total_time=4)]}
    one = tmp_path / "one.json"
    one.write_text(json.dumps(log))
    two = tmp_path / "two.eval"
    with zipfile.ZipFile(two, "w") as archive:
        archive.writestr("header.json", "{}")
        archive.writestr("summaries.json", json.dumps([sample(70), sample(None)]))
    table = tmp_path / "table.csv"
    table.write_text("prompt,correct\nq,1\n")
    found = log_usage([one, two, table, tmp_path / "*.eval"])
    assert (found.tokens, found.seconds, found.n_generations) == (50.0, 3.0, 3)
    assert found.cost("tokens") == 50.0
    assert log_usage([two]).n_generations == 1
    with pytest.raises(DataError, match="no seconds"):
        log_usage([two]).cost("seconds")


def test_no_usage(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("prompt,correct\nq,1\n")
    other = tmp_path / "list.json"
    other.write_text("[1, 2]")
    with pytest.raises(DataError, match="no usage"):
        log_usage([table, other])
    other.write_text("{")
    with pytest.raises(DataError, match="not JSON"):
        log_usage([other])


def test_usage_of_real_logs(shared: Path) -> None:
    folder = shared / "data" / "logs" / "generated" / "inspect"
    for kind in ("eval", "json"):
        found = log_usage(sorted((folder / kind).iterdir()))
        assert found.n_generations == 400
        assert 20 < found.tokens < 40
        assert 0.1 < found.seconds < 2
