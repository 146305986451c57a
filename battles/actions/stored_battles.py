"""Battles on answers that are stored already: a review shows them to people (docs/adr/0088)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import SystemRandom

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Coalesce
from django.utils.safestring import SafeString

from accounts.actor import Actor
from accounts.models import Team
from accounts.teams.places import require_member_id
from battles.actions.battle_rows import insert_battle
from battles.models import Answer, Battle, Call, Position, Session, Side, Turn
from battles.prompting.attachments import attach
from battles.worker.turn_store import names_its_model
from common.prepared import PreparedQuery
from common.rendering.blocking import render
from models_registry.models import LanguageModel
from uploads.models import Upload

_random = SystemRandom()


def _sessions(series: str, place: int) -> QuerySet[Session]:
    """place: id of a team, or 0."""
    shown = Battle.objects.filter(session=OuterRef("pk"), series=series)
    sessions = Session.objects.alias(place=Coalesce("team_id", 0)).filter(Exists(shown), place=place, discarded_at=None)
    return sessions.order_by("pk")


_of_member = PreparedQuery(lambda series, place, user: _sessions(series, place).filter(owner_user=user), str, int, int)
_of_visitor = PreparedQuery(
    lambda series, place, visitor: _sessions(series, place).filter(owner_visitor=visitor), str, int, int
)


@dataclass(frozen=True)
class StoredAnswer:
    """html: of the text, if it was rendered before. call: that gave the text; it may have several answers."""

    text: str
    call: Call
    reasoning: str = ""
    html: SafeString | None = None


@dataclass(frozen=True)
class StoredTurn:
    """answers: in the order of the models."""

    prompt: str
    answers: tuple[StoredAnswer, StoredAnswer]
    attachments: Sequence[Upload] = ()


def start_stored_battle(
    actor: Actor,
    *,
    series: str,
    title: str,
    team: Team | None,
    turns: Sequence[StoredTurn],
    models: tuple[LanguageModel, LanguageModel],
    propensity: float,
    left: LanguageModel | None = None,
    conceals_names: bool = False,
) -> Battle:
    """Store a blind battle of a review, in the actor's session of that review; no model is called.

    series: the review's public id. title: of a new session. team: place of the session. propensity: see Battle.
    left: the model on the left; None draws it. conceals_names: after the vote, too, until show_names.
    Returns the battle with related rows set. Raises NotInTeam.
    """
    require_member_id(actor, None if team is None else team.pk)
    # Rendering may take seconds, which no transaction should wait for.
    rendered = [replace(turn, answers=(_rendered(turn.answers[0]), _rendered(turn.answers[1]))) for turn in turns]
    with transaction.atomic(savepoint=False):
        session = _session_of_review(actor, series, title, team)
        battle = Battle(
            session=session, mode=Battle.Mode.REVIEW, series=series, propensity=propensity,
            conceals_names=conceals_names,
        )  # fmt: skip
        return _store(battle, rendered, models, left)


def show_names(series: str) -> None:
    """Show the models of a review's battles to those who voted on them."""
    Battle.objects.filter(series=series, conceals_names=True).update(conceals_names=False)


def _rendered(answer: StoredAnswer) -> StoredAnswer:
    return answer if answer.html is not None else replace(answer, html=render(answer.text))


def _session_of_review(actor: Actor, series: str, title: str, team: Team | None) -> Session:
    place = team.pk if team is not None else 0
    if actor.user is not None:
        sessions = _of_member(series, place, actor.user.pk)
    else:
        sessions = [] if actor.visitor is None else _of_visitor(series, place, actor.visitor.pk)
    if sessions:
        return sessions[0]
    return Session(owner_user=actor.user, owner_visitor=actor.visitor, team=team, title=title)


def _store(
    battle: Battle,
    turns: Sequence[StoredTurn],
    models: tuple[LanguageModel, LanguageModel],
    left: LanguageModel | None,
) -> Battle:
    first = _random.randrange(2) if left is None else models.index(left)
    order = (first, 1 - first)
    sides = [
        Side(battle=battle, position=position, model=models[index])
        for position, index in zip(Position.values, order, strict=True)
    ]
    rows = [
        Turn(battle=battle, index=index, prompt=turn.prompt, state=Turn.State.DONE) for index, turn in enumerate(turns)
    ]
    answers = [
        _answer(row, side, turn.answers[index])
        for row, turn in zip(rows, turns, strict=True)
        for side, index in zip(sides, order, strict=True)
    ]
    insert_battle(battle, answers)
    for row, turn in zip(rows, turns, strict=True):
        attach(row, turn.attachments)
    battle.set_related(sides=sides, turns=rows, answers=answers)
    return battle


def _answer(turn: Turn, side: Side, stored: StoredAnswer) -> Answer:
    return Answer(
        turn=turn, side=side, state=Answer.State.DONE, text=stored.text, reasoning=stored.reasoning, call=stored.call,
        html=stored.html or "", leaks_identity=names_its_model(stored.text, side.model),
    )  # fmt: skip
