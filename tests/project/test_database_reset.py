"""Tests with transactions of their own leave no rows."""

import pytest
from django.contrib.auth.models import Group, Permission
from django.db import connection
from django.test import TransactionTestCase

from accounts.models import User
from arena_site.moderators import MODERATORS
from battles.models import Vote
from tests import database_reset
from tests.leaderboard.vote_factory import cast_many, contestants

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def truncations(monkeypatch) -> list[TransactionTestCase]:
    seen: list[TransactionTestCase] = []
    truncate_all = database_reset._truncate_all
    monkeypatch.setattr(database_reset, "_truncate_all", lambda case: (seen.append(case), truncate_all(case)))
    return seen


def test_reset_deletes_rows_of_protected_tables(truncations):
    cast_many(*contestants("ada", "bob"), left=3)
    database_reset.reset(TransactionTestCase())
    assert not Vote.objects.exists()
    assert not truncations
    with connection.cursor() as cursor:
        cursor.execute("SHOW session_replication_role")
        assert cursor.fetchone() == ("origin",)


@pytest.mark.parametrize("change", [Permission.objects.all, Group.objects.all])
def test_changed_permissions_are_restored(truncations, change):
    before = set(Permission.objects.values_list("codename", flat=True))
    change().delete()
    database_reset.reset(TransactionTestCase())
    assert set(Permission.objects.values_list("codename", flat=True)) == before
    assert Group.objects.get(name=MODERATORS).permissions.exists()
    assert len(truncations) == 1


def test_large_tables_are_truncated(truncations, monkeypatch):
    monkeypatch.setattr(database_reset, "MAX_BYTES", 0)
    User.objects.create_user("ada@example.org")
    database_reset.reset(TransactionTestCase())
    assert not User.objects.exists()
    assert len(truncations) == 1
