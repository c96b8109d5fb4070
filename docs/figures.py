"""The picture in the README: one llm of the SmolLM2 quiz, two error bars.

Run from the repository: ``uv run python docs/figures.py``. Writes ``docs/images/smollm2.png``.
"""

import io
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import pcorrect

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "examples" / "smollm2" / "results.csv.gz"
PICTURE = ROOT / "docs" / "images" / "smollm2.png"
# Inches of each half, and dots per inch.
SIZE, DPI = (4.4, 3.2), 140


def pixels(collection) -> np.ndarray:
    """A plot on a white ground, for light pages and dark ones."""
    file = io.BytesIO()
    collection.get_viz("figure").savefig(file, dpi=DPI, facecolor="white")
    file.seek(0)
    return plt.imread(file)


def main() -> None:
    """Draw both halves and write them as one picture."""
    plt.switch_backend("agg")
    result = pcorrect.fit(RESULTS, llm="smollm2-135m-t0.7")
    halves = [
        pixels(plot(result, figsize=SIZE))
        for plot in (pcorrect.plot_density, pcorrect.plot_precision)
    ]
    between = np.ones((halves[0].shape[0], 30, halves[0].shape[2]))
    picture = np.concatenate([halves[0], between, halves[1]], axis=1)
    border = [(20, 20), (20, 20), (0, 0)]
    PICTURE.parent.mkdir(exist_ok=True)
    plt.imsave(PICTURE, np.pad(picture, border, constant_values=1.0))


if __name__ == "__main__":
    main()
