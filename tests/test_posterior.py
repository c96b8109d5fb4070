"""The result: ArviZ schema, save and load, and every ArviZ function that the docs name."""

import os

import arviz as az
import matplotlib as mpl
import numpy as np
import pytest

import pcorrect
from pcorrect import DataError, PcorrectError, PromptCounts, fit, load, save, summary
from pcorrect.api import _prior_population
from pcorrect.fitting import run_fit
from pcorrect.posterior import from_datatree
from pcorrect.priors import Priors

mpl.use("agg")


@pytest.fixture(scope="module")
def result():
    counts = PromptCounts.from_arrays(
        np.repeat(np.arange(9), [24, 14, 14, 7, 6, 21, 49, 49, 14]),
        8,
        llm="an llm",
        benchmark="a benchmark",
    )
    return fit(
        counts,
        model="beta_bernoulli",
        posterior_predictive=True,
        log_likelihood=True,
        draws=500,
        seed=3,
    )


def test_groups_and_dimensions(result):
    posterior = result["posterior"]
    assert dict(posterior.sizes) == {"chain": 4, "draw": 500, "prompt": 198}
    assert set(posterior.data_vars) == {"mu", "score", "sigma", "rho", "p"}
    assert result["observed_data"]["n_correct"].dims == ("prompt",)
    assert result["constant_data"]["n_generations"].values.tolist() == [8] * 198
    assert result["posterior_predictive"]["n_correct"].dims == ("chain", "draw", "prompt")
    assert result.attrs["inference_library"] == "pcorrect"
    assert result.attrs["draws"] == "independent"
    assert result.attrs["seed"] == 3


def test_draws_are_consistent(result):
    posterior = result["posterior"].dataset
    rho = posterior["sigma"] ** 2 / (posterior["mu"] * (1 - posterior["mu"]))
    np.testing.assert_allclose(posterior["rho"], rho)
    # p given s = 8 of 8 is above p given s = 0
    mean = posterior["p"].mean(("chain", "draw")).values
    assert mean[-1] > 0.85
    assert mean[0] < 0.2
    predicted = result["posterior_predictive"]["n_correct"]
    assert int(predicted.min()) >= 0
    assert int(predicted.max()) <= 8


def test_log_likelihood_is_that_of_the_count(result):
    from scipy.stats import betabinom

    posterior = result["posterior"].dataset.isel(chain=1, draw=7)
    nu = float(1 / posterior["rho"] - 1)
    a, b = float(posterior["mu"]) * nu, (1 - float(posterior["mu"])) * nu
    expected = betabinom.logpmf(result["observed_data"]["n_correct"].values, 8, a, b)
    got = result["log_likelihood"]["n_correct"].isel(chain=1, draw=7).values
    np.testing.assert_allclose(got, expected, rtol=1e-9)


@pytest.mark.parametrize("name", ["out.nc", "out.zarr"])
def test_saved_and_loaded_tell_the_same(result, tmp_path, name):
    path = tmp_path / name
    save(result, path)
    save(result, path)  # overwriting is atomic too
    back = load(path)
    assert [p.name for p in tmp_path.iterdir()] == [name]
    for var_names in (None, "p"):
        one, two = (summary(tree, var_names=var_names) for tree in (result, back))
        assert one.equals(two)
    assert from_datatree(back).counts.llm == "an llm"
    np.testing.assert_array_equal(back["posterior"]["p"], result["posterior"]["p"])


def test_errors_of_save_and_load(result, tmp_path):
    with pytest.raises(DataError, match="no file"):
        load(tmp_path / "absent.nc")
    text = tmp_path / "text.nc"
    text.write_text("mu = 3")
    with pytest.raises(DataError, match="not a netCDF or zarr file"):
        load(text)
    other = tmp_path / "other.nc"
    result["posterior"].dataset[["mu"]].to_netcdf(other, engine="h5netcdf")
    with pytest.raises(DataError, match="not a result"):
        load(other)
    with pytest.raises(PcorrectError, match="cannot write"):
        save(result, tmp_path / "no" / "such" / "folder.nc")


