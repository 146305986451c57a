"""Prepared queries for battles with their related rows.

All rows come from one database snapshot. Otherwise a turn that fails between queries would read as done in a battle not
void yet.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Model, OuterRef, QuerySet

from accounts.actor import Actor
from battles.labels.duplicates import has_overused_prompt
from battles.models import Answer, Battle, BattleQuerySet, Session, Side, Turn
from battles.models.battles import names_are_shown
from common.db.execution import one_snapshot
from common.prepared import PreparedQuery, any_of, set_prefetched
from models_registry.models import Price

M = TypeVar("M", bound=Model)


def _joined() -> BattleQuerySet:
    return Battle.objects.select_related("session", "vote", "share", "decision")


def _related_queries(battles_in: str) -> list[Callable[[Any], QuerySet[Any]]]:
    """Return querysets' builders by the path to their battles."""

    def path(*parents: str) -> str:
        return "__".join([*parents, battles_in])

    answers = Answer.objects.in_order().select_related("call").defer("call__request")
    return [
        lambda pk: Side.objects.select_related("model").filter(**{path(): pk}),
        lambda pk: Price.objects.filter(model__in=Side.objects.filter(**{path(): pk}).values("model")),
        lambda pk: Turn.objects.with_attachments().filter(**{path(): pk}).order_by("index"),
        lambda pk: answers.filter(**{path("turn"): pk}),
    ]


def _met_models() -> ArraySubquery:
    """Annotate ids of models that the session's earlier battles revealed."""
    earlier = Side.objects.filter(
        names_are_shown("battle__"), battle__session=OuterRef("session"), battle__lt=OuterRef("pk")
    )
    return ArraySubquery(earlier.order_by().values("model"))


_related_by_battle = [PreparedQuery(build, int) for build in _related_queries("battle")]
_related_by_session = [PreparedQuery(build, int) for build in _related_queries("battle__session")]
_prices_of_models = PreparedQuery(lambda models: Price.objects.filter(any_of("model_id", models)), list)
_by_pk = PreparedQuery(lambda pk: _joined().filter(pk=pk), int)
_by_session = PreparedQuery(lambda session: _joined().filter(session=session).order_by("pk"), int)
_by_user = PreparedQuery(lambda id, user: _joined().owned_by_user(user).filter(public_id=id), str, int)
_by_visitor = PreparedQuery(lambda id, visitor: _joined().owned_by_visitor(visitor).filter(public_id=id), str, int)
_by_pk_locked = PreparedQuery(
    lambda pk: (
        _joined()
        .annotate(has_overused_prompt=has_overused_prompt(), met_models=_met_models())
        .select_for_update(of=("self",))
        .filter(pk=pk)
    ),
    int,
)


def find_battle(actor: Actor, public_id: str) -> Battle | None:
    """Return the actor's battle with session, vote and share, or None."""
    if actor.user is not None:
        battles = _by_user(public_id, actor.user.pk)
    else:
        battles = _by_visitor(public_id, actor.visitor.pk) if actor.visitor is not None else []
    return battles[0] if battles and not actor.is_limited_from(battles[0].session.team_id) else None


def find_battle_with_related(actor: Actor, public_id: str) -> Battle | None:
    with one_snapshot():
        battle = find_battle(actor, public_id)
        return None if battle is None else _with_related(battle)


def get_battle(pk: int) -> Battle:
    with one_snapshot():
        return _with_related(_by_pk(pk)[0])


def lock_battle_for_vote(pk: int) -> Battle:
    """Lock the battle's row until COMMIT; return it with related rows, `has_overused_prompt` and `met_models`.

    Needs no snapshot: the transaction that ends a turn also updates a void battle's row.
    """
    return _with_related(_by_pk_locked(pk)[0])


def get_session_battles(session: Session) -> list[Battle]:
    with one_snapshot():
        battles = _by_session(session.pk)
        _set_related(battles, *(read(session.pk) for read in _related_by_session))
    return battles


def get_battles_of_sessions(sessions: Sequence[Session]) -> list[Battle]:
    with one_snapshot():
        battles = list(_joined().filter(session__in=sessions).order_by("pk"))
        _set_related(battles, *(list(build(sessions)) for build in _related_queries("battle__session__in")))
    return battles


def _with_related(battle: Battle) -> Battle:
    _set_related([battle], *(read(battle.pk) for read in _related_by_battle))
    return battle


def set_prices(sides: Sequence[Side]) -> None:
    _set_prices(sides, _prices_of_models([side.model_id for side in sides]))


def _set_related(
    battles: list[Battle], sides: list[Side], prices: list[Price], turns: list[Turn], answers: list[Answer]
) -> None:
    sides_by_battle = _grouped(sides, lambda side: side.battle_id)
    turns_by_battle = _grouped(turns, lambda turn: turn.battle_id)
    answers_by_turn = _grouped(answers, lambda answer: answer.turn_id)
    _set_prices(sides, prices)
    for turn in turns:
        set_prefetched(turn, "answers", answers_by_turn[turn.pk])
    for battle in battles:
        set_prefetched(battle, "sides", sides_by_battle[battle.pk])
        set_prefetched(battle, "turns", turns_by_battle[battle.pk])


def _set_prices(sides: Iterable[Side], prices: Iterable[Price]) -> None:
    prices_by_model = _grouped(prices, lambda price: price.model_id)
    for side in sides:
        set_prefetched(side.model, "prices", prices_by_model[side.model_id])


def _grouped(rows: Iterable[M], parent: Callable[[M], int]) -> dict[int, list[M]]:
    groups: dict[int, list[M]] = defaultdict(list)
    for row in rows:
        groups[parent(row)].append(row)
    return groups
