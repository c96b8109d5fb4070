"""Rows of results, small and made up; and texts that nobody should trust."""

from typing import Any

# What people and harnesses put into ids, names and answers, and attackers might.
HOSTILE = [
    "<script>window.hacked = 1</script>",
    "</script><img src=x onerror='window.hacked = 1'>",
    "<!-- <script>",
    "]]>\"'&lt;",
    "half \ud800 surrogate",
    "\u202eright to left",
    "bell \x07 and nul \x00",
    "javascript:window.hacked=1",
    "{{7*7}} ${7*7}",
    "y" * 100_000,
]


def results(llms: int = 2, prompts: int = 24, k: int = 4) -> list[dict[str, Any]]:
    """Rows of results whose outcome differs by llm and prompt."""
    rows = []
    for m in range(llms):
        for i in range(prompts):
            for j in range(k):
                correct = int((7 * i + 3 * j + 5 * m) % 11 < 6 - 2 * m + i % 3)
                rows.append(
                    {
                        "llm": f"llm-{m}",
                        "benchmark": "quiz",
                        "prompt": f"q{i:02d}",
                        "generation": j + 1,
                        "correct": correct,
                        "answer": "0" if correct else str(1 + (i + j) % 2),
                        "target": "0",
                    }
                )
    return rows


def frame(rows: list[dict[str, Any]]) -> Any:
    """Rows as a data frame."""
    import pandas as pd

    return pd.DataFrame(rows)