@pytest.mark.parametrize("kind", ["folder", "file", "link"])
def test_what_is_no_store_is_not_replaced(result, tmp_path, kind):
    path, kept = tmp_path / "out.zarr", tmp_path / "kept.txt"
    if kind == "folder":
        path.mkdir()
        kept = path / "kept.txt"
    kept.write_text("x")
    if kind == "file":
        path.write_text("x")
    elif kind == "link":
        (tmp_path / "folder").mkdir()
        path.symlink_to(tmp_path / "folder")
    with pytest.raises(PcorrectError, match="not a zarr store"):
        save(result, path)
    assert kept.read_text() == "x"
    with pytest.raises(PcorrectError, match="a directory"):
        save(result, tmp_path)


def test_a_store_is_there_until_the_new_one_is(result, tmp_path, monkeypatch):
    path = tmp_path / "out.zarr"
    save(result, path)
    replace = os.replace

    def fail(source, target):
        if str(target) == str(path) and os.path.basename(source) == path.name:
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(PcorrectError, match="No space left"):
        save(result, path)
    assert load(path).attrs["llm"] == "an llm"
    assert [p.name for p in tmp_path.iterdir()] == ["out.zarr"]


def test_summary_states_kind_and_level(result):
    table = summary(result, ci_prob=0.9, ci_kind="hdi")
    assert list(table.columns[:4]) == ["mean", "sd", "hdi_90_lower", "hdi_90_upper"]
    assert list(table.index) == ["mu", "score", "sigma", "rho"]
    eti = summary(result)
    draws = result["posterior"]["mu"].values
    # values, not labels: close to the draws, but from the weights
    assert eti.loc["mu", "eti_95_lower"] == pytest.approx(np.quantile(draws, 0.025), abs=0.004)
    assert eti.loc["mu", "about"] == "new prompts like these"
    assert eti.loc["score", "about"] == "exactly these prompts"
    rows = summary(result, var_names=["mu", "p"])
    assert len(rows) == 199
    assert rows.loc["p[0]", "about"] == "0 of 8 correct"
    with pytest.raises(PcorrectError, match="no variable 'x'"):
        summary(result, var_names="x")


def test_prompt_intervals_of_both_kinds(result):
    eti, hdi = (summary(result, var_names="p", ci_kind=kind) for kind in ("eti", "hdi"))
    draws = result["posterior"]["p"].values.reshape(2000, 198)
    inside = (draws >= hdi["hdi_95_lower"].values) & (draws <= hdi["hdi_95_upper"].values)
    assert inside.mean() == pytest.approx(0.95, abs=0.005)
    # prompt 0 has none of 8 correct: both reach to 0, and the equal-tailed keeps its other bound
    assert hdi["hdi_95_lower"].iloc[0] == eti["eti_95_lower"].iloc[0] == 0
    upper = np.quantile(draws[:, 0], 0.975)
    assert eti["eti_95_upper"].iloc[0] == pytest.approx(upper, abs=0.02)
    assert hdi["hdi_95_upper"].iloc[0] < upper


def test_unidentified_parameters_have_no_numbers():
    tree = fit(PromptCounts.from_arrays([1, 0, 1, 1], 1), model="beta_bernoulli", draws=50)
    table = summary(tree)
    assert np.isnan(table.loc[["sigma", "rho"], "mean"]).all()
    assert "not identified" in table.loc["sigma", "about"]
    assert np.isfinite(table.loc["mu", "mean"])


def test_draws_of_p_are_left_out_where_they_are_too_many():
    counts = PromptCounts.from_arrays(np.arange(300) % 9, 8)
    tree = fit(counts, model="beta_bernoulli", draws=100, p_draws=False)
    assert "p" not in tree["posterior"]
    assert len(summary(tree, var_names="p")) == 300


