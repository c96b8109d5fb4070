"""What is one answer and what is two: a catalogue, and the shared cases."""

import json

import pytest

from pcorrect.consistency import equivalence, latex
from pcorrect.consistency.clusters import cluster
from pcorrect.consistency.equivalence import cascade

SAME = {
    "thousands": ["1,000", "1000", "1000.0", "$1000$", "1e3", "1\u2009000", "１０００", "1 000"],
    "more thousands": ["12,345,678", "12 345 678", "12_345_678", "12345678", "1.2345678e7"],
    "latex thousands": ["11,\\!111", "11{,}111", "11\\,111", "11111"],
    "scripts": ["1000", "١٠٠٠", "१०००", "１０００"],
    "powers of ten": ["1000", "10^3", "10^{3}", "1 \\times 10^{3}", "1×10^3"],
    "fractions": ["1/2", "0.5", ".5", "\\frac{1}{2}", "$\\dfrac12$", "\\boxed{\\frac{1}{2}}"],
    "mixed": ["1 1/2", "1\\frac{1}{2}", "3/2", "1.5"],
    "signs": ["-5", "−5", "–5", "-5.0", "-\\frac{10}{2}"],
    "leading zeros": ["007", "7", "7."],
    "zeros of decimals": ["0.50", ".5", "0.5", "00.5"],
    "units": ["5 cm", "5cm", "5.0 cm", "$5\\text{ cm}$"],
    "powers of units": ["5 cm²", "5 cm^2", "5 cm2", "5 cm^{2}", "5 \\text{ cm}^2"],
    "powers": ["x²", "x^2", "x^{2}"],
    "negative powers": ["10⁻³", "10^-3", "10^{-3}", "0.001"],
    "typeset fractions": ["½", "1/2", "\\frac12"],
    "typeset mixed numbers": ["3½", "3 ½", "3 1/2", "3.5"],
    "typeset fractions with units": ["-2¾ cm", "-2.75 cm"],
    "percent": ["28%", "28 %", "28\\%", "28 percent"],
    "degrees": ["90°", "90^\\circ", "90^{\\circ}", "90 degrees"],
    "dollars": ["$5", "$5.00", "\\$5", "5 dollars", "$\\$5$", "$\\$5.00$"],
    "complex": ["-3.0 - 3.0i", "-3-3i", "-3 - 3 i"],
    "choice": ["a", "A", "(A)", "A.", "A)", "**A**", "Answer: A", "\\text{(A)}", "Option A", '"A"'],
    "boxed": ["42", "\\boxed{42}", "$\\boxed{42}$", "The final answer is 42.", "**42**"],
    "words": ["Paris", "paris", "PARIS.", " Paris ", "Paris\u200b", "“Paris”", "`Paris`"],
    "no": ["No", "no", "NO", "No."],
    "composed": ["résumé", "re\u0301sume\u0301"],
    "spaces": ["x = 5", "x=5", "$x = 5$"],
    "tuple": ["(1, 2)", "(1,2)", "\\left(1, 2\\right)"],
    "roots": ["\\sqrt{2}", "\\sqrt2", "\\sqrt 2", "√2", "sqrt(2)"],
    "longer roots": ["\\sqrt{12}", "√12", "sqrt(12)"],
    "matrices": [
        "\\begin{pmatrix}1&2\\\\3&\\frac{1}{2}\\end{pmatrix}",
        "$\\begin{pmatrix} 1 & 2 \\\\ 3 & \\frac12 \\\\\n\\end{pmatrix}$",
    ],
    "fenced json": ['{"a": 1}', '```json\n{"a": 1}\n```', '```\n{"a": 1}\n```'],
    "fenced list": ["[1, 2, 3]", "```python\n[1, 2, 3]\n```", "```json\n[1,\n 2, 3]\n```"],
    "json": ['{"a": [1, 2]}', "{'a': [1,2]}"],
    "code": [
        "def f(x):\n  return x+1",
        "```python\ndef f(x):\n    # one more\n    return x + 1\n```",
    ],
}
DIFFERENT = [
    ("1000", "1001"),
    ("28%", "28"),
    ("28", "0.28"),
    ("1.000,5", "1000.5"),
    ("1.000.000", "1000000"),
    ("5 cm", "5"),
    ("5 MPa", "5 mPa"),
    ("$5", "5"),
    ("1, 2", "2"),
    ("1, 2", "12"),
    ("1,2", "1.2"),
    ("(1, 2)", "[1, 2]"),
    ("十", "10"),
    ("²", "2"),
    ("x²", "x2"),
    ("5x²", "5x2"),
    ("x½", "x1/2"),
    ("2^½", "2^1/2"),
    ("about ½ of it", "about1/2 of it"),
    ("0101", "101"),
    ("0101", "00101"),
    ("\\sqrt12", "\\sqrt{12}"),
    ("\\begin{pmatrix}1&2\\end{pmatrix}", "\\begin{pmatrix}1\\\\2\\end{pmatrix}"),
    ("\\begin{pmatrix}1&2\\end{pmatrix}", "\\begin{bmatrix}1&2\\end{bmatrix}"),
    ("0.333", "1/3"),
    ("2021-01-05", "2021"),
    ("None", "Nothing"),
    ("NA", "N/A"),
    ("NA", "null"),
    ("nan", "NA"),
    ("A", "The"),
    ("A", "B"),
    ("the Paris", "Paris"),
    ("CO", "Co"),
    ("NaCl", "sodium chloride"),
    ("yes", "no"),
    ("x = \ud835", "x = \udc00"),
    (".", ","),
    ("def f(x):\n  return x+1", "def f(x):\n  return x+2"),
    ("1e999999999", "1e999999998"),
    ("9" * 5000, "9" * 4999),
]


