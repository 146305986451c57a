"""What people change in the arena: start, follow up, regenerate, stop, vote, and look after their sessions."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from random import SystemRandom
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from accounts.actor import Actor
from battles import drawing, reserving
from battles.announcing import announce_end
from battles.answer_records import stop_unasked
from battles.errors import (
    AlreadyRegenerated,
    AlreadyVoted,
    BattleIsVoid,
    BudgetReached,
    ModelsOverBudget,
    NothingToRegenerate,
    NothingToStop,
    NotVotedYet,
    StillAnswering,
    TooManyTurns,
)
from battles.labels.duplicates import repeats_too_often
from battles.labels.labelling import LabelColumns, label
from battles.models import Answer, Battle, Position, Session, Side, Turn, Vote, VoteQuerySet
from battles.pairing import Pair
from battles.prompts import accepted_prompt, title_of
from battles.signals import vote_cast, voter_changes
from battles.stopping import shout_stop
from battles.style import StyleCounts, style_counts
from battles.tasks import wake_after_commit
from common import limits
from common.ids import new_public_id
from models_registry import roster
from models_registry.ledger import seconds_until_tomorrow
from models_registry.models import LanguageModel
from models_registry.spending import OverBudget

_random = SystemRandom()


def start_session(*, actor: Actor, prompt: str) -> Battle:
    """A new session with its first battle, which can be shown at once. Raises as start_battle does."""
    prompt = accepted_prompt(prompt)
    with transaction.atomic():
        session = Session.objects.create(
            owner_user=actor.user, owner_visitor=actor.visitor, title=title_of(prompt)
        )  # a refusal below takes the session back
        return _draw_and_open(actor, session, prompt)


def start_battle(*, actor: Actor, session: Session, prompt: str) -> Battle:
    """Draw two models for a prompt and wake a worker. The battle can be shown at once.

    Raises InvalidInput, TooManyRequests, BudgetReached, TooFewModels, and ServiceAway for visitors while limits
    cannot be counted.
    """
    with transaction.atomic():
        battle = _draw_and_open(actor, session, accepted_prompt(prompt))
        Session.objects.filter(pk=session.pk).update(last_active_at=Now())
    return battle


def _draw_and_open(actor: Actor, session: Session, prompt: str) -> Battle:
    limits.count("battle", actor.kind, actor.key, f"network:{actor.network}", fail_open=actor.user is not None)
    models = roster.drawable()
    reserving.check_allowance(actor, models, prompt)
    while True:
        pair = drawing.draw(models, _random)
        try:
            return _open_battle(actor, session, prompt, pair, {model.pk: model for model in models})
        except OverBudget as error:
            if error.is_personal:
                raise BudgetReached(retry_after=seconds_until_tomorrow()) from error
            models = [model for model in models if not error.concerns(model)]


@transaction.atomic
def _open_battle(actor: Actor, session: Session, prompt: str, pair: Pair, models: dict[int, LanguageModel]) -> Battle:
    """Raises OverBudget."""
    battle = Battle.objects.create(session=session, propensity=pair.propensity, **label([prompt]))
    sides = Side.objects.bulk_create(
        [
            Side(battle=battle, position=Position.LEFT, model=models[pair.left]),
            Side(battle=battle, position=Position.RIGHT, model=models[pair.right]),
        ]
    )
    turn = Turn.objects.create(battle=battle, index=0, prompt=prompt)
    answers = _ask(turn, [turn], sides, person=actor.key)
    battle.remember(sides=sides, turns=[turn], answers=answers)
    return battle


def follow_up(*, actor: Actor, battle: Battle, prompt: str) -> Turn:
    """Ask both sides the next thing, each with its own history. After the vote it goes on, but does not count.

    Raises InvalidInput, StillAnswering, BattleIsVoid, TooManyTurns, TooManyRequests, ServiceAway, BudgetReached,
    ModelsOverBudget.
    """
    prompt = accepted_prompt(prompt)
    with transaction.atomic():
        battle = Battle.objects.select_for_update().get(pk=battle.pk)  # one follow-up at a time
        if battle.is_void:
            raise BattleIsVoid
        last = battle.turns.order_by("-index")[0]
        if last.is_live:
            raise StillAnswering
        if last.index + 1 >= settings.ARENA_TURNS_PER_BATTLE:
            raise TooManyTurns
        limits.count("turn", actor.kind, actor.key, f"network:{actor.network}", fail_open=actor.user is not None)
        has_vote = Vote.objects.filter(battle=battle).exists()
        turn = Turn.objects.create(battle=battle, index=last.index + 1, prompt=prompt, after_vote=has_vote)
        with _refusing_what_does_not_fit():
            _ask(turn, _turns_of(battle), _sides_of(battle), person=actor.key)
        Session.objects.filter(pk=battle.session_id).update(last_active_at=Now())
    return turn


def _ask(turn: Turn, turns: Iterable[Turn], sides: Iterable[Side], *, person: str) -> list[Answer]:
    """Answers for `sides`, in their order, and somebody to fill them. Inside a transaction. Raises OverBudget."""
    sides = list(sides)
    charges = reserving.set_aside(turns, sides, person=person)
    wake_after_commit(turn.pk)
    return Answer.objects.bulk_create([Answer(turn=turn, side=side, charge=charges.get(side)) for side in sides])


def _turns_of(battle: Battle) -> QuerySet[Turn]:
    return battle.turns.order_by("index").prefetch_related("answers")


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

    Raises BattleIsVoid, StillAnswering, NothingToRegenerate, AlreadyRegenerated, TooManyRequests, ServiceAway,
    BudgetReached, ModelsOverBudget, and AlreadyVoted when the vote was on the turns before.
    """
    battle = Battle.objects.select_for_update().get(pk=battle.pk)
    if battle.is_void:
        raise BattleIsVoid
    turn = battle.turns.order_by("-index").prefetch_related("answers")[0]
    if turn.is_live:
        raise StillAnswering
    if not turn.is_failed_follow_up:
        raise NothingToRegenerate
    if turn.round:
        raise AlreadyRegenerated
    if not turn.after_vote and Vote.objects.filter(battle=battle).exists():
        raise AlreadyVoted
    limits.count("turn", actor.kind, actor.key, f"network:{actor.network}", fail_open=actor.user is not None)
    failed = {answer.side_id: answer for answer in turn.answers.all() if answer.state == Answer.State.FAILED}
    with _refusing_what_does_not_fit():
        sides = _sides_of(battle).filter(pk__in=failed)
        charges = reserving.set_aside(_turns_of(battle), sides, person=actor.key)
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
        stop_unasked(turn)
        transaction.on_commit(lambda: announce_end(turn))
    else:
        Turn.objects.filter(pk=turn.pk, stop_requested_at=None).update(stop_requested_at=Now())
        transaction.on_commit(lambda: shout_stop(turn))