def test_lone_surrogates_are_escaped(tmp_path):
    counts = PromptCounts.from_arrays([1, 2], 2, prompt=["x\ud835", "x\udc00"])
    tree = fit(counts, model="beta_bernoulli", draws=50)
    save(tree, tmp_path / "a.nc")
    assert load(tmp_path / "a.nc")["posterior"]["prompt"].values.tolist() == [
        "x\\ud835",
        "x\\udc00",
    ]


class TestArviz:
    def test_summary(self, result):
        table = az.summary(result, var_names=["mu", "sigma"], kind="stats")
        assert len(table) == 2

    def test_diagnostics(self, result):
        assert float(az.rhat(result, var_names=["mu"])["mu"]) < 1.01
        assert float(az.ess(result, var_names=["mu"])["mu"]) > 1000

    def test_loo(self, result):
        loo = az.loo(result)
        assert loo.elpd < 0
        assert loo.p < 5

    @pytest.mark.parametrize(
        "plot",
        [
            lambda tree: az.plot_forest(tree, var_names=["mu", "score"]),
            lambda tree: az.plot_dist(tree, var_names=["mu", "sigma"]),
            lambda tree: az.plot_ppc_rootogram(tree),
            lambda tree: az.plot_trace_dist(tree, var_names=["mu"]),
            lambda tree: az.plot_rank(tree, var_names=["mu"]),
            lambda tree: az.plot_pair(tree, var_names=["mu", "sigma"]),
        ],
        ids=["forest", "dist", "rootogram", "trace_dist", "rank", "pair"],
    )
    def test_plots(self, result, plot):
        import matplotlib.pyplot as plt

        assert plot(result) is not None
        plt.close("all")


@pytest.mark.parametrize("model", ["dp_beta", "beta_bernoulli"])
def test_prior_predictive_follows_the_prior(model):
    tree = pcorrect.prior_predictive([8] * 5, model=model, draws=4000, seed=1)
    mu = tree["prior"]["mu"].values
    # five standard errors around the moments of a uniform
    assert abs(mu.mean() - 0.5) < 5 / np.sqrt(12 * 4000)
    assert abs(mu.var() - 1 / 12) < 0.012
    assert tree["prior"]["rho"].values.max() <= 1 + 1e-9
    counts = tree["prior_predictive"]["n_correct"].values
    assert counts.shape == (1, 4000, 5)
    # the marginal of s under a uniform mean is not uniform, but symmetric
    assert abs(counts.mean() - 4) < 0.2
    assert az.plot_ppc_rootogram is not None
    with pytest.raises(PcorrectError, match="knows the models"):
        pcorrect.prior_predictive([8], model="other")


@pytest.mark.parametrize("alpha", [1.0, 5.0, 50.0])
def test_prior_of_the_dirichlet_process(alpha):
    # chance that two prompts share an atom, of 32 broken sticks: a closed form
    priors = Priors(alpha=(alpha, alpha * (1 + 1e-9)))
    found = _prior_population(priors, 20_000, 32, np.random.default_rng(3))
    same = np.sum(found.weight**2, axis=1)
    expected = (1 - (alpha / (alpha + 2)) ** 32) / (1 + alpha)
    assert same.mean() == pytest.approx(expected, abs=5 * same.std() / np.sqrt(20_000))
    np.testing.assert_allclose(found.beta_weight + found.weight.sum(axis=1), 1)
    assert abs(found.mean().mean() - 0.5) < 5 / np.sqrt(8 * 20_000)


def test_scores_of_many_prompts_follow_the_exact_marginal():
    """Near an end the mean of p_i is skew, and draws must not pile up at the end itself."""
    counts = PromptCounts.from_arrays(np.full(1001, 4), 4)
    fit = run_fit(counts, model="beta_bernoulli")
    draws, exact = fit.draws["score"].ravel(), fit.marginals["score"]
    below = [np.mean(draws <= exact.quantile(q)) for q in (0.1, 0.25, 0.5, 0.75)]
    # 4 standard errors of 2000 draws; normal draws that are cut at 1 have .61 below the median
    np.testing.assert_allclose(below, [0.1, 0.25, 0.5, 0.75], atol=4 * 0.5 / np.sqrt(2000))


