import csv
import io
import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from accounts.actor import Actor
from accounts.models import AuditEntry, Scope, User
from battles import actions
from battles.models import Battle, Call
from leaderboard.exports import api, interactions
from leaderboard.exports.interactions import InteractionRow
from tests import make

pytestmark = pytest.mark.django_db
API, LOG = "/api/v1/exports/interactions.", "/admin/battles/call/"


@pytest.fixture(autouse=True)
def _sent_from_this_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "stream_chunks", lambda chunks: chunks)


@pytest.fixture
def staff() -> Actor:
    return make.member(is_staff=True, is_superuser=True)


@pytest.fixture
def client(staff: Actor) -> Client:
    return make.browser(staff)


def called(actor: Actor, *slugs: str, vote: str = "", **fields: Any) -> Battle:
    """Create a blind battle with a call of each model, a vote if one is named, and a first failed attempt."""
    battle = make.answered_battle(*(make.model(slug=slug, name=f"Called {slug}") for slug in slugs), actor=actor)
    for answer in battle.turns.get().answers.in_order():
        facts = {"answer": answer, "model": answer.side.model, "attempt": 1}
        Call.objects.create(**facts, fence=1, state="failed", error="cut")
        answer.call = Call.objects.create(
            **facts, fence=2, state="done", first_token_ms=120, total_ms=1900, prompt_tokens=7, completion_tokens=3,
            cost=Decimal("0.0023"), finish_reason="stop", request={"parameters": {"temperature": 0}}, **fields,
        )  # fmt: skip
        answer.save()
    if vote:
        actions.cast_vote(actor=actor, battle=battle, choice=vote)
    return battle


def rows(response: HttpResponse) -> list[dict[str, Any]]:
    assert response.status_code == 200
    return [json.loads(line) for line in response.getvalue().splitlines()]


