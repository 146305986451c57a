"""Answers of earlier equal calls. The cache is an index of the stored replies."""

import hashlib
from collections.abc import Collection
from datetime import timedelta

import msgspec
from django.db import connection
from django.db.models.functions import Now

from battles.calls import PlannedCall
from benchmarks.models import Reply, Run
from benchmarks.sql import read_sql

# Finish reasons of whole answers, and of those that reached the maximum length.
REUSABLE = {"stop", "length"}


def answer_key(plan: PlannedCall, repeat: int) -> str:
    """Return the SHA-256, in hex, of all that an answer depends on.

    The model, its endpoint and upstream name, the messages with digests of pictures and the answers of earlier
    turns, the parameters as sent, and the repeat.
    """
    model = plan.model
    content = [model.pk, model.provider.endpoint, model.upstream_name, plan.messages, plan.parameters, repeat]
    return hashlib.sha256(msgspec.json.encode(content, order="deterministic")).hexdigest()


def find_replies(run: Run, keys: Collection[str]) -> dict[str, int]:
    """Return the ids of the place's newest replies by answer key: of the team, or the owner's personal ones."""
    if run.reuse_days is None or not keys or (run.owner_id is None and run.team_id is None):
        return {}
    if run.team_id is not None:
        of_place = Reply.objects.filter(team=run.team_id)
    else:
        of_place = Reply.objects.filter(owner=run.owner_id, team=None)
    replies = of_place.filter(answer_key__in=keys, created_at__gt=Now() - timedelta(days=run.reuse_days))
    return dict(replies.order_by("created_at", "pk").values_list("answer_key", "pk"))


def give_replies(replies: Collection[tuple[int, int, bool]]) -> None:
    """Store (item, reply, whether it is the last turn) of locked items."""
    rows = [{"item_id": item, "reply_id": reply, "is_last": is_last} for item, reply, is_last in replies]
    with connection.cursor() as cursor:
        cursor.execute(read_sql("reuse_replies.sql"), {"replies": msgspec.json.encode(rows).decode()})