def test_fit_all_leaves_out_what_has_no_score(tmp_path):
    table = tmp_path / "blank.csv"
    table.write_text("llm,prompt,correct\na,q1,1\nb,q1,\na,q2,0\n")
    with pytest.warns(UserWarning, match="no scored generation: .'b on benchmark'"):
        results = pcorrect.fit_all(table, model="beta_bernoulli", draws=50)
    assert list(results) == [("a", "benchmark")]
    table.write_text("llm,prompt,correct\nb,q1,\n")
    with pytest.raises(PcorrectError, match="no scored generation"), pytest.warns(match="b on"):
        pcorrect.fit_all(table)


def test_fit_all_and_choices(tmp_path):
    table = tmp_path / "two.csv"
    table.write_text("llm,prompt,n_correct,n_generations\na,q1,3,8\na,q2,8,8\nb,q1,0,8\nb,q2,1,8\n")
    results = pcorrect.fit_all(table, model="beta_bernoulli", draws=50)
    assert [llm for llm, _ in results] == ["a", "b"]
    with pytest.raises(pcorrect.ChoiceError, match="several llms") as caught:
        fit(table)
    assert caught.value.options == ["a", "b"]
    one = fit(table, llm="b", model="beta_bernoulli", draws=50)
    assert one.attrs["llm"] == "b"
    with pytest.raises(pcorrect.ChoiceError, match="'c'"):
        fit(table, llm="c")


def test_names_that_files_cannot_hold(tmp_path):
    counts = PromptCounts.from_arrays([1, 2], 3, llm="a\0b", prompt=["q\0", "r"])
    result = fit(counts, model="beta_bernoulli", draws=20)
    for name in ("nul.nc", "nul.zarr"):
        save(result, tmp_path / name)
        again = load(tmp_path / name)
        assert again.attrs["llm"] == "a\\x00b"
        assert again["posterior"]["prompt"].values.tolist() == ["q\\x00", "r"]


def test_prompts_without_generations_have_no_likelihood():
    counts = PromptCounts.from_arrays([1, 0, 3, 2, 4], [4, 0, 4, 4, 4])
    result = fit(counts, model="beta_bernoulli", log_likelihood=True)
    assert result["log_likelihood"]["n_correct"].sizes["prompt"] == 4
    assert np.isfinite(az.loo(result).elpd)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"log_liklihood": True}, "log_liklihood"),
        ({"llm": "nope"}, "no llm 'nope'"),
        ({"benchmark": "zz"}, "no benchmark 'zz'"),
    ],
)
def test_options_that_mean_nothing_are_refused(options, match, tmp_path):
    with pytest.raises(PcorrectError, match=match):
        fit(PromptCounts.from_arrays([1, 2], 3), **options)
    table = tmp_path / "x.csv"
    table.write_text("prompt,correct\na,1\n")
    with pytest.raises(PcorrectError, match="filters"):
        pcorrect.fit_all(table, filters="x")


def test_prompts_without_generations_are_in_no_prediction(tmp_path):
    """az.loo_pit and the like join observed data, predictions and likelihoods by prompt."""
    counts = PromptCounts.from_arrays([3, 0, 8, 5, 1, 7], [8, 0, 8, 8, 8, 8], prompt=list("abcdef"))
    result = fit(counts, posterior_predictive=True, log_likelihood=True)
    for group in ("observed_data", "posterior_predictive", "log_likelihood"):
        assert list(result[group]["prompt"].values) == list("acdef")
    assert np.isfinite(az.loo_pit(result)["n_correct"]).all()
    save(result, tmp_path / "x.nc")
    again = load(tmp_path / "x.nc")
    assert list(again["posterior"]["prompt"].values) == list("abcdef")
    assert summary(again, var_names="p").shape == (6, summary(result, var_names="p").shape[1])
