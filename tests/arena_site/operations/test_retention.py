import shutil
import tempfile
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings as as_shipped
from django.contrib.sessions.models import Session as BrowserSession
from django.db import connection
from django.db.models import F
from django.utils import timezone

from accounts.actor import Actor
from accounts.models import Visitor
from arena_site.embedded.valkey import Valkey
from arena_site.retention import PurgeIncomplete
from arena_site.supervisor.child import Child
from arena_site.tasks import purge
from battles.actions import cast_vote
from battles.models import Session, Turn, Vote
from common.valkey import connections
from tests import make
from tests.valkey import valkey_at
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db


def session_of(actor: Actor, *, days_ago: int) -> Session:
    battle = make.answered_battle(make.model(), make.model(), actor=actor)
    cast_vote(actor=actor, battle=battle, choice=Vote.Choice.LEFT)
    Session.objects.filter(pk=battle.session_id).update(last_active_at=timezone.now() - timedelta(days=days_ago))
    return battle.session


def kept() -> set[int]:
    return set(Session.objects.exclude(owner_user=None, owner_visitor=None).values_list("pk", flat=True))


def test_sessions_are_kept_forever_by_default():
    assert as_shipped.ARENA_KEEP_DAYS == 0
    old = session_of(make.visitor(), days_ago=5000)
    purge()
    assert kept() == {old.pk}


@pytest.mark.parametrize("owner", [make.visitor, make.member])
def test_session_without_activity_is_deleted(settings, owner: Callable[[], Actor]):
    settings.ARENA_KEEP_DAYS = 30
    old, new = session_of(owner(), days_ago=31), session_of(owner(), days_ago=29)
    purge()
    assert kept() == {new.pk}
    assert Turn.objects.get(battle__session=old).prompt == ""
    assert Turn.objects.get(battle__session=new).prompt != ""
    assert Vote.objects.count() == 2
    assert Vote.objects.get(battle__session=old).voter.startswith("deleted:")


def test_undeletable_session_is_reported_after_others(settings, caplog):
    settings.ARENA_KEEP_DAYS = 30
    sessions = [session_of(actor, days_ago=31) for actor in (make.visitor(), make.visitor(), make.member())]
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION stays() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN IF NEW.battle_id = TG_ARGV[0]::bigint THEN RAISE 'it stays'; END IF; RETURN NEW; END $$"
        )
        cursor.execute(
            "CREATE TRIGGER one_stays BEFORE UPDATE ON battles_turn FOR EACH ROW "
            f"EXECUTE FUNCTION stays({sessions[0].battles.get().pk})"
        )
    with pytest.raises(PurgeIncomplete, match=r"should be: 1$"):
        purge()
    assert kept() == {sessions[0].pk}
    assert f"session {sessions[0].pk} cannot be deleted" in caplog.text


@pytest.mark.parametrize(("keep_days", "network_days"), [(0, 60), (90, 60), (30, 30)])
def test_network_hash_is_deleted_after_60_days_at_most(settings, keep_days: int, network_days: int):
    settings.ARENA_KEEP_DAYS = keep_days
    for days_ago in (network_days - 1, network_days + 1):
        visitor = Visitor.objects.create(network="2026-09:word")
        Visitor.objects.filter(pk=visitor.pk).update(created_at=F("created_at") - timedelta(days=days_ago))
    purge()
    assert list(Visitor.objects.order_by("pk").values_list("network", flat=True)) == ["2026-09:word", ""]


def test_expired_browser_session_is_purged():
    for number, hours in enumerate((-1, 1)):
        over = timezone.now() + timedelta(hours=hours)
        BrowserSession.objects.create(session_key=f"k{number}", session_data="", expire_date=over)
    purge()
    assert [row.session_key for row in BrowserSession.objects.all()] == ["k1"]


def test_second_purge_changes_nothing(settings):
    settings.ARENA_KEEP_DAYS = 1
    session_of(make.visitor(), days_ago=2)
    purge()
    voter = Vote.objects.get().voter
    purge()
    assert Vote.objects.get().voter == voter


@pytest.fixture
def durable_valkey() -> Iterator[Path]:
    """Use a Valkey with an append-only file; yield its directory."""
    directory = Path(tempfile.mkdtemp(prefix="arena-test-", dir="/tmp"))
    server = Valkey(directory / "data", directory)
    child = Child(server.prepare(), directory)
    child.wait_until_ready(within=60)
    with valkey_at(server.url):
        yield directory / "data"
    child.stop(within=5)
    shutil.rmtree(directory)


def test_purge_removes_old_texts_from_valkeys_file(durable_valkey: Path):
    def is_on_disk() -> bool:
        return any(b"private words" in file.read_bytes() for file in durable_valkey.rglob("*.aof"))

    connections.connection().set("stream", "private words")
    connections.connection().delete("stream")
    wait_for(is_on_disk)
    purge()
    wait_for(lambda: not is_on_disk())


@pytest.mark.usefixtures("no_valkey")
def test_purge_without_valkey_deletes_rows(settings):
    settings.ARENA_KEEP_DAYS = 30
    session_of(make.visitor(), days_ago=31)
    purge()
    assert kept() == set()
