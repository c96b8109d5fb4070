"""The answer that is taken out of a response."""

import time

import pytest

from pcorrect.consistency import extraction
from pcorrect.consistency.clusters import cluster


@pytest.mark.parametrize(
    ("response", "how", "answer"),
    [
        ("So we get\n\\boxed{\\frac{1}{2}} which is it.", "auto", "\\frac{1}{2}"),
        ("First \\boxed{3}, no: \\boxed{4}", "auto", "4"),
        ("long text\n#### 42", "auto", "42"),
        ("Think.\n**Answer:** B) Paris", "auto", "B) Paris"),
        ("Think.\n**Answer:** B) Paris", "letter", "B"),
        ("The answer is (C).", "letter", "C"),
        ("It must be C", "letter", "C"),
        ("A dog is an animal, so: D", "letter", "D"),
        ("It costs $1,234.50 in all", "number", "1,234.50"),
        ("The answer is: 12 apples, not 15", "number", "12"),
        ("nothing of the kind", "auto", "nothing of the kind"),
        ("nothing of the kind", "number", "nothing of the kind"),
        ("\\boxed{1} and so on", "none", "\\boxed{1} and so on"),
        ("", "auto", ""),
        ("\\boxed{", "auto", "\\boxed{"),
    ],
)
def test_extraction(response, how, answer):
    assert extraction.extract_answer(response, how) == answer


def test_extraction_only_from_responses():
    raw = ["Let us think step by step about this prompt.\nThe answer is 5."] * 3
    assert extraction.is_raw(raw)
    assert not extraction.is_raw(["5", "6", "Answer: 7"])
    assert not extraction.is_raw(["a long text without any mark " * 5] * 3)
    assert extraction.kind_of(["A", "B", "(C)"]) == "letter"
    assert extraction.kind_of(["12", "1,000"]) == "number"
    assert extraction.kind_of(["Paris", "12"]) == "auto"
    with pytest.raises(ValueError, match="extract must be one of"):
        extraction.extract_answer("x", "telepathy")


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        ("(A) and (C) look plausible. The answer is B because (C) contradicts it.", "B"),
        ("Answer: B; it cannot be (C)", "B"),
        ("So the correct answer is option B because (C) is too small", "B"),
        ("The answer is J because (A) is wrong", "J"),
        ("The answer is A because (B) is wrong", "A"),
        ("The answer is B, not A.", "B"),
        ("The answer is B!  (A) is false", "B"),
        ("The answer is B/C", "B"),
        ("The answer is **B**. Not (C).", "B"),
        ("The answer is $\\boxed{\\textbf{(B) }5}$, not (C)", "B"),
        ("The answer is therefore (D).", "D"),
        ("The answer is most likely B, not C", "B"),
        ("The answer is (b) since (C) is wrong", "B"),
        ("The answer is `B`, not (C)", "B"),
        ("The answer is: \n\nB", "B"),
        ("The answer is B.\n#### Explanation\n(A) is wrong", "B"),
        ("The answer is A dog.\n(B) is a cat", "A dog."),
        ("The answer is I think B", "B"),
    ],
)
def test_letter_of_a_marked_answer(response, letter):
    assert extraction.extract_answer(response, "letter") == letter


@pytest.mark.parametrize(
    ("response", "number"),
    [
        ("\\boxed{\\frac{7}{2}}", "3.5"),
        ("\\boxed{-\\frac{7}{3}}", "-7/3"),
        ("\\boxed{10^{5}}", "100000"),
        ("\\boxed{1{,}000}", "1000"),
        ("\\boxed{12\\,345}", "12345"),
        ("\\boxed{12 \\text{ cm}^2}", "12"),
        ("\\boxed{5\\text{cm}}", "5"),
        ("\\boxed{{180}}", "180"),
        ("\\boxed{3\\sqrt{2} \\text{ cm}}", "3\\sqrt{2} \\text{ cm}"),
        ("\\boxed{x = 5}", "5"),
        ("\\boxed{3+4i}", "3 + 4i"),
        ("\\boxed{11\\sqrt{2}}", "11\\sqrt{2}"),
        ("\\boxed{5!}", "5!"),
        ("The answer is −5", "-5"),
        ("The answer is – 5", "-5"),
        ("The answer is - 5.", "-5"),
        ("The answer is −$5", "-5"),
        ("The answer is ５２", "52"),
        ("The answer is .5", "0.5"),
        ("The answer is 1 000", "1000"),
        ("The answer is 3 1/2", "3.5"),
        ("The answer is 3 x 10^5", "300000"),
        ("The answer is 28%, not 28", "28%"),
        ("The answer is $18.50 per day", "18.5"),
        ("The answer is 18 because 9*2=18 and 3 left", "18"),
        ("The answer is 18 dollars for 7 days", "18"),
        ("The answer is $9*2 = 18$ dollars.", "18"),
        ("The answer is **18**.", "18"),
        ("The answer is 18!", "18"),
        ("**The answer is 18**.", "18"),
        ("It takes 3 steps ... #### 1003", "1003"),
        ("First 3, then $\\frac{7}{2}$", "7/2"),
        ("We get 10 - 5 = 5", "5"),
        ("It falls to −5", "-5"),
        ("So:\n- 18 apples", "18"),
    ],
)
def test_number_of_a_response(response, number):
    found = extraction.extract_answer(response, "number")
    assert cluster([found, number]).sizes == (2,), found


def test_nothing_marked_is_looked_for_elsewhere():
    response = "The answer is five.\nThat was step 7"
    assert extraction.extract_answer(response, "number") == "five."


@pytest.mark.parametrize("part", ["= ", "\\frac{", "answer is ", "#### ", "1 ", "1,", "10 x"])
def test_long_responses_take_no_time(part):
    start = time.process_time()
    for how in ("letter", "number", "auto"):
        assert extraction.extract_answer("The answer is " + part * 20_000, how)
    assert time.process_time() - start < 20
