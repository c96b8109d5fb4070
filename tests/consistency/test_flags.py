"""Flags, tables and the effect on the score, on small results counted by hand and on real ones."""

import csv
import gzip
from dataclasses import replace

import numpy as np
import pytest

from pcorrect.consistency.answers import AnswerRows
from pcorrect.consistency.effect import score_effect
from pcorrect.consistency.flags import flag_prompts
from pcorrect.consistency.grouping import group_answers
from pcorrect.consistency.tables import consistency_table, data_map
from pcorrect.errors import DataError, PcorrectError


def results(*runs, benchmark="b"):
    """AnswerRows from (llm, prompt, answers, target): an answer that equals the target is right."""
    rows = [
        (benchmark, llm, prompt, answer, int(answer == target), target)
        for llm, prompt, answers, target in runs
        for answer in answers
    ]
    columns = [np.array(column, object) for column in zip(*rows, strict=True)]
    columns[4] = columns[4].astype(np.int64)
    return AnswerRows(*columns, group={})


@pytest.fixture
def five():
    """Four llms on 40 prompts; they are right but for prompt 0, where they agree on D."""
    runs = []
    for i in range(40):
        for j in range(4):
            answer = "D" if i == 0 else "ABC"[(i + (i % 9 == j)) % 3]
            runs.append((f"llm{j}", f"q{i}", [answer], "ABC"[i % 3]))
    return results(*runs)


def test_agreement_against_a_key_comes_first(five):
    flags = flag_prompts(five)
    first = flags.prompts[0]
    assert (first.prompt, first.rank, first.key, first.rival) == ("q0", 1, "A", "D")
    assert first.support == 4
    assert first.supporters == ("llm0", "llm1", "llm2", "llm3")
    assert first.consistency == 0.0
    assert first.p_correct == 0.0
    assert first.p_mislabelled > 5 * flags.prompts[1].p_mislabelled
    assert [prompt.rank for prompt in flags] == list(range(1, 41))
    assert {prompt.prompt for prompt in flags} == {f"q{i}" for i in range(40)}


def test_order_of_rows_does_not_matter(five):
    order = np.random.default_rng(0).permutation(len(five.prompt))
    names = ("benchmark", "llm", "prompt", "answer", "correct", "target")
    shuffled = AnswerRows(*(getattr(five, name)[order] for name in names), group={})
    ours = {p.prompt: p for p in flag_prompts(five)}
    for prompt in flag_prompts(shuffled):
        assert prompt.p_mislabelled == pytest.approx(ours[prompt.prompt].p_mislabelled, abs=1e-6)
        assert prompt.rival == ours[prompt.prompt].rival


def test_rule_of_the_paper():
    flags = flag_prompts(
        results(
            ("m", "wrong and sure", ["7"] * 10, "5"),
            ("m", "wrong and unsure", [*"12346789", "7", "7"], "5"),
            ("m", "right", ["5"] * 10, "5"),
            ("m", "mostly wrong", ["7"] * 9 + ["5"], "5"),
            ("m", "silent", [""] * 9 + ["7"], "5"),
        ),
        rule="paper",
    )
    assert [p.prompt for p in flags if p.flagged] == ["wrong and sure", "mostly wrong"]
    assert all(p.p_mislabelled is None for p in flags)
    silent = next(p for p in flags if p.prompt == "silent")
    assert (silent.no_answer, silent.n_answers, silent.consistency) == (9, 1, None)
    effect = score_effect(flags)
    assert (effect.suspects, effect.rekeyed) == (2, 2)
    assert effect.llms[0].score == pytest.approx(1.1 / 5)
    assert effect.llms[0].removed == pytest.approx(1 / 3)
    assert effect.llms[0].rekeyed == pytest.approx(2.9 / 5)


def test_effect_on_ranks():
    runs = []
    for i in range(10):
        for llm in ("a", "b", "c"):
            # c has learned the wrong key of q0 by heart
            answer = "9" if i == 0 and llm != "c" else "5"
            runs.append((llm, f"q{i}", [answer], "5"))
    flags = flag_prompts(results(*runs), rule="paper", p_max=0.5)
    effect = score_effect(flags)
    ranks = {row.llm: (row.rank, row.rank_removed, row.rank_rekeyed) for row in effect.llms}
    assert ranks == {"a": (2, 1, 1), "b": (2, 1, 1), "c": (1, 1, 3)}
    with pytest.raises(PcorrectError, match="threshold needs"):
        score_effect(flags, threshold=0.5)


