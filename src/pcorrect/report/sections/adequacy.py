"""Whether the results can be trusted: shape of the population, runs, what decided k."""

from __future__ import annotations

from pcorrect.adequacy.checks import Checks
from pcorrect.fitting import Fit
from pcorrect.plots import words
from pcorrect.plots.data_pictures import runs_picture
from pcorrect.report.chart import chart, density_chart, rootogram
from pcorrect.report.markup import Content, Markup, tag
from pcorrect.report.material import Material
from pcorrect.report.tables import Cell, Column, table

_NAMES = 4
_WORST = {"rejected", "doubtful", "differ", "depends"}


def verdict(material: Material) -> list[Content]:
    """What speaks against the results, and whether the shape could be checked."""
    if len(material.fits) == 1:
        found, fit = material.checks[0], material.fits[0]
        return [[tag("b", "Checks: "), line] for line in _sentences(fit, found)]
    out: list[Content] = []
    shapes = [t.shape.status for t in material.checks if t.shape is not None]
    rejected = [
        material.name(fit)
        for fit, t in zip(material.fits, material.checks, strict=True)
        if t.shape is not None and t.shape.status == "rejected"
    ]
    if rejected:
        out.append(
            [
                tag("b", "Checks: "),
                f"a Beta population is rejected for {len(rejected)} of "
                f"{words.count(len(shapes), material.noun)} "
                f"({words.listed(rejected, _NAMES)}). {_what_then(material.fits[0])}",
            ]
        )
    for text, names in (
        ("generations with the same number form runs that differ by more than chance", _differ),
        ("the number of generations depends on the results", _depend),
    ):
        who = [
            material.name(fit)
            for fit, t in zip(material.fits, material.checks, strict=True)
            if names(t)
        ]
        if who:
            out.append([tag("b", "Checks: "), f"{text}: {words.listed(who, _NAMES)}."])
    return out


def _differ(found: Checks) -> bool:
    return found.runs is not None and found.runs.status == "differ"


def _depend(found: Checks) -> bool:
    return found.stopping.status == "depends"


def _sentences(fit: Fit, found: Checks) -> list[str]:
    """Verdicts of the checks that have something to say."""
    out = []
    if found.shape is not None:
        text = found.shape.verdict
        if found.shape.status in ("rejected", "doubtful"):
            text += f" {_what_then(fit)}"
        out.append(text)
    if found.runs is not None and found.runs.status != "not checked":
        out.append(found.runs.verdict)
    if found.stopping.status != "equal k":
        out.append(found.stopping.verdict)
    return out


def _what_then(fit: Fit) -> str:
    if fit.model == "dp_beta":
        return "The results here come from the model that follows the data instead."
    return f"Model {fit.model} was asked for: the default model does not assume this shape."


def build(material: Material) -> Markup:
    """Table of the checks, and the charts of a few fits."""
    several = len(material.benchmarks) > 1
    columns = [
        Column("llm", number=False),
        *([Column("benchmark", number=False)] if several else []),
        Column("Beta shape", "whether the counts look like a Beta population", number=False),
        Column("p", "calibrated p-value of that check"),
        Column("shift of mu, SE", "mu of a Beta minus the mean of the data, in standard errors"),
        Column("alpha", "posterior median: large where the Beta can be trusted"),
        Column("runs", "whether the k runs of the benchmark agree", number=False),
        Column("p", "of that check"),
        Column("gap, points", "best minus worst run"),
        Column("expected", "of exchangeable generations"),
        Column("k and results", "whether k depends on the results", number=False),
    ]
    rows = [
        _row(fit, found, several) for fit, found in zip(material.fits, material.checks, strict=True)
    ]
    body: list[Content] = [
        tag(
            "p",
            "Error bars rest on assumptions that can be checked: that generations are "
            "exchangeable, that k does not depend on the results, and, for models that assume it, "
            "that P(correct) has the shape of a Beta over prompts.",
        ),
        table(columns, rows, name="checks-table", about="checks"),
    ]
    if material.inline:
        texts = [
            [tag("b", f"{material.name(fit)}: "), line]
            for fit, found in zip(material.fits, material.checks, strict=True)
            for line in _sentences(fit, found)
        ]
        body.append(tag("ul", [tag("li", text) for text in texts]))
        # kind by kind: the llms stand side by side
        charts = [
            *(density_chart(fit, material) for fit in material.fits),
            *(rootogram(fit, material) for fit in material.fits),
            *(
                runs_chart(found, material.name(fit))
                for fit, found in zip(material.fits, material.checks, strict=True)
            ),
        ]
        body.append(tag("div", charts, class_="charts"))
    return tag("div", body)


def runs_chart(found: Checks, name: str) -> Markup | None:
    """How far each run stands out; None where runs cannot be compared."""
    if found.runs is None or found.runs.status == "not checked":
        return None
    return chart(runs_picture(found.runs, name))


def _row(fit: Fit, found: Checks, several: bool) -> list[Cell | Content]:
    cells: list[Cell | Content] = [fit.counts.llm, *([fit.counts.benchmark] if several else [])]
    shape, runs = found.shape, found.runs
    if shape is None:
        cells += ["–"] * 4
    else:
        cells.append(_status(shape.status))
        cells.append(Cell(words.p_value(shape.p_value), shape.p_value))
        cells.append(Cell(words.fixed(shape.shift_se), shape.shift_se))
        # where nothing was checked alpha is its prior
        checked = shape.status != "not checked"
        ends = (shape.alpha, shape.alpha_lower, shape.alpha_upper) if checked else (None,) * 3
        cells.append(Cell(words.number(ends[0], 2), *ends))
    if runs is None or runs.status == "not checked":
        cells += ["not checked" if runs else "–", *["–"] * 3]
    else:
        cells.append(_status(runs.status))
        cells.append(Cell(words.p_value(runs.p_value), runs.p_value))
        cells.append(Cell(words.percent(runs.gap), runs.gap))
        cells.append(Cell(words.percent(runs.gap_expected), runs.gap_expected))
    cells.append(_status(found.stopping.status))
    return cells


def _status(status: str) -> Content:
    if status == "no sign":
        return "nothing found"
    return tag("b", status, class_="c2") if status in _WORST else status
