"""The whole command on a small file against the bare import of PyMC: ratio of wall-clock times.

uv run python benchmarks/speed/start.py [--repeats 7]

Writes ``results/start.csv``.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pcorrect.files import write_text

TABLE = "prompt,n_correct,n_generations\n" + "".join(f"q{i},{i % 9},8\n" for i in range(100))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "counts.csv"
        table.write_text(TABLE)
        commands = {
            "pcorrect fit": [sys.executable, "-m", "pcorrect", "fit", str(table)],
            "pcorrect fit --model beta_bernoulli": [
                *[sys.executable, "-m", "pcorrect", "fit", str(table)],
                *["--model", "beta_bernoulli"],
            ],
            "import pcorrect": [sys.executable, "-c", "import pcorrect"],
            "import pymc": [sys.executable, "-c", "import pymc"],
        }
        seconds: dict[str, list[float]] = {name: [] for name in commands}
        for i in range(args.repeats + 1):
            # in turn, so that a busy machine is busy for all of them; the first round warms up
            for name, command in commands.items():
                start = time.perf_counter()
                subprocess.run(command, check=True, capture_output=True)
                if i:
                    seconds[name].append(time.perf_counter() - start)
    base = statistics.median(seconds["import pymc"])
    rows = ["what,seconds,times_faster_than_import_pymc"]
    for name, values in seconds.items():
        median = statistics.median(values)
        rows.append(f"{name},{median:.3g},{base / median:.3g}")
    write_text(Path(__file__).parent / "results" / "start.csv", "\n".join(rows) + "\n")
    for name, values in seconds.items():
        median = statistics.median(values)
        print(f"{name:<40}{median:>7.2f} s  {base / median:>6.1f} x faster than import pymc")


if __name__ == "__main__":
    main()