def test_table_counts():
    table = consistency_table(
        results(
            ("m", "q", ["5", "5.0", "6", "", "7"], "5"),
            ("m", "single", ["5"], "5"),
            ("m", "tie", ["1", "2", "2", "1"], "5"),
            ("m", "none", ["", " "], "5"),
        )
    )
    rows = {row["prompt"]: row for row in table.rows()}
    q = rows["q"]
    assert (q["n_generations"], q["no_answer"], q["clusters"]) == (4, 1, 3)
    assert (q["dominant"], q["dominant_share"], q["dominant_wrong"]) == ("5", 0.5, "6")
    assert q["consistency"] == pytest.approx(-1.0397, abs=1e-4)
    assert q["consistency_lower"] < q["consistency_mean"] < q["consistency_upper"] <= 0
    assert rows["single"]["consistency"] is None
    assert rows["single"]["dominant"] == "5"
    assert rows["tie"]["tie"]
    assert rows["none"]["clusters"] == 0
    assert rows["none"]["consistency"] is None
    assert rows["none"]["dominant"] is None
    assert len(table.to_frame()) == 4


def test_map_of_one_llm_and_of_all():
    data = results(
        *(("m", f"q{i}", ["5"] * 4, "5") for i in range(6)),
        *(("m2", f"q{i}", ["5", "5", "6", "7"], "5") for i in range(6)),
    )
    single = {(r["llm"], r["prompt"]): r for r in data_map(data).rows()}
    assert len(single) == 12
    row = single["m2", "q0"]
    assert (row["n_correct"], row["n_scored"], row["p_hat"]) == (2, 4, 0.5)
    assert 0 <= row["p_lower"] < row["p_mean"] < row["p_upper"] <= 1
    together = list(data_map(data, by="prompt").rows())
    assert len(together) == 6
    assert together[0]["p_hat"] == pytest.approx(0.75)
    assert together[0]["n_generations"] == 8
    assert together[0]["clusters"] == 3
    assert together[0]["p_lower"] < together[0]["p_mean"] < together[0]["p_upper"]


def test_shuffled_options_are_not_compared():
    runs = []
    for i in range(10):
        runs.append(("m1", f"q{i}", ["A", "A", "B"], "A"))
        runs.append(("m2", f"q{i}", ["C", "C", "A"], "C"))
    groups = group_answers(results(*runs))
    assert not groups.comparable
    assert any("differs" in note for note in groups.notes)
    assert groups.n_correct.tolist() == [[2, 2]] * 10
    key = groups.count[groups.row_key]
    assert key.tolist() == [[2, 2]] * 10
    with pytest.raises(PcorrectError, match="cannot be compared"):
        consistency_table(groups, by="prompt")
    flags = flag_prompts(groups)
    assert flags.prompts[0].consistency == pytest.approx(-0.6365, abs=1e-4)


def test_same_key_spelled_differently_is_comparable():
    runs = [("m1", "q", ["5"], "5"), ("m2", "q", ["005"], "005")]
    groups = group_answers(results(*runs))
    assert groups.comparable
    assert groups.row_key.tolist() == [True]


def test_equal_answers_scored_both_ways_are_told():
    data = results(("m", "q", ["5", "5.0", "5.00"], "5"), ("m", "r", ["6"], "6"))
    groups = group_answers(data)
    assert any("some were scored right and some" in note for note in groups.notes)
    assert groups.row_key.all()


def test_raw_responses():
    text = "Let us think about it for a while, step by step.\nThe answer is {}."
    data = results(("m", "q", [text.format("A")] * 2 + [text.format("(B)")], text.format("A")))
    data.target[:] = "A"
    groups = group_answers(data)
    assert groups.row_text.tolist() == ["A", "B"]
    assert any("whole responses" in note for note in groups.notes)
    assert len(group_answers(data, extract="none").row_text) > 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rule": "vote"}, "rule must be"),
        ({"threshold": 0}, "threshold must lie"),
        ({"extract": "magic"}, "extract must be"),
        ({"equivalence": "magic"}, "equivalence must be"),
    ],
)
def test_unknown_choices(five, options, message):
    with pytest.raises(PcorrectError, match=message):
        flag_prompts(five, **options)