def cast_vote(*, actor: Actor, battle: Battle, choice: Vote.Choice) -> Vote:
    """Record the person's verdict; from then on the names are revealed. The vote's battle can be shown at once.

    Raises BattleIsVoid, StillAnswering, TooManyRequests, and AlreadyVoted when a vote exists (also when two
    requests race: the database keeps the first).
    """
    try:  # outside atomic: inside, the connection would be broken
        with transaction.atomic():
            return _store_vote(actor, battle.pk, choice)
    except IntegrityError as error:
        raise AlreadyVoted from error


def _store_vote(actor: Actor, battle_id: int, choice: Vote.Choice) -> Vote:
    shown = Battle.objects.for_showing().annotate(repeats_too_often=repeats_too_often())
    battle = shown.select_for_update(of=("self",)).get(pk=battle_id)  # no follow-up begins meanwhile
    if battle.vote_or_none is not None:
        raise AlreadyVoted
    limits.count("vote", actor.kind, actor.key, f"network:{actor.network}", fail_open=True)
    if battle.is_void:
        raise BattleIsVoid
    turns = battle.turns.all()
    if any(turn.is_live for turn in turns):
        raise StillAnswering
    judged = [turn for turn in turns if turn.can_be_judged()]
    sides = {side.position: side for side in battle.sides.all()}
    left, right = sides[Position.LEFT], sides[Position.RIGHT]
    if not (left.model.has_votes and right.model.has_votes):
        LanguageModel.objects.filter(pk__in=[left.model_id, right.model_id]).update(has_votes=True)
    # Last: its number keeps every other vote waiting until COMMIT.
    vote = Vote.objects.create(
        battle=battle, choice=choice, model_left_id=left.model_id, model_right_id=right.model_id,
        turn_count=len(judged),
        style={position: _style_of(side, judged) for position, side in sides.items()}, voter=actor.key,
        excluded_reason=_reason_not_to_count(battle, judged), **_labels(battle, judged),
    )  # fmt: skip
    vote_cast.send(sender=Vote, vote=vote)
    return vote


