"""Clusters are a partition, the same for every order, and dear functions are asked rarely."""

import csv
import importlib.util
import itertools
import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pcorrect.consistency.clusters import cluster, cluster_many
from pcorrect.errors import PcorrectError

TEXTS = st.one_of(
    st.none(),
    st.sampled_from(
        ["A", "a", "(A)", "1000", "1,000", "1e3", "", " ", "Paris", "paris", "½", "x=1"]
    ),
    st.text(max_size=8),
)


def content(found):
    return [(c.text, c.size, dict(c.texts), c.rule) for c in found.clusters]


@given(st.lists(TEXTS, min_size=1, max_size=12), st.randoms())
def test_order_does_not_matter(answers, random):
    found = cluster(answers)
    order = list(range(len(answers)))
    random.shuffle(order)
    shuffled = cluster([answers[i] for i in order])
    assert content(found) == content(shuffled)
    assert [found.label[i] for i in order] == shuffled.label.tolist()


@given(st.lists(TEXTS, min_size=1, max_size=12))
def test_partition(answers):
    found = cluster(answers)
    assert sum(found.sizes) == len(answers)
    assert np.bincount(found.label).tolist() == list(found.sizes)
    assert list(found.sizes) == sorted(found.sizes, reverse=True)
    for text in answers:
        labels = {int(x) for x, other in zip(found.label, answers, strict=True) if other == text}
        assert len(labels) == 1
    finer = cluster(answers, equivalence="exact")
    assert all(len(set(found.label[finer.label == h].tolist())) == 1 for h in range(len(finer))), (
        "identical texts were told apart"
    )


@given(
    st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=20),
    st.sets(st.tuples(st.sampled_from("abcdefg"), st.sampled_from("abcdefg"))),
    st.randoms(),
)
def test_function_gives_connected_components(answers, pairs, random):
    calls = []

    def same(a, b):
        calls.append(frozenset((a, b)))
        return (a, b) in pairs

    found = cluster(answers, equivalence=same)
    assert max(Counter(calls).values(), default=0) <= 1
    assert found.calls == len(calls)
    # Reference: repeated passes over all pairs, in the order in which they are asked about.
    block = {text: {text} for text in answers}
    for _ in block:
        for a, b in itertools.combinations(sorted(block), 2):
            if (a, b) in pairs:
                joined = block[a] | block[b]
                for text in joined:
                    block[text] = joined
    expected = Counter(frozenset(block[text]) for text in answers)
    assert sorted(found.sizes) == sorted(expected.values())
    random.shuffle(answers)
    assert content(cluster(answers, equivalence=same)) == content(found)


def test_directed_asks_both_ways():
    holds = {("a", "b"), ("b", "a"), ("b", "c")}
    calls = []

    def implies(a, b):
        calls.append((a, b))
        return (a, b) in holds

    assert cluster("abc", equivalence=implies, directed=True).sizes == (2, 1)
    assert len(calls) == len(set(calls)) <= 6


def test_function_after_the_rules_sees_one_text_of_each_group():
    seen = set()

    def same(a, b):
        seen.update((a, b))
        return {a, b} == {"1000", "a thousand"}

    found = cluster(["1,000", "1000", "1000", "a thousand", "7"], equivalence=("auto", same))
    assert found.sizes == (4, 1)
    assert found.clusters[0].reason == "the caller's function"
    assert seen == {"1000", "a thousand", "7"}


def test_case_49(shared):
    with (shared / "cases/49/pairs.csv").open() as file:
        equal = {
            frozenset((row["left"], row["right"]))
            for row in csv.DictReader(file)
            if row["equivalent"] == "1"
        }
    for order in itertools.permutations("abc"):
        found = cluster(order, equivalence=lambda a, b: frozenset((a, b)) in equal)
        assert found.sizes == (3,)
    lines = (shared / "cases/49/counts.jsonl").read_text().splitlines()
    answers = [json.loads(line)["answer"] for line in lines]
    found = cluster(answers, equivalence=lambda a, b: False)
    assert found.sizes == (40, 20, 4)
    assert found.calls == 3


def test_no_answer_is_never_asked_about():
    found = cluster(["", None, " ", "x", "y"], equivalence=lambda a, b: "" in (a, b))
    assert found.sizes == (3, 1, 1)
    assert found.no_answer == 3
    assert len(found.answered) == 2


@pytest.mark.parametrize(
    ("answers", "options", "message"),
    [
        (["a", "b"], {"equivalence": lambda a, b: 0.7}, "True or False"),
        (["a", "b"], {"equivalence": "embedding"}, "equivalence must be"),
        (["a", 5], {}, "texts or None"),
        (["a"], {"decimal": ";"}, "decimal must be"),
    ],
)
def test_mistakes_are_explained(answers, options, message):
    with pytest.raises(PcorrectError, match=message):
        cluster(answers, **options)


def test_not_a_number_is_missing():
    assert cluster([float("nan"), None, ""]).sizes == (3,)


def test_no_answers_at_all():
    assert cluster([]).sizes == ()
    assert cluster_many([]) == []


MATH = importlib.util.find_spec("math_verify") is not None


@pytest.mark.skipif(MATH, reason="math-verify is installed")
def test_math_without_the_extra():
    with pytest.raises(PcorrectError, match=r"pcorrect\[math\]"):
        cluster(["1", "2"], equivalence="math")


@pytest.mark.skipif(not MATH, reason="needs the extra pcorrect[math]")
def test_math_merges_expressions_only():
    same = [["\\frac{\\sqrt{3}}{3}", "1/\\sqrt{3}", "sqrt(3)/3"], ["2", "\\sqrt{4}"]]
    same += [["1+x", "x+1"], ["2\\sqrt{2}", "\\sqrt{8}"]]
    apart = ["X+1", "x=5", "y=5", "5", "5 cm", "1, 2", "(1,2)", "\\{1,2\\}", "Paris", "3.14", "π"]
    apart += ["3+4=7", "5+6=11"]
    answers = [text for group in same for text in group] + apart
    found = cluster(answers, equivalence="math")
    assert sorted(found.sizes, reverse=True) == [3, 2, 2, 2] + [1] * len(apart)
    assert found.clusters[0].reason == "equal expressions (math-verify)"
    assert content(cluster(answers[::-1], equivalence="math")) == content(found)
