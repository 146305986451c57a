from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client

from accounts.actor import VISITOR_COOKIE, Actor, visitor_cookie_value
from accounts.claims import visitor_claimed
from accounts.models import User, Visitor
from battles.actions import report
from battles.models import Battle, ModerationCase, Report
from tests import make
from tests.waiting import wait_for
from uploads.actions import keep_upload
from uploads.models import Upload

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


def test_sign_in_claims_battles_of_the_browser(client: Client, member: User):
    visitor = Visitor.objects.create()
    battle = battle_of(visitor)
    client.cookies[VISITOR_COOKIE] = visitor_cookie_value(visitor)
    sign_in(client, member)
    assert owner_of(battle) == (member, None)
    visitor.refresh_from_db()
    assert visitor.claimed_by == member


@pytest.mark.parametrize("forged", ["{key}", "{key}:forged", "", "x" * 5000])
def test_forged_cookie_claims_nothing(client: Client, member: User, forged: str):
    visitor = Visitor.objects.create()
    battle = battle_of(visitor)
    client.cookies[VISITOR_COOKIE] = forged.format(key=visitor.key)
    sign_in(client, member)
    assert owner_of(battle) == (None, visitor)


def test_visitor_is_claimed_once(client: Client, member: User):
    visitor = Visitor.objects.create()
    battle = battle_of(visitor)
    client.cookies[VISITOR_COOKIE] = visitor_cookie_value(visitor)
    sign_in(client, member)
    other = Client()
    other.cookies[VISITOR_COOKIE] = visitor_cookie_value(visitor)
    sign_in(other, make.user("second@example.org"))
    assert owner_of(battle) == (member, None)


def test_wrong_password_claims_nothing(client: Client, member: User):
    visitor = Visitor.objects.create()
    battle = battle_of(visitor)
    client.cookies[VISITOR_COOKIE] = visitor_cookie_value(visitor)
    client.post("/accounts/login/", {"login": member.email, "password": "wrong"})
    assert owner_of(battle) == (None, visitor)


def test_sign_in_claims_reports_and_refused_prompts(client: Client, member: User):
    actor = make.visitor()
    twice, once = (make.answered_battle(make.model(), make.model(), actor=actor) for _ in range(2))
    refused = ModerationCase.objects.create(visitor=actor.visitor)
    report(actor=Actor(user=member), battle=twice, reason="signed in")
    for battle in (twice, once):
        report(actor=actor, battle=battle, reason="before")
    client.cookies[VISITOR_COOKIE] = visitor_cookie_value(actor.visitor)
    sign_in(client, member)
    reports = Report.objects.values_list("case__battle", "user", "visitor", "reason")
    assert set(reports) == {(twice.pk, member.pk, None, "signed in"), (once.pk, member.pk, None, "before")}
    refused.refresh_from_db()
    assert (refused.user, refused.visitor) == (member, None)


def test_report_refused_by_other_constraint_is_not_deleted(member: User):
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE battles_report ADD CONSTRAINT none_is_a_members CHECK (user_id IS NULL)")
    actor = make.visitor()
    report(actor=actor, battle=make.answered_battle(make.model(), make.model(), actor=actor), reason="before")
    with pytest.raises(IntegrityError, match="none_is_a_members"):
        visitor_claimed.send(sender=Visitor, visitor=actor.visitor, user=member)
    assert Report.objects.get().reason == "before"


@pytest.mark.django_db(transaction=True)
def test_concurrent_rows_of_the_member_are_merged(client: Client, member: User):
    actor, as_member = make.visitor(), Actor(user=member)
    battle = make.answered_battle(make.model(), make.model(), actor=actor)
    keep_upload(actor=actor, content=b"the same bytes", name="before.txt")
    report(actor=actor, battle=battle, reason="before")
    client.cookies[VISITOR_COOKIE] = visitor_cookie_value(actor.visitor)
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():  # in another browser, not committed yet
            keep_upload(actor=as_member, content=b"the same bytes", name="elsewhere.txt")
            report(actor=as_member, battle=battle, reason="elsewhere")
            signing_in = pool.submit(in_a_thread, sign_in, client, member)
            wait_for(lambda: signing_in.done() or has_lock_waiter())
        signing_in.result()
    assert list(Upload.objects.owned_by(as_member).kept().values_list("name", flat=True)) == ["elsewhere.txt"]
    assert list(Report.objects.values_list("user", "reason")) == [(member.pk, "elsewhere")]


def in_a_thread(work: Callable[..., None], *args: object) -> None:
    try:
        work(*args)
    finally:
        connection.close()


def has_lock_waiter() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        return bool(cursor.fetchone()[0])


def test_reading_creates_no_visitor(client: Client):
    client.get("/")
    client.get("/api/v1/models/")
    assert VISITOR_COOKIE not in client.cookies
    assert not Visitor.objects.exists()
