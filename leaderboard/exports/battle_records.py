"""Battles as records for the operator, each readable without the arena: it names persons."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from decimal import Decimal

import msgspec
from django.db.models import Prefetch, Q, QuerySet
from django.utils import timezone

from battles.models import Answer, Attachment, Battle, Call, ModerationCase, Side, Turn, Vote
from common.text.money import plain_decimal

# Small: the texts may be long.
BATCH = 100
_ORDER = ("created_at", "pk")


class RecordedFile(msgspec.Struct, frozen=True):
    """name: null where the text is."""

    name: str | None
    sha256: str
    media_type: str
    size: int


class RecordedSide(msgspec.Struct, frozen=True):
    """model, name, provider: null while the person must not know them."""

    side: str
    model: str | None
    name: str | None
    provider: str | None


class RecordedAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Facts of the call whose text is shown; cost: US dollars of all calls. Null while the models are hidden."""

    side: str
    state: str
    text: str | None
    reasoning: str | None
    stars: int | None
    error: str | None = None
    finish: str | None = None
    calls: int | None = None
    started_at: datetime | None = None
    first_token_ms: int | None = None
    total_ms: int | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    tokens_estimated: bool | None = None
    cost: str | None = None


class RecordedTurn(msgspec.Struct, frozen=True):
    turn: int
    created_at: datetime
    finished_at: datetime | None
    after_vote: bool
    prompt: str | None
    files: list[RecordedFile]
    warnings: list[str]
    answers: list[RecordedAnswer]


class RecordedVote(msgspec.Struct, frozen=True):
    choice: str
    created_at: datetime
    counts: bool
    excluded_reason: str | None
    categories: list[str]
    language: str
    tags: dict[str, list[str]]
    comment: str | None


class RecordedModeration(msgspec.Struct, frozen=True):
    """case: null without one. rules: categories of the rules that matched. reports: of people, their number."""

    hidden_at: datetime | None
    case: str | None
    decided_at: datetime | None
    rules: list[str]
    reports: int


class BattleRecord(msgspec.Struct, frozen=True, kw_only=True):
    """person: Actor.key of the session's owner. propensity: null while the models are hidden.

    has_texts: false of deleted sessions, and of teams'.
    """

    battle: str
    session: str
    created_at: datetime
    mode: str
    origin: str
    review: str | None
    state: str
    person: str | None
    team: str | None
    language: str
    categories: list[str]
    propensity: float | None
    consent: str | None
    consent_withdrawn_at: datetime | None
    has_texts: bool
    sides: list[RecordedSide]
    turns: list[RecordedTurn]
    vote: RecordedVote | None
    moderation: RecordedModeration


def batches(battles: QuerySet[Battle]) -> Iterator[list[BattleRecord]]:
    """Yield the records in the order of time, with a fixed number of queries each. Later battles are left out."""
    calls = Call.objects.order_by("attempt", "pk").defer("request")
    answers = Answer.objects.select_related("side").defer("html").order_by("side__position")
    turns = Turn.objects.order_by("index").prefetch_related(
        Prefetch("attachments", Attachment.objects.select_related("upload").order_by("position")),
        Prefetch("answers", answers.prefetch_related(Prefetch("calls", calls), "call")),
    )
    sides = Side.objects.select_related("model__provider", "model__team").order_by("position")
    cases = ModerationCase.objects.prefetch_related("verdicts", "reports")
    wanted = battles.filter(created_at__lte=timezone.now()).order_by(*_ORDER).select_related("session__team", "vote")
    wanted = wanted.prefetch_related(
        Prefetch("turns", turns), Prefetch("sides", sides), Prefetch("moderation_case", cases)
    )
    rest = wanted
    while batch := list(rest[:BATCH]):
        last = batch[-1]
        # The first condition is redundant, but lets PostgreSQL use the index.
        after = Q(created_at__gt=last.created_at) | Q(pk__gt=last.pk)
        rest = wanted.filter(created_at__gte=last.created_at).filter(after)
        yield [_record(battle) for battle in batch]


