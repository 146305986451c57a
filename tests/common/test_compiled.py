"""Queries compiled once say what the querysets they were made of say."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from battles.models import Answer, Session
from common.compiled import Compiled, fill_related
from tests import make

pytestmark = pytest.mark.django_db


def test_it_asks_for_the_values_it_is_given_each_time():
    sessions = [Session.objects.create(title=title) for title in ("tides", "salt", "tides")]
    titled = Compiled(lambda title, pk: Session.objects.filter(title=title, pk__gte=pk).order_by("pk"), str, int)
    assert titled("tides", 0) == [sessions[0], sessions[2]]
    assert titled("tides", sessions[1].pk) == [sessions[2]]
    assert titled("' OR 1=1 --", 0) == []


def test_rows_come_with_what_was_joined_annotated_and_deferred():
    battle = make.battle(make.model(), make.model())
    plain = Answer.objects.select_related("side__model").defer("reasoning").filter(turn__battle=battle.pk)
    compiled = Compiled(
        lambda pk: Answer.objects.select_related("side__model").defer("reasoning").filter(turn__battle=pk), int
    )
    for found, known in zip(compiled(battle.pk), plain, strict=True):
        assert {**vars(found), "_state": None} == {**vars(known), "_state": None}
        assert found.get_deferred_fields() == {"reasoning"}
        with CaptureQueriesContext(connection) as questions:
            assert found.side.model == known.side.model
        assert not questions.captured_queries


@pytest.mark.django_db(transaction=True)
def test_each_thread_asks_over_its_own_connection():
    user = User.objects.create_user(email="ada@example.org", password="")
    by_id = Compiled(lambda pk: User.objects.filter(pk=pk), int)

    def ask() -> tuple[list[User], int]:
        try:
            return by_id(user.pk), connection.connection.info.backend_pid
        finally:
            connection.close()

    assert by_id(user.pk) == [user]
    with ThreadPoolExecutor(1) as thread:
        found, backend = thread.submit(ask).result()
    assert found == [user]
    assert backend != connection.connection.info.backend_pid


def test_a_value_that_the_query_would_change_is_refused():
    shouted = Compiled(lambda title: Session.objects.filter(title__startswith=title), str)
    with pytest.raises(TypeError, match="Session"):
        shouted("tides")


def test_what_was_filled_in_asks_nothing_both_ways():
    battle = make.battle(make.model(), make.model())
    sides = list(battle.sides.all())
    fill_related(battle, "sides", sides)
    with CaptureQueriesContext(connection) as questions:
        assert list(battle.sides.all()) == sides
        assert {side.battle for side in battle.sides.all()} == {battle}
    assert not questions.captured_queries
