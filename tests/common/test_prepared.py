from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from battles.models import Answer, Session
from common.prepared import PreparedQuery, set_prefetched
from tests import make

pytestmark = pytest.mark.django_db


def test_prepared_query_uses_the_values_of_each_call():
    sessions = [Session.objects.create(title=title) for title in ("tides", "salt", "tides")]
    titled = PreparedQuery(lambda title, pk: Session.objects.filter(title=title, pk__gte=pk).order_by("pk"), str, int)
    assert titled("tides", 0) == [sessions[0], sessions[2]]
    assert titled("tides", sessions[1].pk) == [sessions[2]]
    assert titled("' OR 1=1 --", 0) == []


def test_prepared_rows_keep_joins_and_deferred_fields():
    battle = make.battle(make.model(), make.model())
    plain = Answer.objects.select_related("side__model").defer("reasoning").filter(turn__battle=battle.pk)
    prepared = PreparedQuery(
        lambda pk: Answer.objects.select_related("side__model").defer("reasoning").filter(turn__battle=pk), int
    )
    for answer, known in zip(prepared(battle.pk), plain, strict=True):
        assert {**vars(answer), "_state": None} == {**vars(known), "_state": None}
        assert answer.get_deferred_fields() == {"reasoning"}
        with CaptureQueriesContext(connection) as queries:
            assert answer.side.model == known.side.model
        assert not queries.captured_queries


@pytest.mark.django_db(transaction=True)
def test_prepared_query_uses_each_threads_own_connection():
    user = User.objects.create_user(email="ada@example.org", password="")
    by_id = PreparedQuery(lambda pk: User.objects.filter(pk=pk), int)

    def run() -> tuple[list[User], int]:
        try:
            return by_id(user.pk), connection.connection.info.backend_pid
        finally:
            connection.close()

    assert by_id(user.pk) == [user]
    with ThreadPoolExecutor(1) as thread:
        users, backend = thread.submit(run).result()
    assert users == [user]
    assert backend != connection.connection.info.backend_pid


def test_value_changed_by_the_query_raises_type_error():
    by_prefix = PreparedQuery(lambda title: Session.objects.filter(title__startswith=title), str)
    with pytest.raises(TypeError, match="Session"):
        by_prefix("tides")


@pytest.mark.slow
def test_set_prefetched_leaves_no_query_both_ways():
    battle = make.battle(make.model(), make.model())
    sides = list(battle.sides.all())
    set_prefetched(battle, "sides", sides)
    with CaptureQueriesContext(connection) as queries:
        assert list(battle.sides.all()) == sides
        assert {side.battle for side in battle.sides.all()} == {battle}
    assert not queries.captured_queries
