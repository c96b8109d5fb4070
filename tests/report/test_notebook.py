"""Rich display in notebooks."""

import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

import pcorrect
from pcorrect.errors import DataError
from pcorrect.report import notebook


@pytest.fixture(scope="module")
def tree():
    counts = pcorrect.PromptCounts.from_arrays([3, 8, 0, 5], 8, llm="<b>llm</b>", benchmark="quiz")
    return pcorrect.fit(counts, model="beta_bernoulli", draws=50)


class Formatter:
    def __init__(self):
        self.known = {}

    def for_type_by_name(self, module, name, function):
        self.known[module, name] = function


def same(one, other):
    """Equal but for the identifiers that xarray draws anew each time."""
    drawn = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    return re.sub(drawn, "", one) == re.sub(drawn, "", other)


def shell():
    return SimpleNamespace(display_formatter=SimpleNamespace(formatters={"text/html": Formatter()}))


def test_a_result_shows_the_summary_and_the_tree(tree):
    html = notebook.result_html(tree)
    table = pcorrect.summary(tree)
    for name in ("mu", "score", "sigma", "rho"):
        assert f">{name}</th>" in html
        assert f"{table.loc[name, 'mean']:.4g}" in html
    assert "eti_95_lower" in html
    assert "&lt;b&gt;llm&lt;/b&gt;" in html
    assert "<details><summary>DataTree</summary>" in html


def test_interval_is_passed_on(tree):
    assert "hdi_80_lower" in notebook.result_html(tree, ci_prob=0.8, ci_kind="hdi")


def test_other_trees_are_refused_or_left_to_xarray():
    import xarray as xr

    other = xr.DataTree.from_dict({"/a": xr.Dataset({"x": 1})})
    with pytest.raises(DataError):
        notebook.result_html(other)
    assert same(notebook._show(other), other._repr_html_())


def test_registers_by_name(tree):
    found = shell()
    assert notebook.register(found)
    known = found.display_formatter.formatters["text/html"].known
    shown = known["xarray.core.datatree", "DataTree"](tree)
    assert same(shown, notebook.result_html(tree))
    # the name has to be that of the class, or IPython never finds it
    assert (type(tree).__module__, "DataTree") in known


def test_a_part_of_a_result_is_left_to_xarray(tree):
    part = tree.copy()
    del part["marginal"]
    assert same(notebook._show(part), part._repr_html_())


def test_the_first_name_that_is_used_in_ipython_registers(monkeypatch, tree):
    found = shell()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: found))
    assert pcorrect.fit
    assert ("xarray.core.datatree", "DataTree") in found.display_formatter.formatters[
        "text/html"
    ].known


def test_registering_imports_nothing_heavy():
    code = (
        "import sys; from pcorrect.report.notebook import register; assert not register();"
        "print(*sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"xarray", "pandas", "arviz", "matplotlib"} & set(run.stdout.split())