def test_counts_have_no_answers(tmp_path):
    table = tmp_path / "counts.csv"
    table.write_text("prompt,n_correct,n_generations\nq1,3,8\n")
    with pytest.raises(DataError, match="answers are needed"):
        flag_prompts(table)
    table.write_text("prompt,generation,correct\nq1,1,1\n")
    with pytest.raises(DataError, match="no generation has an answer"):
        flag_prompts(table)


@pytest.fixture(scope="module")
def mmlu(shared):
    flags = flag_prompts(shared / "data/mmlu_redux_helm_k1.csv.gz")
    with gzip.open(shared / "data/mmlu_redux_labels.csv.gz", "rt", newline="") as file:
        kind = {row["prompt_id"]: row["error_type"] for row in csv.DictReader(file)}
    return flags, np.array([kind[p.prompt] != "ok" for p in flags])


def test_published_label_errors(mmlu):
    flags, bad = mmlu
    hits = np.cumsum(bad) / np.arange(1, len(bad) + 1)
    assert len(flags) == 5700
    assert hits[bad].mean() > 0.32
    assert hits[99] > 0.6
    p = np.array([prompt.p_mislabelled for prompt in flags])
    for low, high in ((0.02, 0.05), (0.2, 0.5), (0.7, 1)):
        here = (p >= low) & (p < high)
        assert p[here].mean() == pytest.approx(bad[here].mean(), abs=0.15)


def test_pooled_rule_of_the_paper(shared):
    # known from a prototype: p = 0 and S >= -.4 flags 156 prompts, 48 % of them listed errors
    path = shared / "data/mmlu_redux_helm_k1.csv.gz"
    flags = flag_prompts(path, rule="paper", p_max=0.0, s_min=-0.4)
    assert 150 <= sum(prompt.flagged for prompt in flags) <= 160


def test_aime_answers(shared):
    table = consistency_table(shared / "data/scorio_aime25_q06_k80.csv.gz")
    (row,) = table.rows()
    assert (row["n_generations"], row["dominant_wrong"]) == (80, "271")


@pytest.mark.parametrize("k", [2, 4, 6, 12])
@pytest.mark.parametrize("target", [True, False])
def test_an_llm_that_always_says_the_same_shows_no_options(k, target):
    """Free answers at temperature 0: 60 wrong ones of 300 are no sign against 60 keys."""
    runs = [
        ("m", f"q{i}", [str(1000 + i + (i % 5 == 0))] * k, str(1000 + i) if target else None)
        for i in range(300)
    ]
    rows = results(*runs)
    if not target:
        right = [int(int(p[1:]) % 5 != 0) for p in rows.prompt]
        rows = replace(rows, correct=np.array(right))
    flags = flag_prompts(rows)
    assert sum(prompt.flagged for prompt in flags.prompts) == 0


def test_free_answers_that_are_all_wrong_and_different():
    runs = [("m", f"q{i}", [f"answer number {i}"], None) for i in range(300)]
    rows = replace(results(*runs), correct=np.zeros(300, np.int64))
    assert not any(prompt.flagged for prompt in flag_prompts(rows).prompts)


def test_prompts_that_nobody_scored_are_no_suspects():
    runs = [(f"llm{j}", f"q{i}", ["B"], None) for i in range(30) for j in range(5)]
    rows = results(*runs)
    correct = np.array([-1 if int(p[1:]) < 3 else 1 for p in rows.prompt])
    flags = flag_prompts(replace(rows, correct=correct))
    by_name = {prompt.prompt: prompt for prompt in flags.prompts}
    for i in range(3):
        assert by_name[f"q{i}"].p_mislabelled is None
        assert not by_name[f"q{i}"].flagged
    assert by_name["q9"].p_mislabelled < 0.1
    assert not any(prompt.flagged for prompt in flag_prompts(flags.groups, rule="paper").prompts)


def test_answers_of_all_llms_are_counted():
    runs = [("a", "q0", ["A"], "A"), ("b", "q0", ["A"] * 30 + ["B"] * 20, "A")]
    runs += [("a", "q1", ["B"], "A"), ("b", "q1", ["B"] * 50, "A")]
    table = data_map(results(*runs), by="prompt")
    assert list(table["n_generations"]) == [51, 51]