@pytest.mark.parametrize("texts", SAME.values(), ids=SAME)
def test_one_answer(texts):
    assert cluster(texts).sizes == (len(texts),), [cascade(text) for text in texts]


@pytest.mark.parametrize("texts", DIFFERENT, ids=lambda pair: ascii(pair)[:40])
def test_two_answers(texts):
    assert cluster(texts).sizes == (1, 1)


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u200b", "\ufeff", "\u00a0", None])
def test_empty(text):
    assert cascade(text) == equivalence.EMPTY


@pytest.mark.parametrize("text", [".", "...", '"', "$", "$$", "**", "``", "_", "()", "\\boxed{}"])
def test_clean_up_never_loses_an_answer(text):
    assert cascade(text).rule != "empty"
    assert cascade(text).value


@pytest.mark.parametrize(
    "text",
    [
        *["\\frac{1}{", "\\sqrt{", "{{{", "\\boxed{", "1/0", "\\frac{1}{0}", "(" * 3000, "[" * 300],
        *["1e" + "9" * 12, "1" * 100_000, "十", "²", "\ud835", "½", "∞", "0x1F", "1_", "-", "--5"],
    ],
    ids=lambda text: ascii(text)[:20],
)
def test_odd_texts_are_read_without_an_error(text):
    assert cascade(text) == cascade(text)
    latex.plain(text)


def test_decimal_comma():
    assert cluster(["1.000,5", "1000,5", "1 000,50"], decimal=",").sizes == (3,)
    assert cluster(["1.000,5", "1000.5"], decimal=",").sizes == (1, 1)


def test_the_rule_is_stated():
    found = cluster(["1,000", "1000", "A", "a", "Paris", "Paris", ""])
    reasons = {cluster.text: cluster.reason for cluster in found.clusters}
    assert reasons == {
        "1000": "same number and unit",
        "A": "same choice letter",
        "Paris": "identical texts",
        "": "no answer",
    }


def prompts(path):
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found.setdefault(row["prompt_id"], []).append(row["answer"])
    return found


def test_case_46(shared):
    found = {k: cluster(v).sizes for k, v in prompts(shared / "cases/46/answers.jsonl").items()}
    assert found == {"q1": (7, 1), "q2": (2,), "q3": (1, 1, 1), "q4": (1, 1, 1), "q5": (1, 1)}


def test_case_48(shared):
    found = {k: cluster(v) for k, v in prompts(shared / "cases/48/answers.jsonl").items()}
    sizes = {name: clusters.sizes for name, clusters in found.items()}
    assert sizes["mc"] == (3, 1)
    assert sizes["case"] == (4,)
    assert sizes["empty"] == (3, 1)
    assert found["empty"].no_answer == 3
    assert sizes["tie"] == (2, 2)
    assert found["tie"].tie
    assert not found["mc"].tie
    assert sizes["all5"] == (1,) * 5
    assert sizes["same"] == (5,)


def test_numbers_of_thousands_of_digits():
    huge = "[0x" + "f" * 4000 + "]"
    assert len(cluster([huge, "[1]", huge, f"return ({huge})"]).label) == 4
