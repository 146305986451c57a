"""Battles with everything that is shown of them: what pages, programs and votes ask most often.

A battle and its parts are read from one snapshot of the database: otherwise a turn that ends between two queries reads
as answered in a battle that its failure has not made void yet.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from django.db.models import Model, QuerySet

from accounts.actor import Actor
from battles.labels.duplicates import has_overused_prompt
from battles.models import Answer, Battle, BattleQuerySet, Session, Side, Turn
from common.db.execution import one_snapshot
from common.prepared import PreparedQuery, set_prefetched
from models_registry.models import Price

M = TypeVar("M", bound=Model)


def _joined() -> BattleQuerySet:
    return Battle.objects.select_related("session", "vote", "share")


def _parts(battles_in: str) -> list[Callable[[Any], QuerySet[Any]]]:
    """Sides, prices, turns and answers, by what their battles are in."""

    def of(*path: str) -> str:
        return "__".join([*path, battles_in])

    answers = Answer.objects.in_order().select_related("call").defer("call__request")
    return [
        lambda pk: Side.objects.select_related("model").filter(**{of(): pk}),
        lambda pk: Price.objects.filter(model__in=Side.objects.filter(**{of(): pk}).values("model")),
        lambda pk: Turn.objects.with_attachments().filter(**{of(): pk}).order_by("index"),
        lambda pk: answers.filter(**{of("turn"): pk}),
    ]


_of_battle = [PreparedQuery(build, int) for build in _parts("battle")]
_of_session = [PreparedQuery(build, int) for build in _parts("battle__session")]
_prices = _of_battle[1]
_to_ask = PreparedQuery(
    lambda pk: Side.objects.select_related("model__provider").filter(battle=pk).order_by("position"), int
)
_battle = PreparedQuery(lambda pk: _joined().filter(pk=pk), int)
_battles = PreparedQuery(lambda session: _joined().filter(session=session).order_by("pk"), int)
_of_user = PreparedQuery(lambda id, user: _joined().owned_by_user(user).filter(public_id=id), str, int)
_of_visitor = PreparedQuery(lambda id, visitor: _joined().owned_by_visitor(visitor).filter(public_id=id), str, int)
_locked = PreparedQuery(
    lambda pk: (
        _joined().annotate(has_overused_prompt=has_overused_prompt()).select_for_update(of=("self",)).filter(pk=pk)
    ),
    int,
)


def find_battle(actor: Actor, public_id: str) -> Battle | None:
    """The person's battle with its session and vote; None for what does not exist, or is somebody else's."""
    if actor.user is not None:
        found = _of_user(public_id, actor.user.pk)
    else:
        found = _of_visitor(public_id, actor.visitor.pk) if actor.visitor is not None else []
    return found[0] if found else None


def find_whole_battle(actor: Actor, public_id: str) -> Battle | None:
    """As find_battle, ready to be shown."""
    with one_snapshot():
        battle = find_battle(actor, public_id)
        return None if battle is None else _with_parts(battle)


def read_battle(pk: int) -> Battle:
    """The battle as it is now, ready to be shown."""
    with one_snapshot():
        return _with_parts(_battle(pk)[0])


def read_for_vote(pk: int) -> Battle:
    """The same with `has_overused_prompt`; the row stays locked until COMMIT.

    The transaction that ends a turn also updates the row of a battle that becomes void, so the lock is enough here.
    """
    return _with_parts(_locked(pk)[0])


def read_battles(session: Session) -> list[Battle]:
    """All of a session, in order, ready to be shown."""
    with one_snapshot():
        battles = _battles(session.pk)
        _fill(battles, *(read(session.pk) for read in _of_session))
    return battles


def read_battles_of(sessions: Sequence[Session]) -> list[Battle]:
    """The same for many sessions at once."""
    with one_snapshot():
        battles = list(_joined().filter(session__in=sessions).order_by("pk"))
        _fill(battles, *(list(build(sessions)) for build in _parts("battle__session__in")))
    return battles


def _with_parts(battle: Battle) -> Battle:
    _fill([battle], *(read(battle.pk) for read in _of_battle))
    return battle


def read_sides_to_ask(battle_id: int) -> list[Side]:
    """By position, with their models' providers and prices."""
    sides = _to_ask(battle_id)
    _fill_prices(sides, _prices(battle_id))
    return sides


def _fill(
    battles: list[Battle], sides: list[Side], prices: list[Price], turns: list[Turn], answers: list[Answer]
) -> None:
    sides_of, turns_of = _grouped(sides, lambda side: side.battle_id), _grouped(turns, lambda turn: turn.battle_id)
    answers_of = _grouped(answers, lambda answer: answer.turn_id)
    _fill_prices(sides, prices)
    for turn in turns:
        set_prefetched(turn, "answers", answers_of[turn.pk])
    for battle in battles:
        set_prefetched(battle, "sides", sides_of[battle.pk])
        set_prefetched(battle, "turns", turns_of[battle.pk])


def _fill_prices(sides: Iterable[Side], prices: Iterable[Price]) -> None:
    prices_of = _grouped(prices, lambda price: price.model_id)
    for side in sides:
        set_prefetched(side.model, "prices", prices_of[side.model_id])


def _grouped(rows: Iterable[M], parent: Callable[[M], int]) -> dict[int, list[M]]:
    groups: dict[int, list[M]] = defaultdict(list)
    for row in rows:
        groups[parent(row)].append(row)
    return groups
