"""Samples of inspect-ai's logs."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import zip_longest

import msgspec

from battles.prompting.messages import with_system_prompt
from benchmarks.exports.run_export import RunExport
from benchmarks.models import Case, Entrant, ItemReply, RenderedPrompt, RunItem
from benchmarks.statistics.headers import SCORE
from benchmarks.statistics.rows import WRONG_ERRORS, ItemRow
from common.payload_types import JsonObject

_ENDED = {"answered", "scored", "failed"}
_STOPS = {"stop": "stop", "length": "max_tokens", "tool_calls": "tool_calls", "content_filter": "content_filter"}


def model_of(entrant: Entrant) -> str:
    return entrant.model.full_slug if entrant.model else entrant.imported


def read_samples(export: RunExport, entrant: Entrant, rows: Sequence[ItemRow]) -> Iterator[JsonObject]:
    """Yield EvalSample of the items that ended. Without contents, texts are empty."""
    keys = {row.case_key for row in rows}
    cases = {case.key: case for case in Case.objects.filter(version=export.run.version_id, key__in=keys)}
    prompts: dict[int, RenderedPrompt] = {}
    replies: dict[tuple[int, int], list[str]] = {}
    if export.with_contents:
        rendered = RenderedPrompt.objects.filter(prompt=entrant.prompt_id, case__in=cases.values())
        prompts = {prompt.case_id: prompt for prompt in rendered}
        replies = _replies(entrant, cases.values())
    for row in rows:
        if row.state in _ENDED:
            case = cases[row.case_key]
            sample = _sample(row, entrant) | {"input": "", "target": ""}
            if export.with_contents:
                texts = replies.get((case.pk, row.repeat), [])
                sample |= _contents(case, prompts.get(case.pk), entrant, texts)
                sample["metadata"] |= case.metadata
            yield sample


def _replies(entrant: Entrant, cases: Collection[Case]) -> dict[tuple[int, int], list[str]]:
    """Return texts of all turns by case and repeat."""
    texts: dict[tuple[int, int], list[str]] = defaultdict(list)
    stored = ItemReply.objects.filter(item__in=RunItem.objects.filter(entrant=entrant, case__in=cases))
    columns = stored.order_by("item", "turn").values_list("item__case", "item__repeat", "reply__text")
    for case_id, repeat, text in columns:
        texts[case_id, repeat].append(text)
    return texts


def _contents(case: Case, prompt: RenderedPrompt | None, entrant: Entrant, replies: Sequence[str]) -> JsonObject:
    prompt_messages = prompt.messages if prompt else []
    messages = with_system_prompt(entrant.model, prompt_messages) if entrant.model else list(prompt_messages)
    for reply, follow_up in zip_longest(replies, (prompt.turns if prompt else [])[: max(0, len(replies) - 1)]):
        messages.append({"role": "assistant", "content": reply})
        if follow_up is not None:
            messages.append({"role": "user", "content": follow_up})
    expected = case.expected if isinstance(case.expected, list) else [case.expected]
    target = [value if isinstance(value, str) else msgspec.json.encode(value).decode() for value in expected]
    return {"input": prompt_messages, "target": target[0] if len(target) == 1 else target, "messages": messages}


def _sample(row: ItemRow, entrant: Entrant) -> JsonObject:
    model = model_of(entrant)
    usage = {"input_tokens": row.prompt_tokens or 0, "output_tokens": row.completion_tokens or 0}
    usage |= {"total_tokens": sum(usage.values())}
    answer = {"role": "assistant", "content": row.reply_text, "model": model, "source": "generate"}
    output: JsonObject = {
        "model": model, "choices": [{"message": answer, "stop_reason": _STOPS.get(row.finish, "unknown")}],
        "usage": {**usage, "reasoning_tokens": row.reasoning_tokens, "total_cost": row.cost},
        "time": row.total_ms / 1_000 if row.total_ms is not None else None,
    }  # fmt: skip
    sample: JsonObject = {
        "id": row.case_key, "epoch": row.repeat + 1, "output": output, "scores": _scores(row),
        "metadata": {
            "tags": row.tags, "cluster": row.cluster, "weight": row.case_weight, "attempts": row.attempts,
            "reused": row.reused, "first_token_ms": row.first_token_ms,
        },
        "started_at": row.started_at, "total_time": output["time"],
    }  # fmt: skip
    if row.error in WRONG_ERRORS:  # an error of the model is an answer: inspect leaves errors out of its means
        output["error"] = row.error
    elif row.error:
        sample["error"] = {"message": row.error, "traceback": "", "traceback_ansi": ""}
    return sample


def _scores(row: ItemRow) -> JsonObject:
    scores: JsonObject = {}
    for key, result in row.checks.items():
        if result.value is not None:
            passed = {} if result.passed is None else {"passed": result.passed}
            scores[f"check {key}" if key == SCORE else key] = {"value": result.value, "metadata": passed}
    value = 0.0 if row.error in WRONG_ERRORS else row.score
    if value is not None:
        scores[SCORE] = {"value": value}
    return scores
