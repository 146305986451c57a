from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any
from urllib.parse import urlsplit

from django.db.models.functions import Now
from django.test import Client

from accounts.actor import VISITOR_COOKIE, Actor, visitor_cookie_value
from accounts.models import ApiToken, Role, Scope, Team, TeamMember, User, Visitor
from accounts.teams.actions import create_team
from battles.actions.stored_battles import StoredAnswer, StoredTurn, start_stored_battle
from battles.models import Answer, Battle, Call, Position, Session, Side, Turn
from common.network_zones import Zone, zone_of_url
from models_registry.models import LanguageModel, Provider

_number = count(1)


def user(email: str = "", **extra: object) -> User:
    return User.objects.create_user(email or f"person{next(_number)}@example.org", "a-good-password", **extra)


def visitor() -> Actor:
    return Actor(visitor=Visitor.objects.create(), network="127.0.0.1")


def member(**extra: object) -> Actor:
    return Actor(user=user(**extra), network="127.0.0.1")


def team(owner: User | None = None, *, members: Mapping[Role, Iterable[User]] | None = None, **fields: Any) -> Team:
    """Return a new team, owned by a new member unless an owner is given. members: others by role."""
    number = next(_number)
    fields = {"name": f"Team {number}", "slug": f"team-{number}", **fields}
    owner = owner or user()
    created = create_team(by=owner, owner=owner, **fields)
    for role, users in (members or {}).items():
        for of_role in users:
            TeamMember.objects.create(team=created, user=of_role, role=role)
    return created


def provider(base_url: str, *, team: Team | None = None, **fields: object) -> Provider:
    defaults = {"name": "Fake", "needs_key": False, "is_answering": True, **fields}
    known = Provider.of_every_owner
    return known.get_or_create(base_url=base_url, api_key_env="", team=team, defaults=defaults)[0]


def model(upstream_name: str = "honest", *, at: str = "http://127.0.0.1:9/v1", **fields: object) -> LanguageModel:
    number = next(_number)
    fields = {"slug": f"model-{number}", "name": f"Model {number}", "status": "active", **fields}
    if "provider" not in fields:
        fields["provider"] = provider(at)
    return LanguageModel.of_every_owner.create(upstream_name=upstream_name, **fields)


def team_model(
    team: Team, upstream_name: str = "honest", *, at: str = "https://9.9.9.9/v1", **fields: Any
) -> LanguageModel:
    """Return a model that the team added, at an address that it may have."""
    host = urlsplit(at).hostname
    if host not in team.private_hosts and zone_of_url(at) is not Zone.PUBLIC:
        team.private_hosts.append(host or "")
        team.save(update_fields=["private_hosts"])
    return model(upstream_name, at=at, team=team, provider=provider(at, team=team), **fields)


def battle(
    left: LanguageModel,
    right: LanguageModel,
    *,
    actor: Actor | None = None,
    prompt: str = "one two three",
    place: Team | None = None,
) -> Battle:
    """Create a blind battle whose first turn is queued."""
    actor = actor or visitor()
    owner = {"owner_user": actor.user, "owner_visitor": actor.visitor}
    session = Session.objects.create(**owner, title=prompt[:60], team=place)
    battle = Battle.objects.create(session=session, propensity=1.0)
    Side.objects.create(battle=battle, position=Position.LEFT, model=left)
    Side.objects.create(battle=battle, position=Position.RIGHT, model=right)
    turn(battle, prompt=prompt)
    return battle


def turn(battle: Battle, *, prompt: str = "one two three") -> Turn:
    turn = Turn.objects.create(battle=battle, index=battle.turns.count(), prompt=prompt)
    Answer.objects.bulk_create([Answer(turn=turn, side=side) for side in battle.sides.all()])
    return turn


def answered_battle(
    left: LanguageModel, right: LanguageModel, *, actor: Actor | None = None, place: Team | None = None
) -> Battle:
    """Create a battle that can be voted on, without calls to models."""
    answered = battle(left, right, actor=actor, place=place)
    complete_answers(answered)
    return answered


def complete_answers(answered: Battle) -> None:
    answered.turns.update(state=Turn.State.DONE)
    Answer.objects.filter(turn__battle=answered).update(state=Answer.State.DONE, text="an answer")


def stored_call(model: LanguageModel, **fields: object) -> Call:
    """Return a finished call of a benchmark run."""
    fields = {
        "purpose": Call.Purpose.ITEM, "state": Call.State.DONE, "attempt": 1, "fence": 1, "lease_until": Now(),
        "prompt_tokens": 3, "completion_tokens": 5, "first_token_ms": 70, "total_ms": 90, **fields,
    }  # fmt: skip
    return Call.objects.create(model=model, **fields)


def stored_battle(
    left: LanguageModel,
    right: LanguageModel,
    *,
    actor: Actor | None = None,
    series: str = "a-review",
    place: Team | None = None,
    **fields: object,
) -> Battle:
    """Create a battle of a review. fields: of each answer."""
    answers = [StoredAnswer(**{"text": "an answer", "call": stored_call(model), **fields}) for model in (left, right)]
    return start_stored_battle(
        actor or visitor(), series=series, title="Review of answers", team=place,
        turns=[StoredTurn("one two three", (answers[0], answers[1]))], models=(left, right), propensity=0.5,
    )  # fmt: skip


def browser(actor: Actor, **options: Any) -> Client:
    """Return a client signed in as the member, or with the visitor's cookie."""
    client = Client(**options)
    if actor.user is not None:
        client.force_login(actor.user)
    elif actor.visitor is not None:
        client.cookies[VISITOR_COOKIE] = visitor_cookie_value(actor.visitor)
    return client


def token(owner: User | None = None, *, scopes: Iterable[Scope] = Scope, **fields: Any) -> str:
    """Return the secret of a new API token, by default a new member's and with all scopes."""
    return ApiToken.issue(user=owner or user(), name="t", scopes=list(scopes), **fields)[1]


def bearer(owner: User | None = None, *, scopes: Iterable[Scope] = Scope) -> dict[str, str]:
    """Return the headers of a request with a new API token."""
    return {"Authorization": f"Bearer {token(owner, scopes=scopes)}"}


def api(owner: User | None = None, *, scopes: Iterable[Scope] = Scope, **options: Any) -> Client:
    """Return a client with a new API token."""
    return Client(headers=bearer(owner, scopes=scopes), **options)
