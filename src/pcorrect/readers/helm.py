"""HELM run folders: completions are scored anew, for the statistics keep only the first and best.

What HELM kept is the check: our score of the first completion and the best score have to be the
recorded ones, else the metric is not the one we know and the run is refused.
"""

from __future__ import annotations

import json
import re
import string
from collections.abc import Callable, Mapping
from pathlib import Path

from pcorrect.errors import DataError
from pcorrect.parts import ERROR, Source
from pcorrect.readers.choice import choose
from pcorrect.readers.options import Options
from pcorrect.readers.rows import Rows

Record = Mapping[str, object]
_ARTICLES = re.compile(r"\b(a|an|the)\b")


def _plain(text: str) -> str:
    """Lower case without punctuation, articles and extra space, as HELM normalises."""
    kept = "".join(c for c in text.lower() if c not in string.punctuation)
    return " ".join(_ARTICLES.sub(" ", kept).split())


METRICS: dict[str, Callable[[str, str], bool]] = {
    "exact_match": lambda gold, text: gold.strip() == text.strip(),
    "quasi_exact_match": lambda gold, text: _plain(gold) == _plain(text),
    "prefix_exact_match": lambda gold, text: text.strip().startswith(gold.strip()),
    "quasi_prefix_exact_match": lambda gold, text: _plain(text).startswith(_plain(gold)),
}


def is_helm(document: Record) -> bool:
    """Whether a JSON object is the ``scenario_state.json`` of a run."""
    return "adapter_spec" in document and "request_states" in document


def read_helm(source: Source, path: Path, document: Record, options: Options) -> Rows:
    """Read a run folder by its ``scenario_state.json``.

    Raises
    ------
    ChoiceError
        Several metrics can be scored anew and none was chosen.
    DataError
        None can, or our scores are not those that HELM recorded.
    """
    recorded = _recorded(path.with_name("per_instance_stats.json"))
    names = [m for m in METRICS if any(m in stats for stats in recorded.values())]
    if not names:
        raise DataError(f"{source.name}: no metric of this run says right or wrong ({[*METRICS]})")
    metric = choose(options.metric, names, "metric", source.name)
    spec = _mapping(document["adapter_spec"])
    states = document["request_states"]
    states = [s for s in states if isinstance(s, dict)] if isinstance(states, list) else []
    trials = {state.get("train_trial_index") for state in states}
    rows = Rows(source)
    for state in states:
        instance, result = _mapping(state.get("instance")), _mapping(state.get("result"))
        key = _key(instance.get("id"), state.get("train_trial_index"), instance)
        gold = _gold(instance)
        texts = [str(_mapping(c).get("text", "")) for c in _list(result.get("completions"))]
        mapping = _mapping(state.get("output_mapping"))
        texts = [str(mapping.get(text.strip(), text)) if mapping else text for text in texts]
        scores = [int(bool(text) and any(METRICS[metric](g, text) for g in gold)) for text in texts]
        _agree(scores, recorded.get(key, {}), metric, f"{source.name}: instance {key[0]!r}")
        prompt = rows.prompt(instance.get("id"))
        if prompt is not None:
            prompt += f"/{key[2]}" if key[2] else ""
            prompt += f"/trial{key[1]}" if len(trials) > 1 else ""
        cells = {
            "llm": spec.get("model"),
            "benchmark": path.resolve().parent.name.split(":")[0],
            "prompt": prompt,
            "target": gold[0] if gold else None,
        }
        for i, (score, text) in enumerate(zip(scores, texts, strict=True), 1):
            rows.one(score, {**cells, "generation": i, "answer": text})
        if not texts:
            rows.one(None, {**cells, "generation": 1}, ERROR)
    return rows


def _recorded(path: Path) -> dict[tuple[str, object, str], dict[str, float]]:
    """Recorded statistics of each instance, trial and perturbation."""
    found: dict[tuple[str, object, str], dict[str, float]] = {}
    if not path.exists():
        raise DataError(f"{path}: missing; the run folder is needed as HELM wrote it")
    try:
        records = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: not valid JSON ({error}); was it cut off?") from error
    if not isinstance(records, list):
        raise DataError(f"{path}: a {type(records).__name__}, not the list that HELM writes")
    for number, record in enumerate(records, 1):
        try:
            key = _key(record.get("instance_id"), record.get("train_trial_index"), record)
            stats = found.setdefault(key, {})
            for stat in record["stats"]:
                # Statistics of nothing have a count of 0 and no mean.
                if stat.get("count") and "perturbation" not in stat["name"]:
                    stats[stat["name"]["name"]] = float(stat["mean"])
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise DataError(
                f"{path}: record {number} is not as HELM writes it "
                f"({type(error).__name__}: {error}); the folder is needed as HELM wrote it"
            ) from error
    return found


def _key(name: object, trial: object, holder: Record) -> tuple[str, object, str]:
    perturbation = _mapping(holder.get("perturbation")).get("name", "")
    return str(name), trial, str(perturbation)


def _agree(scores: list[int], recorded: Mapping[str, float], metric: str, where: str) -> None:
    if not scores or metric not in recorded:
        return
    best = recorded.get(f"{metric}@{len(scores)}", max(scores))
    if (scores[0], max(scores)) != (recorded[metric], best):
        raise DataError(
            f"{where}: {metric} scored anew is {scores[0]} (best {max(scores)}), recorded is "
            f"{recorded[metric]:g} (best {best:g}); this run cannot be read"
        )


def _gold(instance: Record) -> list[str]:
    references = [_mapping(r) for r in _list(instance.get("references"))]
    return [
        str(_mapping(r.get("output")).get("text", ""))
        for r in references
        if "correct" in _list(r.get("tags"))
    ]


def _mapping(value: object) -> Record:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
