"""Length and first-token time of each model's answers, by category."""

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from django.db import connection

from common.cache import RefreshedCached
from leaderboard.counting.revealed_calls import RevealCutoff
from models_registry.models import LanguageModel
from routing.sql import read_sql

CALLS_PER_MODEL = 1_000
REFRESH_S = 300
# Label of all calls of a model.
ALL = ""


class CallMedians(NamedTuple):
    """tokens: {label: {model id: median of completion tokens}}; first_token_ms: {model id: median}."""

    tokens: Mapping[str, Mapping[int, float]]
    first_token_ms: Mapping[int, int]


def read_call_medians() -> CallMedians:
    active = LanguageModel.of_every_owner.filter(status=LanguageModel.Status.ACTIVE)
    parameters = {
        "models": list(active.values_list("pk", flat=True)),
        "limit": CALLS_PER_MODEL,
        **RevealCutoff.of_newest_snapshot()._asdict(),
    }
    tokens: dict[str, dict[int, float]] = defaultdict(dict)
    first_token_ms: dict[int, int] = {}
    with connection.cursor() as cursor:
        cursor.execute(read_sql("call_medians.sql"), parameters)
        for model, label, completion_tokens, first_ms in cursor.fetchall():
            if completion_tokens is not None:
                tokens[label][model] = completion_tokens
            if label == ALL and first_ms is not None:
                first_token_ms[model] = round(first_ms)
    return CallMedians(dict(tokens), first_token_ms)


call_medians = RefreshedCached(read_call_medians, ttl_s=REFRESH_S)
