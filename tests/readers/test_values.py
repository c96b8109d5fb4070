"""One vocabulary of scores for every format."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pcorrect.readers.packed import looks_packed, unpack
from pcorrect.readers.values import as_text, judge, parse_score

RIGHT = "C correct Correct CORRECT yes Yes Y y true TRUE True t 1 1.0 1,0 +1 1e0 100% pass PASSED ✓"
WRONG = "I incorrect no N n false FALSE F 0 0.0 0,0 -0 0% fail Failed wrong ✗"
MISSING = ["", "  ", "NA", "n/a", "NaN", "nan", "null", "None", "#N/A", "<NA>"]
NO_SCORE = ["banana", "1 0", "1_0", "inf", "-Infinity", "[1]", '{"a": 1}', "A", "1.0.0", "0x1", "٣"]


@pytest.mark.parametrize("raw", [*RIGHT.split(), " 1 ", "yes\n"])
def test_right(raw):
    assert parse_score(raw) == 1


@pytest.mark.parametrize("raw", WRONG.split())
def test_wrong(raw):
    assert parse_score(raw) == 0


@pytest.mark.parametrize("raw", MISSING)
def test_missing(raw):
    assert parse_score(raw) is None
    assert judge([raw, "1"]).missing == {raw}


@pytest.mark.parametrize("raw", NO_SCORE)
def test_no_score_is_refused_and_never_zero(raw):
    with pytest.raises(ValueError, match="not a score"):
        parse_score(raw)
    assert set(judge([raw, "0", "1"]).bad) == {raw}


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_only_zero_and_one_are_outcomes_without_a_threshold(x):
    verdict = judge([repr(x), "1"])
    assert (repr(x) in verdict.bad) == (x not in (0, 1))


@given(st.floats(0, 1), st.floats(0, 1, exclude_min=True))
def test_threshold(x, threshold):
    verdict = judge([repr(x)], threshold)
    assert verdict.outcome(repr(x)) == int(x >= threshold)


@pytest.mark.parametrize("raw", ["P", "0.5", "partial", "50%"])
def test_partial_credit_needs_a_threshold(raw):
    assert "threshold" in judge([raw]).bad[raw]
    assert judge([raw], 0.5).right == {raw}
    assert judge([raw], 0.51).wrong == {raw}


@pytest.mark.parametrize(
    ("values", "bad"),
    [
        (["0", "100"], []),
        (["0.0", "100.0", "NaN"], []),
        (["0", "1", "100"], ["100"]),
        (["0", "50", "100"], ["50", "100"]),
        (["0", "-1"], ["-1"]),
        (["1", "999"], ["999"]),
        (["100%", "0%"], []),
        (["1", "2"], ["2"]),
    ],
)
def test_scales(values, bad):
    verdict = judge(values)
    assert sorted(verdict.bad) == sorted(bad)
    rescaled = values in (["0", "100"], ["0.0", "100.0", "NaN"])
    assert any("0 and 100" in note for note in verdict.notes) == rescaled


def test_threshold_scale():
    verdict = judge(["0", "70", "100"], 70)
    assert verdict.right == {"70", "100"}
    assert "999" in judge(["999", "1"], 70).bad
    assert "100" in judge(["100", "1"], 0.5).bad
    assert "-1" in judge(["-1"], 0.5).bad


def test_no_answer_is_noted_only_among_letters():
    assert judge(["C", "I", "N"]).notes
    assert judge(["N"]).notes
    assert not judge(["Y", "N"]).notes


def test_objects_as_text():
    values = [True, False, 1, 0.5, None, float("nan"), "x", [1, 0], {"a": 1}]
    assert [as_text(v) for v in values] == [
        "true",
        "false",
        "1",
        "0.5",
        None,
        None,
        "x",
        "[1, 0]",
        '{"a": 1}',
    ]


@pytest.mark.parametrize(
    ("cell", "items"),
    [
        ("[1, 0, 1]", ["1", "0", "1"]),
        ("1;0;1", ["1", "0", "1"]),
        ("1|0|1", ["1", "0", "1"]),
        ("1 | 0", ["1", "0"]),
        ("1,0,1", ["1", "0", "1"]),
        ("1 0 1", ["1", "0", "1"]),
        ("(1, 0)", ["1", "0"]),
        ("[1 0 1]", ["1", "0", "1"]),
        ("[True, False, None]", ["true", "false", None]),
        ('["C", "I"]', ["C", "I"]),
        ("[C, I]", ["C", "I"]),
        ("[true, null]", ["true", None]),
        ("[]", []),
        ("", []),
        ("1", ["1"]),
    ],
)
def test_unpack(cell, items):
    assert unpack(cell) == items


@pytest.mark.parametrize("cell", ["[[1], [0]]", "101", '{"a": 1}', "[{}]"])
def test_unpack_refuses(cell):
    with pytest.raises(ValueError, match=r"list|separator"):
        unpack(cell)


def test_a_decimal_comma_is_not_a_list():
    assert not looks_packed(["1,0", "0,0", "1"])
    assert looks_packed(["1,0", "1,0,1"])
    assert not looks_packed(["C", "I", "", "not attempted"])


@given(st.lists(st.sampled_from([0, 1]), min_size=2), st.sampled_from([";", "|", " | "]))
def test_packing_round_trip(scores, separator):
    cell = separator.join(map(str, scores))
    assert looks_packed([cell])
    assert unpack(cell) == [str(score) for score in scores]