def _record(battle: Battle) -> BattleRecord:
    session = battle.session
    # The answers of a review's void battle may come again.
    is_hidden = battle.hides_names and (battle.is_review or not battle.is_void)
    is_deleted = session.discarded_at is not None or not session.person
    has_texts = not is_deleted and session.is_readable_by_staff
    return BattleRecord(
        battle=battle.public_id,
        session=session.public_id,
        created_at=battle.created_at,
        mode=battle.mode,
        origin=battle.origin,
        review=battle.series or None,
        state="void" if battle.is_void else "voted" if battle.vote_or_none else "open",
        person=None if is_deleted else session.person,
        team=session.team.slug if session.team else None,
        language=battle.language,
        categories=battle.categories,
        propensity=None if is_hidden else battle.propensity,  # it depends on the pair
        consent=battle.consent or None,
        consent_withdrawn_at=battle.consent_withdrawn_at,
        has_texts=has_texts,
        sides=[_side(side, is_hidden=is_hidden) for side in battle.sides.all()],
        turns=[_turn(turn, has_texts=has_texts, is_hidden=is_hidden) for turn in battle.turns.all()],
        vote=_vote(battle.vote_or_none, has_texts=has_texts),
        moderation=_moderation(battle),
    )


def _side(side: Side, *, is_hidden: bool) -> RecordedSide:
    if is_hidden:
        return RecordedSide(side.position, None, None, None)
    return RecordedSide(side.position, side.model.full_slug, side.model.name, side.model.provider.name)


def _turn(turn: Turn, *, has_texts: bool, is_hidden: bool) -> RecordedTurn:
    uploads = [attachment.upload for attachment in turn.attachments.all()]
    return RecordedTurn(
        turn.index,
        turn.created_at,
        None if is_hidden else turn.finished_at,
        turn.after_vote,
        turn.prompt if has_texts else None,
        [
            RecordedFile(upload.name if has_texts else None, upload.sha256, upload.media_type, upload.size)
            for upload in uploads
        ],
        turn.warnings,
        [_answer(answer, has_texts=has_texts, is_hidden=is_hidden) for answer in turn.answers.all()],
    )


def _answer(answer: Answer, *, has_texts: bool, is_hidden: bool) -> RecordedAnswer:
    of_person = RecordedAnswer(
        side=answer.side.position,
        state=answer.state,
        text=answer.text if has_texts else None,
        reasoning=answer.reasoning if has_texts and not is_hidden else None,
        stars=answer.stars,
    )
    # A review's answers are stored ones: their call is another's.
    calls: Sequence[Call] = list(answer.calls.all()) or [call for call in (answer.call,) if call]
    if is_hidden or not calls:
        return of_person
    shown = answer.call or calls[-1]
    costs = [call.cost for call in calls if call.cost is not None]
    return msgspec.structs.replace(
        of_person,
        error=answer.error or shown.error or None,
        finish=shown.finish_reason or None,
        calls=len(calls),
        started_at=shown.started_at,
        first_token_ms=shown.first_token_ms,
        total_ms=shown.total_ms,
        prompt_tokens=shown.prompt_tokens,
        completion_tokens=shown.completion_tokens,
        reasoning_tokens=shown.reasoning_tokens,
        tokens_estimated=shown.tokens_estimated,
        cost=plain_decimal(sum(costs, Decimal(0))) if costs else None,
    )


def _vote(vote: Vote | None, *, has_texts: bool) -> RecordedVote | None:
    if vote is None:
        return None
    return RecordedVote(
        vote.choice,
        vote.created_at,
        vote.counts,
        vote.excluded_reason or None,
        vote.categories,
        vote.language,
        vote.tags,
        (vote.comment or None) if has_texts else None,
    )


def _moderation(battle: Battle) -> RecordedModeration:
    case: ModerationCase | None = getattr(battle, "moderation_case", None)
    if case is None:
        return RecordedModeration(battle.hidden_at, None, None, [], 0)
    rules = sorted({verdict.category for verdict in case.verdicts.all()})
    return RecordedModeration(battle.hidden_at, case.state, case.decided_at, rules, len(case.reports.all()))
