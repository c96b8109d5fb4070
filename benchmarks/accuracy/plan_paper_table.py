"""What k = 50 bought over k = 5 and 10 in a published table, and a published series.

The table (mean of 50 generations and its standard error, in %; Zhang, Cai & Chen 2025, arXiv
2502.08943) gives sigma back through the variance formula, so that every other k can be predicted.
The series (30 questions of AIME 2024 at k = 1 to 64) was posted in
github.com/huggingface/lighteval, pull request 661.

    python benchmarks/accuracy/plan_paper_table.py
"""

from __future__ import annotations

import numpy as np
from plan_common import write

from pcorrect.planning import Variances, minimal_k

N = {"MMLU-Pro": 12187, "GSM8K": 1319, "IFEval": 541, "MuSR": 756}
TABLE = {
    "Llama 3.1 8B": [(46.1, 0.39), (85.6, 0.68), (71.1, 1.51), (29.0, 1.00)],
    "Llama 3.1 70B": [(63.4, 0.40), (95.3, 0.45), (80.2, 1.42), (57.9, 1.40)],
    "Qwen 2.5 7B": [(53.0, 0.36), (90.2, 0.65), (71.2, 1.64), (50.9, 0.98)],
    "Ministral 8B": [(36.3, 0.29), (84.9, 0.73), (49.8, 1.65), (50.8, 0.91)],
}
SERIES = {1: 0.0910, 4: 0.0643, 8: 0.0653, 16: 0.0604, 32: 0.0595, 64: 0.0596}


def cell(llm: str, benchmark: str, mean: float, se: float) -> dict[str, object]:
    """Standard errors in % at other k; the published digits as bounds on the minimal k."""
    found = Variances.from_table(mean / 100, se / 100, N[benchmark], 50)
    at = {k: 100 * float(found.se_mu(k)[0]) for k in (1, 5, 10, 50, np.inf)}
    # the standard error was rounded to two decimals: so is sigma, and so is the answer
    ks = [
        minimal_k(Variances.from_table(mean / 100, (se + d) / 100, N[benchmark], 50)).k
        for d in (0.005, 0.0, -0.005)
    ]
    return {
        "llm": llm,
        "benchmark": benchmark,
        "n": N[benchmark],
        "mean": mean,
        "se_1": at[1],
        "se_5": at[5],
        "se_10": at[10],
        "se_50": at[50],
        "floor": at[np.inf],
        "bought_over_5": f"{1 - at[50] / at[5]:.1%}",
        "bought_over_10": f"{1 - at[50] / at[10]:.1%}",
        "above_floor_at_5": f"{at[5] / at[np.inf] - 1:.1%}",
        "minimal_k": ks[1],
        "by_rounding": f"{ks[0]}-{ks[2]}",
    }


def main() -> None:
    write(
        "plan_paper_table",
        [
            cell(llm, benchmark, mean, se)
            for llm, row in TABLE.items()
            for benchmark, (mean, se) in zip(N, row, strict=True)
        ],
    )
    found = Variances.from_table(0.3182, SERIES[64], 30, 64)
    write(
        "plan_series",
        [
            {"k": k, "published": se, "predicted_from_k_64": float(found.se_mu(k)[0])}
            for k, se in SERIES.items()
        ]
        + [{"k": "any", "published": "", "predicted_from_k_64": float(found.se_mu(np.inf)[0])}],
    )


if __name__ == "__main__":
    main()
