"""The group of the ArviZ-compatible result, and what logs say that a generation cost."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from pcorrect.data import PromptCounts
from pcorrect.errors import DataError
from pcorrect.fitting import run_fit
from pcorrect.planning import log_usage, planning_group
from pcorrect.planning.variances import Variances


def test_group_fits_into_the_result(spiky: PromptCounts) -> None:
    import xarray as xr

    from pcorrect.posterior import to_datatree

    fit = run_fit(spiky, chains=2, draws=100)
    tree = to_datatree(fit, p_draws=False)
    tree["planning"] = xr.DataTree(planning_group(tree, [1, 8]))
    group = tree["planning"].dataset
    assert group["se_mu"].sizes == {"chain": 2, "draw": 100, "k": 2}
    found = Variances.from_fit(fit)
    np.testing.assert_allclose(group["between"].values.ravel(), found.between)
    np.testing.assert_allclose(
        group["se_mu"].sel(k=8).values.ravel(), np.sqrt((found.between + found.within / 8) / 198)
    )
    np.testing.assert_allclose(
        group["k_near_floor"].values.ravel(), found.within / 0.21 / found.between, rtol=1e-12
    )
    assert group.attrs["k_used"] == 8
    assert planning_group(PromptCounts.from_arrays([1, 0], 1)).attrs["not_identified"]


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