def _reason_not_to_count(battle: Any, judged: list[Turn]) -> str:
    """A name that was read in any answer is known; a side that was stopped is only missed where it was judged.

    battle: with repeats_too_often, which says something about a vote on its first prompt alone.
    """
    if any(answer.names_itself for turn in battle.turns.all() for answer in turn.answers.all()):
        return Vote.ExcludedReason.IDENTITY_LEAK
    if any(answer.state == Answer.State.STOPPED for turn in judged for answer in turn.answers.all()):
        return Vote.ExcludedReason.INCOMPLETE
    return Vote.ExcludedReason.DUPLICATE_PROMPT if battle.repeats_too_often and len(judged) == 1 else ""


def _labels(battle: Battle, judged: list[Turn]) -> LabelColumns:
    """The battle's, from its first prompt, unless more was asked."""
    if battle.labelled_by and len(judged) == 1:
        return {
            "categories": battle.categories, "language": battle.language, "labelled_by": battle.labelled_by,
            "prompt_digest": battle.prompt_digest,
        }  # fmt: skip
    return label([turn.prompt for turn in judged])


def _style_of(side: Side, turns: list[Turn]) -> StyleCounts:
    answers = [answer for turn in turns for answer in turn.answers.all() if answer.side_id == side.pk]
    tokens = sum(answer.call.answer_tokens for answer in answers if answer.call)
    return style_counts("\n\n".join(answer.text for answer in answers), tokens)


def give_feedback(*, battle: Battle, tags: dict[str, list[str]], comment: str) -> None:
    """What was good or bad about each side; replaces what was said before. Raises NotVotedYet."""
    if not Vote.objects.filter(battle=battle).update(tags=tags, comment=comment):
        raise NotVotedYet


def update_session(session: Session, **changes: Any) -> None:
    """`title` and `archived` are the person's own."""
    Session.objects.filter(pk=session.pk).update(**changes)


def file_votes_under(voter: str, votes: VoteQuerySet) -> None:
    """The votes' owner changes, in the tallies too; the votes do not. Inside a transaction."""
    voter_changes.send(sender=Vote, votes=votes, voter=voter)
    votes.update(voter=voter)


@transaction.atomic
def delete_session(session: Session) -> None:
    """Text and owner go; counted votes stay, without a name."""
    turns = Turn.objects.filter(battle__session=session)
    turns.exclude(state=Turn.State.DONE).update(stop_requested_at=Now())
    votes = Vote.objects.filter(battle__session=session)
    votes.update(comment="")
    file_votes_under(f"deleted:{new_public_id()}", votes)
    Answer.objects.filter(turn__in=turns).update(text="", html="", reasoning="")
    turns.update(prompt="")
    Session.objects.filter(pk=session.pk).update(owner_user=None, owner_visitor=None, title="")
