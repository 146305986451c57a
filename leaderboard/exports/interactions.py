"""The interaction log as rows of an export, for staff: it names persons."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

import msgspec
from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone

from battles.models import Call
from common.payload_types import JsonObject
from common.tables.table import Table
from common.text.money import plain_decimal
from models_registry.models import TEAM_SEPARATOR

# Small, as for conversations: the texts may be long.
BATCH = 200
_ANSWER, _TURN, _BATTLE = "answer", "answer__turn", "answer__turn__battle"
_FIELDS = {
    "call": "pk",
    "started_at": "started_at",
    "model": "model__slug",
    "model_team": "model__team__slug",
    "provider": "model__provider__name",
    "mode": f"{_BATTLE}__mode",
    "session": f"{_BATTLE}__session__public_id",
    "battle": f"{_BATTLE}__public_id",
    "turn": f"{_TURN}__index",
    "side": f"{_ANSWER}__side__position",
    "purpose": "purpose",
    "attempt": "attempt",
    "state": "state",
    "error": "error",
    "finish": "finish_reason",
    "first_token_ms": "first_token_ms",
    "total_ms": "total_ms",
    "prompt_tokens": "prompt_tokens",
    "completion_tokens": "completion_tokens",
    "reasoning_tokens": "reasoning_tokens",
    "tokens_estimated": "tokens_estimated",
    "cost": "cost",
    "user": f"{_BATTLE}__session__owner_user",
    "visitor": f"{_BATTLE}__session__owner_visitor",
    "team": f"{_BATTLE}__session__team",
    "stars": f"{_ANSWER}__stars",
    "vote": f"{_BATTLE}__vote__choice",
    "excluded_reason": f"{_BATTLE}__vote__excluded_reason",
    "after_vote": f"{_TURN}__after_vote",
    "request": "request",
    "prompt": f"{_TURN}__prompt",
    "answer": f"{_ANSWER}__public_id",
    "shown_call": f"{_ANSWER}__call",
    "text": f"{_ANSWER}__text",
    "reasoning": f"{_ANSWER}__reasoning",
}


class InteractionRow(msgspec.Struct, frozen=True, kw_only=True):
    """Request to a model. `mode` is the call's purpose without a battle, `vote` null after it.

    person: Actor.key of the session's owner. text, reasoning, stars: null for an attempt that another one replaced.
    """

    call: int
    started_at: datetime
    model: str
    provider: str
    mode: str
    session: str | None
    battle: str | None
    turn: int | None
    side: str | None
    answer: str | None
    person: str | None
    attempt: int
    state: str
    error: str | None
    finish: str | None
    first_token_ms: int | None
    total_ms: int | None
    prompt_tokens: int | None
    completion_tokens: int | None
    reasoning_tokens: int | None
    tokens_estimated: bool
    cost: str | None
    stars: int | None
    vote: str | None
    excluded_reason: str | None
    request: JsonObject
    prompt: str | None
    text: str | None
    reasoning: str | None


def _cells(row: InteractionRow) -> tuple[object, ...]:
    cells = msgspec.structs.asdict(row)
    return tuple({**cells, "request": msgspec.json.encode(row.request).decode()}.values())


@dataclass(frozen=True)
class InteractionExport:
    """Rows of the log, and the file's name without suffix."""

    calls: QuerySet[Call]
    name = "interactions"
    table = Table(InteractionRow.__struct_fields__, {}, _cells)

    def batches(self) -> Iterator[list[InteractionRow]]:
        """Yield rows with one query for each batch. Calls that start later are left out."""
        calls = self.calls.filter(started_at__lte=timezone.now()).order_by("started_at", "pk")
        rest = calls
        while batch := list(rest.values_list(*_FIELDS.values())[:BATCH]):
            cells = [dict(zip(_FIELDS, row, strict=True)) for row in batch]
            at, last = cells[-1]["started_at"], cells[-1]["call"]
            # The first condition is redundant, but lets PostgreSQL use the index.
            rest = calls.filter(started_at__gte=at).filter(Q(started_at__gt=at) | Q(pk__gt=last))
            yield [_row(row) for row in cells]


def _row(cells: JsonObject) -> InteractionRow:
    user, visitor, purpose = cells.pop("user"), cells.pop("visitor"), cells.pop("purpose")
    person = f"user:{user}" if user else f"visitor:{visitor}" if visitor else None
    if cells.pop("after_vote"):
        cells |= {"vote": None, "excluded_reason": None}
    if (model_team := cells.pop("model_team")) is not None:
        cells["model"] = f"{model_team}{TEAM_SEPARATOR}{cells['model']}"
    if cells.pop("team") is not None and not settings.ARENA_OPERATORS_READ_TEAMS:
        cells |= {"prompt": None, "text": None, "reasoning": None}
    if cells.pop("shown_call") != cells["call"]:
        cells |= {"text": None, "reasoning": None, "stars": None}
    return InteractionRow(
        **{
            **cells,
            "person": person,
            "mode": cells["mode"] or purpose,
            "error": cells["error"] or None,
            "finish": cells["finish"] or None,
            "excluded_reason": cells["excluded_reason"] or None,
            "cost": None if cells["cost"] is None else plain_decimal(cells["cost"]),
        }
    )
