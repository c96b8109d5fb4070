"""Column names that harnesses and people use, for each of our names."""

from __future__ import annotations

import re

# Our name -> tiers of their names. The first tier with a match decides; two matches inside a tier
# are ambiguous. Names are compared in snake case.
NAMES: dict[str, tuple[str, ...]] = {
    "llm": (
        "llm llm_name",
        "model model_name",
        "model_id model_key language_model llm_id",
        "engine system provider",
    ),
    "benchmark": ("benchmark benchmark_name", "dataset dataset_name task task_name eval eval_name"),
    "prompt": (
        "prompt_id promptid",
        "prompt question_id doc_id problem_id item_id instance_id example_id task_id qid prompt_idx"
        " question_idx problem_idx",
        "sample_id test_id uid id",
        "question problem item idx index",
    ),
    "generation": (
        "generation generation_id generation_idx generation_index gen gen_id gen_idx",
        "epoch run trial trial_id attempt attempt_id repeat repetition replicate rollout"
        " rollout_id iteration epoch_id completion_id completion_idx sample sample_idx"
        " sample_index",
        "iter try seed rep run_id",
    ),
    "correct": (
        "correct is_correct iscorrect correctness",
        "score passed pass is_pass acc accuracy exact_match success resolved",
        "result outcome value grade verdict",
    ),
    "n_correct": (
        "n_correct num_correct number_correct correct_count count_correct n_pass n_passed"
        " num_passed num_pass",
        "c n_success n_successes successes num_success",
    ),
    "n_generations": (
        "n_generations num_generations n_gens n_gen",
        "n n_samples num_samples n_total num_total n_trials num_trials n_attempts n_epochs n_runs",
        "k total trials attempts count epochs runs",
    ),
    "scores": ("scores", "corrects outcomes results grades generations correct_list score_list"),
    "answer": (
        "answer",
        "extracted_answer parsed_answer prediction predicted pred model_answer llm_answer",
        "response output completion generated_text model_output",
    ),
    "target": (
        "target",
        "gold reference ground_truth correct_answer expected expected_answer gold_answer label"
        " target_option reference_answer",
    ),
    "group": ("group group_id", "subtask subject category topic domain subset"),
    "filter": ("filter", "filter_name"),
    "metric": ("metric", "metric_name"),
    "scorer": (
        *("scorer", "scorer_name", "judge_name", "judge_model", "grader_name", "grader_model"),
        *("judge", "grader"),
    ),
}
KEYS = (*NAMES, "generations")
# Where two names fit equally, these are left unused with a note rather than refused: no count
# depends on them.
OPTIONAL = frozenset({"answer", "target", "group"})
# A table may hold every generation once for each of these: one is read.
CHOICES = ("filter", "metric", "scorer")

_RUN = (
    "gen generation run epoch sample trial attempt rep repeat repetition replicate seed try rollout"
    " iter iteration"
).replace(" ", "|")
SCORES = "score|correct|is_correct|passed|result|outcome"
TEXTS = "answer|response|output|completion|prediction|text|extracted_answer"
# One column of a series: gen_1, Run 2, epoch-3, score_4, run_5_correct, answer_6.
SERIES = re.compile(
    rf"(?P<stem>(?:(?:{SCORES}|{TEXTS})_?)?(?:(?:{_RUN})_?)?)(?P<i>\d+)"
    rf"(?:_(?P<tail>{SCORES}|{TEXTS}))?"
)


# What may stand around a name and is no part of it.
OUTSIDE = "\ufeff \t\r\n\"'"


def snake(name: str) -> str:
    """Column name for comparison: no BOM or outer space, snake case."""
    name = name.strip(OUTSIDE)
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[\s.\-#]+", "_", name).lower()
