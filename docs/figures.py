"""The pictures in the README: one llm of the SmolLM2 quiz, and how often intervals are right.

Run from the repository: ``uv run python docs/figures.py``. Writes ``docs/images/*.png``.
"""

import io
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import pcorrect

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "examples" / "smollm2" / "results.csv.gz"
COVERAGE = ROOT / "benchmarks" / "accuracy" / "results" / "coverage.csv"
IMAGES = ROOT / "docs" / "images"
# Inches of each half, and dots per inch.
SIZE, DPI = (4.4, 3.2), 140


def pixels(collection) -> np.ndarray:
    """A plot on a white ground, for light pages and dark ones."""
    file = io.BytesIO()
    collection.get_viz("figure").savefig(file, dpi=DPI, facecolor="white")
    file.seek(0)
    return plt.imread(file)


def smollm2() -> np.ndarray:
    """Density of P(correct), and standard error against k."""
    result = pcorrect.fit(RESULTS, llm="smollm2-135m-t0.7")
    halves = [
        pixels(plot(result, figsize=SIZE))
        for plot in (pcorrect.plot_density, pcorrect.plot_precision)
    ]
    between = np.ones((halves[0].shape[0], 30, halves[0].shape[2]))
    picture = np.concatenate([halves[0], between, halves[1]], axis=1)
    return np.pad(picture, [(20, 20), (20, 20), (0, 0)], constant_values=1.0)


METHODS = {
    "dp_beta": "pcorrect's default",
    "beta": "hierarchical Beta",
    "t": "mean over prompts, t",
    "pooled": "pooled binomial",
    "wilson_items": "Wilson on prompts",
    "independent": "Beta(1, 1) per prompt",
}
KINDS = {"smooth": "#0072b2", "spiky": "#d55e00", "real": "#009e73"}


def coverage(table: pd.DataFrame) -> Figure:
    """A stroke for each population, n and k of ``coverage.csv``."""
    fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
    for ax, estimand in zip(axes, ("mu", "score"), strict=True):
        ax.axvline(0.95, color="#999999", lw=1)
        for i, method in enumerate(METHODS):
            for j, (kind, colour) in enumerate(KINDS.items()):
                of = table.method.eq(method) & table.estimand.eq(estimand) & table.kind.eq(kind)
                y = [i + 0.22 * (j - 1)] * int(of.sum())
                label = None if i else kind
                ax.plot(table.coverage[of], y, "|", color=colour, ms=7, mew=1.2, label=label)
        about = "new prompts like these" if estimand == "mu" else "exactly these prompts"
        ax.set_title(f"{estimand}: {about}", loc="left", fontsize="medium")
        ax.set(xlim=(-0.02, 1.02), xlabel="how often the 95 % interval holds the truth")
        ax.set_yticks(range(len(METHODS)), METHODS.values())
    axes[0].invert_yaxis()
    handles = axes[1].get_legend_handles_labels()
    fig.legend(*handles, title="population", loc="outside lower center", ncols=3, frameon=False)
    return fig


def main() -> None:
    """Draw them all."""
    plt.switch_backend("agg")
    IMAGES.mkdir(exist_ok=True)
    plt.imsave(IMAGES / "smollm2.png", smollm2())
    picture = coverage(pd.read_csv(COVERAGE))
    picture.savefig(IMAGES / "coverage.png", dpi=DPI, facecolor="white")


if __name__ == "__main__":
    main()
