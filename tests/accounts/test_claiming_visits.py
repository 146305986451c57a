"""Signing in keeps what this very browser did before, and nothing else."""

import pytest
from django.test import Client

from accounts.actor import VISITOR_COOKIE, visitor_cookie_value
from accounts.models import User, Visitor
from battles.models import Battle
from tests import make

pytestmark = pytest.mark.django_db
PASSWORD = "a-good-password"


@pytest.fixture
def member() -> User:
    return make.user("member@example.org")


def battle_of(visitor: Visitor) -> Battle:
    made = make.battle(make.model(), make.model())
    made.session.owner_visitor = visitor
    made.session.save()
    return made


def sign_in(client: Client, user: User) -> None:
    response = client.post("/accounts/login/", {"login": user.email, "password": PASSWORD})
    assert response.status_code == 302


def owner_of(battle: Battle) -> tuple[User | None, Visitor | None]:
    battle.session.refresh_from_db()
    return battle.session.owner_user, battle.session.owner_visitor


def test_battles_of_this_browser_become_the_members(client: Client, member: User):
    visitor = Visitor.objects.create()
    battle = battle_of(visitor)
    client.cookies[VISITOR_COOKIE] = visitor_cookie_value(visitor)
    sign_in(client, member)
    assert owner_of(battle) == (member, None)
    visitor.refresh_from_db()
    assert visitor.claimed_by == member


@pytest.mark.parametrize("forged", ["{key}", "{key}:forged", "", "x" * 5000])
def test_a_cookie_that_was_not_signed_here_claims_nothing(client: Client, member: User, forged: str):
    visitor = Visitor.objects.create()
    battle = battle_of(visitor)
    client.cookies[VISITOR_COOKIE] = forged.format(key=visitor.key)
    sign_in(client, member)
    assert owner_of(battle) == (None, visitor)


def test_a_visit_is_claimed_once(client: Client, member: User):
    visitor = Visitor.objects.create()
    battle = battle_of(visitor)
    client.cookies[VISITOR_COOKIE] = visitor_cookie_value(visitor)
    sign_in(client, member)
    other = Client()
    other.cookies[VISITOR_COOKIE] = visitor_cookie_value(visitor)
    sign_in(other, make.user("second@example.org"))
    assert owner_of(battle) == (member, None)


def test_a_wrong_password_claims_nothing(client: Client, member: User):
    visitor = Visitor.objects.create()
    battle = battle_of(visitor)
    client.cookies[VISITOR_COOKIE] = visitor_cookie_value(visitor)
    client.post("/accounts/login/", {"login": member.email, "password": "wrong"})
    assert owner_of(battle) == (None, visitor)


def test_just_looking_makes_no_visitor(client: Client):
    client.get("/")
    client.get("/api/v1/models/")
    assert VISITOR_COOKIE not in client.cookies
    assert not Visitor.objects.exists()
