"""Admin lists read only displayed rows, so that they stay fast with a million."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import AuditEntry, User, Visitor
from battles.actions import cast_vote
from battles.models import Answer, Battle, Call, Session, Vote
from common.admin import estimated_count
from common.admin.estimated_count import EstimatingPaginator
from gateway.models import Exchange
from routing.models import DecisionOutcome, RouterEvaluation, RouterSnapshot
from tests import make
from tests.routing.rows import decision
from uploads.models import Upload

pytestmark = pytest.mark.django_db
LISTS = [
    "battles/vote", "battles/session", "battles/battle", "battles/call", "battles/answer", "uploads/upload",
    "accounts/auditentry", "accounts/visitor", "leaderboard/aggregationrun", "leaderboard/votechange",
    "leaderboard/standing", "leaderboard/pairtally", "models_registry/charge",
    "battles/routingdecision", "gateway/exchange", "routing/decisionoutcome", "routing/routersnapshot",
    "routing/routerevaluation",
]  # fmt: skip


@pytest.fixture
def admin() -> Client:
    client = Client()
    client.force_login(make.user("admin@example.org", is_staff=True, is_superuser=True))
    return client


def add_rows(number: int) -> None:
    for _ in range(number):
        actor = make.member()
        battle = make.answered_battle(make.model(), make.model(), actor=actor)
        answer = battle.turns.get().answers.first()
        Call.objects.create(answer=answer, model=answer.side.model, attempt=1, fence=1)
        cast_vote(actor=actor, battle=battle, choice=Vote.Choice.LEFT)
        stored = decision(answer.side.model, battle=battle, person=actor.key)
        DecisionOutcome.objects.create(decision=stored, good=True)
        Exchange.objects.create(user=actor.user, asked_model="auto", decision=stored)
        snapshot = RouterSnapshot.objects.create(slot=stored.public_id, state="published")
        RouterEvaluation.objects.create(snapshot=snapshot)
        AuditEntry.objects.create(user=actor.user, action="look", subject="at something")
        Upload.objects.create(owner_user=actor.user, name="a.txt", size=1, sha256="0", media_type="t", stored_as="s")


@pytest.mark.slow
@pytest.mark.parametrize("path", LISTS)
def test_admin_list_query_count_is_fixed(admin: Client, path: str):
    costs = []
    for number in (1, 6):
        add_rows(number)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert admin.get(f"/admin/{path}/").status_code == 200
        costs.append(len(queries))
    assert costs[0] == costs[1] <= 12


@pytest.mark.slow
@pytest.mark.parametrize("path", LISTS)
def test_admin_lists_neither_count_nor_sort_tables(admin: Client, path: str):
    with CaptureQueriesContext(connection) as queries:
        admin.get(f"/admin/{path}/")
    for query in queries:
        assert not re.search(r"COUNT\(\*\)(?!.* LIMIT )", query["sql"]), query["sql"]
        assert "SELECT DISTINCT" not in query["sql"].replace("SELECT DISTINCT ON", "")
        assert not re.search(r"\b(MIN|MAX)\(", query["sql"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "words_of"),
    [
        ("battles/session", lambda battle: [battle.session.public_id, battle.public_id, "Ada@example.org"]),
        ("battles/battle", lambda battle: [battle.public_id, battle.session.public_id, "ada@example.org"]),
        ("battles/answer", lambda battle: [Answer.objects.filter(turn__battle=battle)[0].public_id, battle.public_id]),
        ("battles/call", lambda battle: [Call.objects.get().answer.public_id, battle.public_id]),
        ("battles/vote", lambda battle: [battle.public_id, battle.vote.voter, f" {battle.vote.order} "]),
        ("uploads/upload", lambda battle: [Upload.objects.get().public_id, "ada@example.org"]),
    ],
)
def test_admin_search_finds_matching_rows_only(admin: Client, path: str, words_of: Callable[[Battle], list[str]]):
    add_rows(1)
    User.objects.filter(pk=Session.objects.get().owner_user_id).update(email="ada@example.org")
    for words in words_of(Battle.objects.get()):
        assert admin.get(f"/admin/{path}/", {"q": words}).context["cl"].result_count > 0, words
    for words in ("something else", "99999999", "99999999999999999999999", "1 or 1=1", "%"):
        assert admin.get(f"/admin/{path}/", {"q": words}).context["cl"].result_count == 0, words


def test_admin_search_scans_no_large_table(admin: Client):
    add_rows(1)
    with CaptureQueriesContext(connection) as queries:
        admin.get("/admin/battles/vote/", {"q": "user:1"})
    searches = [query["sql"] for query in queries if "UNION" in query["sql"]]
    assert searches
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        for sql in searches:
            cursor.execute(f"EXPLAIN {sql}")
            assert "Seq Scan on battles_vote" not in str(cursor.fetchall())


def test_large_counts_are_estimated_and_small_exact(monkeypatch: pytest.MonkeyPatch):
    for _ in range(30):
        make.visitor()
    make.visitor()
    visitors = Visitor.objects.order_by("pk")
    assert EstimatingPaginator(visitors, 10).count == 31
    monkeypatch.setattr(estimated_count, "MAX_EXACT_COUNT", 20)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE accounts_visitor")
    assert EstimatingPaginator(visitors, 10).count == 31
    assert EstimatingPaginator(visitors.filter(network="nowhere"), 10).count == 0


def test_admin_pages_end_at_counted_rows(monkeypatch: pytest.MonkeyPatch):
    for _ in range(31):
        make.visitor()
    pages = EstimatingPaginator(Visitor.objects.order_by("pk"), 10)
    assert pages.num_pages == 4
    monkeypatch.setattr(estimated_count, "MAX_EXACT_COUNT", 20)
    pages = EstimatingPaginator(Visitor.objects.order_by("pk"), 10)
    assert list(pages.page_range) == [1, 2]
    assert pages.count >= 21


def test_failed_calls_are_filtered_by_error(admin: Client):
    add_rows(2)
    Call.objects.filter(pk=Call.objects.first().pk).update(state="failed", error="cut")
    assert admin.get("/admin/battles/call/", {"error": "cut"}).context["cl"].result_count == 1
    assert admin.get("/admin/battles/call/", {"error": "empty"}).context["cl"].result_count == 0


def test_runs_are_filtered_by_board(admin: Client):
    listed: Any = admin.get("/admin/leaderboard/aggregationrun/", {"scope": "overall"})
    assert listed.context["cl"].result_count == 0