def test_interaction_export_has_every_request(client: Client, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(interactions, "BATCH", 2)
    voter = make.member()
    battle = called(voter, "ada", "bob", vote="left")
    cyd = make.model(slug="cyd")
    Call.objects.create(model=cyd, purpose="probe", lease_until=timezone.now(), attempt=1, fence=0, state="done")
    exported = rows(client.get(f"{API}jsonl"))
    assert [(row["model"], row["state"], row["text"]) for row in exported] == [
        ("ada", "failed", None), ("ada", "done", "an answer"),
        ("bob", "failed", None), ("bob", "done", "an answer"), ("cyd", "done", None),
    ]  # fmt: skip
    row = exported[1]
    assert {name: row[name] for name in (*_FACTS, "battle", "person")} == {
        **_FACTS, "battle": battle.public_id, "person": voter.key,
    }  # fmt: skip
    assert (exported[4]["mode"], exported[4]["battle"], exported[4]["person"]) == ("probe", None, None)
    table = list(csv.DictReader(io.StringIO(client.get(f"{API}csv").getvalue().decode())))
    assert list(table[0]) == list(InteractionRow.__struct_fields__) == list(row)
    assert [cells["call"] for cells in table] == [str(row["call"]) for row in exported]


_FACTS = {
    "mode": "blind", "turn": 0, "side": "left", "attempt": 1, "error": None, "finish": "stop", "first_token_ms": 120,
    "total_ms": 1900, "prompt_tokens": 7, "completion_tokens": 3, "cost": "0.0023", "stars": None, "vote": "left",
    "request": {"parameters": {"temperature": 0}}, "prompt": "one two three",
}  # fmt: skip


@pytest.mark.slow
def test_log_and_export_have_the_same_filters(client: Client):
    voter = make.member()
    called(voter, "ada", "bob", vote="left")
    called(make.member(), "cyd", "dee")
    today, email = f"{timezone.now():%Y-%m-%d}", voter.user.email
    for query, number in [
        ({"model": "ada"}, 2), ({"error": "cut"}, 4), ({"error": "any", "model": "cyd"}, 1), ({"mode": "blind"}, 8),
        ({"mode": "probe"}, 0), ({"person": email}, 4), ({"person": voter.key}, 4), ({"since": today}, 8),
        ({"until": today}, 8), ({"until": "2026-01-01"}, 0), ({"since": "9999-12-31", "until": "9999-12-31"}, 0),
        ({"person": "nobody@example.org"}, 0),
    ]:  # fmt: skip
        assert len(rows(client.get(f"{API}jsonl", query))) == number, query
        assert client.get(LOG, query).context["cl"].result_count == number, query
    for query in [{"since": "soon"}, {"until": "\x00"}, {"person": "Ada"}, {"person": "user:x"}, {"model": "nine"},
                  {"mode": "deaf"}, {"error": "odd"}]:  # fmt: skip
        refused = client.get(f"{API}jsonl", query)
        assert (refused.status_code, refused.json()["code"]) == (400, "invalid")
        assert client.get(LOG, query).status_code in (200, 400)
    page = client.get(LOG, {"since": "soon", "person": "Ada"})
    assert page.context["cl"].result_count == 0
    assert 'value="soon"' in page.text
    assert "Write a day" in page.text


@pytest.mark.slow
def test_own_blind_battle_is_in_no_log_until_its_vote(client: Client, staff: Actor):
    battle = called(staff, "ada", "bob")
    answer = battle.turns.get().answers.first()
    pages = [
        LOG, f"{LOG}{answer.call_id}/change/", f"/admin/battles/battle/{battle.pk}/change/", "/admin/battles/answer/",
        f"/admin/battles/answer/{answer.pk}/change/", f"{API}jsonl", f"{API}jsonl?model=ada",
    ]  # fmt: skip

    def seen() -> list[bool]:
        responses = [client.get(page) for page in pages]
        texts = [page.getvalue().decode() if page.streaming else page.text for page in responses]
        # The names of all models are in the log's filter.
        return ["1900" in text or "Called " in text.partition("changelist-filter")[0] for text in texts]

    assert not any(seen())
    assert len(rows(make.browser(make.member(is_staff=True, is_superuser=True)).get(f"{API}jsonl"))) == 4
    actions.cast_vote(actor=staff, battle=battle, choice="left")
    assert seen() == [True, True, True, False, False, True, True]  # a page of answers names no model


def headers(user: User, *scopes: Scope) -> dict[str, str]:
    return make.bearer(user, scopes=scopes)


def test_interaction_export_is_for_staff_and_audited(client: Client, staff: Actor, at_work: Client, settings):
    called(make.member(), "ada", "bob")
    settings.ARENA_PUBLISH_VOTES = True
    refused: Iterator[Client] = (Client(), make.browser(make.member()), at_work)
    assert {refused_client.get(f"{API}jsonl").status_code for refused_client in refused} == {403}
    scopes = [scope for scope in Scope if scope != Scope.EXPORT]
    assert Client().get(f"{API}jsonl", headers=headers(staff.user, *scopes)).status_code == 403
    member = headers(make.user(), Scope.EXPORT)
    assert Client().get(f"{API}jsonl", headers=member).status_code == 403
    assert client.get(f"{API}parquet").status_code == 404
    assert not AuditEntry.objects.exists()
    export = headers(staff.user, Scope.EXPORT)
    query = {"person": staff.user.email, "mode": "blind"}
    assert Client().get(f"{API}csv", query, headers=export).status_code == 200
    entry = AuditEntry.objects.get()
    assert (entry.user, entry.action, entry.subject) == (staff.user, "export interactions", "csv")
    assert entry.details == {"person": staff.key, "mode": "blind"}
    settings.ARENA_STAFF_SECOND_FACTOR = True
    assert Client().get(f"{API}csv", headers=export).status_code == 403


def test_log_page_shows_prompt_answer_and_vote(client: Client):
    battle = called(make.member(), "ada", "bob", vote="left")
    listed = client.get(LOG, {"mode": "blind", "p": "1"})
    assert f'{API}csv?mode=blind"' in listed.text
    assert f"{API}csv" not in client.get(LOG, {"q": battle.public_id}).text
    page = client.get(f"{LOG}{Call.objects.first().pk}/change/").text
    for text in ("one two three", "an answer", "A is better", "0.0023"):
        assert text in page
