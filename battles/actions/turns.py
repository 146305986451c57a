"""What goes on in a battle: the next prompt, a failed one asked again, a stop."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from accounts.actor import Actor
from battles.errors import (
    AlreadyRegenerated,
    AlreadyVoted,
    BattleIsHidden,
    BattleIsVoid,
    BudgetReached,
    ImagesNotSeen,
    ModelsOverBudget,
    NothingToRegenerate,
    NothingToStop,
    StillAnswering,
    TooManyTurns,
)
from battles.models import Answer, Battle, Session, Side, Turn, Vote
from battles.moderation.examination import check_prompt, store_findings
from battles.prompting import budget
from battles.prompting.attachments import attach, chosen_uploads, needs_of, refused
from battles.prompting.lineup import Needs
from battles.prompting.prompt import accepted_prompt
from battles.streaming.cancel import publish_cancel
from battles.streaming.control import publish_end
from battles.tasks import wake_after_commit
from battles.worker.turn_store import end_at_once
from common.valkey import limits
from models_registry.models.ledger import seconds_until_tomorrow
from models_registry.spending import OverBudget


def follow_up(*, actor: Actor, battle: Battle, prompt: str, attachments: Sequence[str] = ()) -> Turn:
    """Ask both sides the next thing, each with its own history. After the vote it goes on, but does not count.

    attachments: ids of uploads. Raises InvalidInput, NotReadYet, CannotBeRead, ImagesNotSeen, StillAnswering,
    BattleIsVoid, BattleIsHidden, TooManyTurns, TooManyRequests, ServiceAway, PromptRefused, NotExamined,
    BudgetReached, ModelsOverBudget.
    """
    prompt = accepted_prompt(prompt)
    uploads = chosen_uploads(actor, attachments)
    # Each try counts, before anybody is asked about it, and nobody is while a row is locked.
    limits.count("turn", actor.limit_keys, fail_open=actor.user is not None)
    findings = check_prompt(actor=actor, prompt=prompt, uploads=uploads, battle=battle)
    with transaction.atomic():
        battle = Battle.objects.select_for_update().get(pk=battle.pk)  # one follow-up at a time
        if battle.is_void:
            raise BattleIsVoid
        if battle.is_hidden:
            raise BattleIsHidden
        last = battle.turns.order_by("-index")[0]
        if last.is_live:
            raise StillAnswering
        if last.index + 1 >= settings.ARENA_TURNS_PER_BATTLE:
            raise TooManyTurns
        sides = _sides_of(battle)
        if uploads:
            _check_that_they_can_read(battle, sides, needs_of(prompt, uploads))
        has_vote = Vote.objects.filter(battle=battle).exists()
        turn = Turn.objects.create(battle=battle, index=last.index + 1, prompt=prompt, after_vote=has_vote)
        with _refusing_what_does_not_fit():
            attach(turn, uploads)
            store_findings(findings, turn)
            ask(turn, _turns_of(battle), sides, person=actor.key)
        Session.objects.filter(pk=battle.session_id).update(last_active_at=Now())
    return turn


def _check_that_they_can_read(battle: Battle, sides: Iterable[Side], needs: Needs) -> None:
    """Whether models of a blind battle see images must not be found out by trying.

    Raises ImagesNotSeen, InvalidInput.
    """
    see = battle.needs_images if battle.is_blind else all(side.model.sees_images for side in sides)
    if needs.images and not see:
        raise ImagesNotSeen
    if not all(replace(needs, images=False).met_by(side.model) for side in sides):
        raise refused(_("These files are too long for the models of this battle. Attach fewer or shorter files."))


def ask(turn: Turn, turns: Iterable[Turn], sides: Iterable[Side], *, person: str) -> list[Answer]:
    """Answers for `sides`, in their order, and somebody to fill them. Inside a transaction. Raises OverBudget."""
    sides = list(sides)
    charges = budget.set_aside(turns, sides, person=person)
    wake_after_commit(turn.pk)
    return Answer.objects.bulk_create([Answer(turn=turn, side=side, charge=charges.get(side)) for side in sides])


def _turns_of(battle: Battle) -> QuerySet[Turn]:
    return Turn.objects.with_attachments().filter(battle=battle).order_by("index").prefetch_related("answers")


def _sides_of(battle: Battle) -> QuerySet[Side]:
    return battle.sides.select_related("model__provider").prefetch_related("model__prices")


@contextmanager
def _refusing_what_does_not_fit() -> Iterator[None]:
    """Raises BudgetReached and ModelsOverBudget in place of OverBudget."""
    try:
        yield
    except OverBudget as error:
        refusal = BudgetReached if error.is_personal else ModelsOverBudget
        raise refusal(retry_after=seconds_until_tomorrow()) from error


@transaction.atomic
def regenerate(*, actor: Actor, battle: Battle) -> Turn:
    """Ask the last follow-up again, once, of the sides that failed in it; what the other said stays.

    Raises BattleIsVoid, BattleIsHidden, StillAnswering, NothingToRegenerate, AlreadyRegenerated, TooManyRequests,
    ServiceAway, BudgetReached, ModelsOverBudget, and AlreadyVoted when the vote was on the turns before.
    """
    battle = Battle.objects.select_for_update().get(pk=battle.pk)
    if battle.is_void:
        raise BattleIsVoid
    if battle.is_hidden:
        raise BattleIsHidden
    turn = battle.turns.order_by("-index").prefetch_related("answers")[0]
    if turn.is_live:
        raise StillAnswering
    if not turn.is_failed_follow_up:
        raise NothingToRegenerate
    if turn.round:
        raise AlreadyRegenerated
    if not turn.after_vote and Vote.objects.filter(battle=battle).exists():
        raise AlreadyVoted
    limits.count("turn", actor.limit_keys, fail_open=actor.user is not None)
    failed = {answer.side_id: answer for answer in turn.answers.all() if answer.state == Answer.State.FAILED}
    with _refusing_what_does_not_fit():
        sides = _sides_of(battle).filter(pk__in=failed)
        charges = budget.set_aside(_turns_of(battle), sides, person=actor.key)
    for side in sides:
        turn.answers.filter(side=side).update(
            state=Answer.State.QUEUED, text="", html="", reasoning="", error="", call=None, charge=charges.get(side)
        )
    turn.state, turn.round, turn.attempt, turn.queued_at, turn.finished_at = Turn.State.QUEUED, 1, 0, Now(), None
    turn.save(update_fields=["state", "round", "attempt", "queued_at", "finished_at"])
    wake_after_commit(turn.pk)
    return turn


@transaction.atomic
def stop(*, battle: Battle) -> None:
    """End both sides of the live turn; what they said is kept. A turn that still waits ends at once.

    Raises NothingToStop.
    """
    turn = battle.turns.exclude(state=Turn.State.DONE).select_for_update(of=["self"]).first()
    if turn is None:
        raise NothingToStop
    if turn.state == Turn.State.QUEUED:
        end_at_once(turn)
        transaction.on_commit(lambda: publish_end(turn))
    else:
        Turn.objects.filter(pk=turn.pk, stop_requested_at=None).update(stop_requested_at=Now())
        transaction.on_commit(lambda: publish_cancel(turn))