def test_nobody_knows_what_others_call_the_rival():
    runs = []
    for i in range(20):
        runs.append(("a", f"q{i}", ["B" if i < 2 else "A"], "A"))
        runs.append(("b", f"q{i}", ["C" if i < 2 else "D"], "D"))
    for row in score_effect(flag_prompts(results(*runs))).llms:
        assert row.score == pytest.approx(0.9)
        assert row.rekeyed is None
        assert row.expected is None


def guessed(seed, llms, k, right, wrong_keys=0, n=100):
    """Answers among four options of llms that are right with this probability."""
    rng = np.random.default_rng(seed)
    runs = []
    for i in range(n):
        truth = int(rng.integers(4))
        key = "ABCD"[(truth + 1) % 4 if i < wrong_keys else truth]
        for j in range(llms):
            miss = rng.random(k) > right
            answers = ["ABCD"[(truth + int(rng.integers(1, 4))) % 4 if m else truth] for m in miss]
            runs.append((f"llm{j}", f"q{i}", answers, key))
    return results(*runs)


@pytest.mark.parametrize(
    ("llms", "k", "right"), [(1, 1, 0.4), (3, 1, 0.3), (1, 4, 0.3), (3, 4, 0.35)]
)
def test_guessing_llms_make_no_suspects(llms, k, right):
    """Every key is right; up to all 100 were suspects while answers had to tell something."""
    for seed in range(3):
        assert sum(p.flagged for p in flag_prompts(guessed(seed, llms, k, right))) <= 5


def test_where_llms_guess_wrong_keys_are_not_told(monkeypatch):
    monkeypatch.setattr("pcorrect.consistency.flags._MOST_FAULTY", 0.05)
    flags = flag_prompts(guessed(1, 3, 1, 0.3))
    assert all(p.p_mislabelled is None for p in flags)
    assert any("cannot be told from guesses" in note for note in flags.notes)
    good = flag_prompts(guessed(1, 3, 4, 0.8, wrong_keys=10))
    suspects = {p.prompt for p in good if p.flagged}
    assert suspects <= {f"q{i}" for i in range(10)}
    assert len(suspects) >= 7


def test_generations_without_a_score_do_not_count_against_the_rival():
    rows = results(
        *(("x", f"q{i}", ["A", "A"], "A") for i in range(20)),
        *(("y", f"q{i}", ["A", "A"], "A") for i in range(20)),
        *((llm, "bad", ["B", "B"], "A") for llm in "xyz"),
        *(("z", f"q{i}", ["A", "A"], "A") for i in range(20)),
    )
    # two more generations of x on the bad prompt that failed: no answer, no score
    lost = [np.array(["b", "b"], object), np.array(["x", "x"], object)]
    lost += [np.array(["bad", "bad"], object), np.array(["", ""], object)]
    lost += [np.array([-1, -1]), np.array(["A", "A"], object)]
    names = ("benchmark", "llm", "prompt", "answer", "correct", "target")
    more = AnswerRows(
        *(np.concatenate([getattr(rows, n), x]) for n, x in zip(names, lost, strict=True)), group={}
    )
    for given in (rows, more):
        effect = score_effect(flag_prompts(given), threshold=0.2)
        assert effect.rekeyed == 1
        assert {x.rekeyed for x in effect.llms} == {1.0}
        assert {x.rank_rekeyed for x in effect.llms} == {1}


@pytest.mark.parametrize("always", ["A", None])
def test_options_shuffled_in_every_generation_are_not_compared(always):
    """The llm says A every time, or the letter after the key: how many contents, nobody knows."""
    following = dict(zip("ABCD", "BCDA", strict=True))
    runs = [
        ("m", f"q{i}", [always or following[key]], key)
        for i in range(10)
        for key in ("ABCD"[(i + g) % 4] for g in range(4))
    ]
    flags = flag_prompts(results(*runs))
    assert all(p.consistency is None and not p.flagged for p in flags)
    assert {p.p_correct for p in flags} == {0.25 if always else 0.0}
    assert any("options shuffled every time" in note for note in flags.notes)
    assert not any("count for the key" in note for note in flags.notes)


def test_answers_may_tell_nothing():
    """Right keys that one guessing llm misses are no sign of a group full of wrong keys."""
    for seed in range(3):
        assert flag_prompts(guessed(seed, 1, 1, 0.4)).rate["b"] < 0.3
