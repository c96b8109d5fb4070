"""Extract and mark the short answers in the raw answers of SmolLM2 (standard library only).

    python marking.py                # mark the stored raw answers again, after a change below
    python marking.py pilot     # those in another folder

``generate.py`` marks what it generates with the same functions.
"""

import csv
import gzip
import io
import re
import sys
import unicodedata
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULTS = ("results.csv.gz", "greedy.csv.gz")
NUMBER = re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?")
NUMBER_WORDS = re.findall(r"\w+", "zero one two three four five six seven eight nine ten")

type Row = dict[str, str]


@dataclass(frozen=True)
class Question:
    """One row of ``questions.csv``; ``accepted`` holds its normalised target and aliases."""

    prompt_id: str
    text: str
    target: str
    accepted: frozenset[str]


def read_questions(path: Path = HERE / "questions.csv") -> dict[str, Question]:
    """The questions by prompt id, in the order of the file."""
    questions = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            texts = [row["target"], *row["aliases"].split("|")]
            accepted = frozenset(normalise(text) for text in texts if text)
            question = Question(row["prompt_id"], row["question"], row["target"], accepted)
            questions[question.prompt_id] = question
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

    If the target is a number: the first number (digits, or a word from zero to ten) after the
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


def read_rows(path: Path) -> list[Row]:
    with gzip.open(path, "rt", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


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
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    questions = read_questions()
    for path in (folder / name for name in RESULTS):
        write_rows([mark(row, questions[row["prompt_id"]]) for row in read_rows(path)], path)


if __name__ == "__main__":
    main()
