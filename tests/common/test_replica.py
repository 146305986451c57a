import logging
import math
import re
import time
from collections.abc import Iterator

import pytest
from django.db import OperationalError, ProgrammingError, connections, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from psycopg import errors
from pytest_django import Settings

from accounts.models import User
from arena_site.operations import metrics
from arena_site.replica import check_address, check_standby
from battles.actions import cast_vote
from battles.models import Vote
from common.cache import TTLCached
from common.db import reading, replica
from common.db.replica import Problem, ReplicaReads, Status, Watcher, reads_replica
from common.prepared import PreparedQuery
from leaderboard.models import OVERALL, AggregationRun
from models_registry.models import LanguageModel
from tests import make
from tests.leaderboard.tally_checks import aggregate

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", reading.REPLICA])
# Tables of a person, which the primary alone answers for.
PERSONAL = ("accounts_", "account_", "auth_", "django_session", "battles_session", "mfa_", "socialaccount_")


@pytest.fixture(scope="module", autouse=True)
def _replica(django_db_setup: None) -> Iterator[None]:
    """The tests' database under the alias of the replica, too."""
    primary = connections["default"].settings_dict
    own = {
        "OPTIONS": {name: value for name, value in primary["OPTIONS"].items() if name != "pool"},
        "TEST": primary["TEST"] | {"MIRROR": "default"},
    }
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(connections.settings, reading.REPLICA, primary | own)
        yield
        connections[reading.REPLICA].close()
        del connections[reading.REPLICA]


@pytest.fixture
def usable_replica(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """The watcher finds the replica usable."""
    settings.DATABASE_ROUTERS = ["arena_site.replica.ReplicaRouter"]
    monkeypatch.setattr(replica.watcher, "_has_started", True)
    monkeypatch.setattr(replica.watcher, "_checked_at", math.inf)
    monkeypatch.setattr(replica.watcher, "status", Status(None, 0.0))


def statements(database: str) -> CaptureQueriesContext:
    return CaptureQueriesContext(connections[database])


class Failing:
    """A read that the replica fails."""

    def __init__(self, error: Exception) -> None:
        self.error, self.read = error, []

    def __call__(self) -> str:
        self.read.append(reading.alias())
        if self.read[-1] == reading.REPLICA:
            raise self.error
        return "read"


@pytest.fixture
def published() -> LanguageModel:
    left, right = make.model(), make.model()
    for _ in range(3):
        actor = make.visitor()
        cast_vote(actor=actor, battle=make.answered_battle(left, right, actor=actor), choice=Vote.Choice.LEFT)
    aggregate()
    return left


def test_public_pages_read_the_replica(usable_replica: None, published: LanguageModel):
    actor = make.member()
    make.battle(make.model(), make.model(), actor=actor)
    client, run = make.browser(actor), AggregationRun.objects.snapshots(OVERALL).get()
    other = LanguageModel.objects.exclude(pk=published.pk).first()
    assert other is not None
    for path in (
        "/leaderboard/", "/leaderboard/charts/", f"/leaderboard/models/{published.slug}/", "/leaderboard/compare/",
        f"/leaderboard/compare/{published.slug}/{other.slug}/", "/leaderboard/snapshots/",
        f"/leaderboard/snapshots/{run.public_id}/", "/data/", "/api/v1/leaderboard/", "/api/v1/boards/",
        f"/api/v1/leaderboard/models/{published.slug}/", "/api/v1/leaderboard/matrix/",
        "/api/v1/exports/votes.jsonl", "/api/v1/releases/", "/metrics",
    ):  # fmt: skip
        with statements(reading.REPLICA) as on_replica, statements("default") as on_primary:
            assert client.get(path).status_code == 200, path
        replicated = " ".join(query["sql"] for query in on_replica)
        assert replicated, path
        assert not [table for table in PERSONAL if f'FROM "{table}' in replicated], path
        if not path.startswith(("/api/", "/metrics")):
            assert "battles_session" in " ".join(query["sql"] for query in on_primary), path


def test_own_pages_and_the_administration_read_the_primary(usable_replica: None, administrator: User):
    client = Client()
    client.force_login(administrator)
    for path in ("/", "/admin/", "/admin/models_registry/languagemodel/", "/accounts/tokens/"):
        with statements(reading.REPLICA) as on_replica:
            assert client.get(path).status_code in (200, 302, 404), path
        assert not on_replica.captured_queries, path


def test_writes_go_to_the_primary(usable_replica: None):
    model = make.model()
    with reading.replica_allowed(True), statements(reading.REPLICA) as on_replica:
        read = LanguageModel.objects.get(pk=model.pk)
        assert read._state.db == reading.REPLICA
        read.name = "Renamed"
        read.save()
        LanguageModel.objects.filter(pk=model.pk).update(organization="Other")
        LanguageModel.objects.select_for_update().filter(pk=model.pk)
        read.delete()
    assert {query["sql"].split()[0] for query in on_replica} == {"SELECT"}
    assert not LanguageModel.objects.filter(pk=model.pk).exists()


def test_reads_within_a_transaction_see_its_writes(usable_replica: None):
    with reading.replica_allowed(True), transaction.atomic():
        model = make.model()
        assert LanguageModel.objects.get(pk=model.pk)._state.db == "default"
        assert reading.alias() == "default"
    assert reads_replica(reading.alias)() == reading.REPLICA
    assert reading.alias() == "default"


def test_caches_and_prepared_queries_read_the_primary(usable_replica: None):
    model = make.model()
    cached = TTLCached(reading.alias, ttl_s=60)
    prepared = PreparedQuery(lambda pk: LanguageModel.objects.filter(pk=pk), int)
    with reading.replica_allowed(True):
        assert cached() == "default"
        assert [row._state.db for row in prepared(model.pk)] == ["default"]


@pytest.mark.parametrize(
    ("kind", "cause"),
    [
        (OperationalError, errors.SerializationFailure("canceling statement due to conflict with recovery")),
        (OperationalError, errors.AdminShutdown("terminating connection")),
        (ProgrammingError, errors.UndefinedColumn("column does not exist")),
    ],
)
def test_read_that_the_replica_fails_is_repeated(
    usable_replica: None, kind: type[Exception], cause: Exception, caplog: pytest.LogCaptureFixture
):
    error = kind(str(cause))
    error.__cause__ = cause
    failing = Failing(error)
    with caplog.at_level(logging.WARNING):
        assert reads_replica(failing)() == "read"
        assert reads_replica(failing)() == "read"
    assert failing.read == [reading.REPLICA, "default", "default"]
    assert [record.message for record in caplog.records] == [
        f"the primary is read: the replica failed a read ({cause})"
    ]


def test_mistakes_in_queries_are_not_repeated(usable_replica: None):
    failing = Failing(ProgrammingError("syntax error"))
    with pytest.raises(ProgrammingError):
        reads_replica(failing)()
    assert failing.read == [reading.REPLICA]


def test_export_stays_on_the_primary_after_a_failure(usable_replica: None):
    read: list[str] = []

    def rows() -> Iterator[str]:
        for number in range(2):
            read.append(reading.alias())
            if read == [reading.REPLICA]:
                raise OperationalError("gone")
            yield f"row {number}"

    reads = ReplicaReads()
    found = []
    for row in reads.iterate(rows):
        found.append(row)
        assert reading.alias() == "default"  # between the steps
        replica.watcher.status = Status(None, 0.0)
    assert found == ["row 0", "row 1"]
    assert read == [reading.REPLICA, "default", "default"]


def test_late_or_unanswered_checks_end_the_use(usable_replica: None, monkeypatch: pytest.MonkeyPatch):
    replica.watcher.status = Status(Problem.LATE, 61.0)
    assert reads_replica(reading.alias)() == "default"
    replica.watcher.status = Status(None, 0.0)
    assert reads_replica(reading.alias)() == reading.REPLICA
    monkeypatch.setattr(replica.watcher, "_checked_at", time.monotonic() - replica.MAX_STATUS_AGE_S)
    assert reads_replica(reading.alias)() == "default"


def test_state_of_the_replica_is_shown(usable_replica: None, administrator: User, client: Client):
    client.force_login(administrator)
    replica.watcher.status = Status(None, 0.25)
    assert re.search(r"<dt>database replica</dt>\s*<dd>\s*0.3 s behind\s*</dd>", client.get("/admin/").text)
    assert client.get("/readyz").json()["replica"] == "ok"
    metrics._page.invalidate()
    assert {"arena_replica_up 1.0", "arena_replica_lag_seconds 0.25"} <= set(client.get("/metrics").text.splitlines())

    replica.watcher.status = Status(Problem.LATE, 61.0)
    page = client.get("/admin/").text
    assert "The database is read instead of its replica: it is too far behind." in page
    assert re.search(r'<dd class="operations-bad">\s*it is too far behind\s*</dd>', page)
    assert client.get("/readyz").json()["replica"] == "is too far behind"


def test_arena_without_a_replica_shows_none(administrator: User, client: Client):
    with pytest.MonkeyPatch.context() as patched:
        patched.delitem(connections.settings, reading.REPLICA)
        client.force_login(administrator)
        metrics._page.invalidate()
        for path in ("/admin/", "/readyz", "/metrics"):
            assert "replica" not in client.get(path).text, path


def test_lag_is_the_closest_upper_bound(monkeypatch: pytest.MonkeyPatch):
    watcher, now = Watcher(), 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    assert watcher._lag_s(10, 10, 900.0) == 0.0
    now = 105.0
    assert watcher._lag_s(20, 15, 900.0) == 5.0  # at 100 it had everything
    now = 110.0
    assert watcher._lag_s(30, 15, 900.0) == 10.0
    assert watcher._lag_s(30, 15, 3.0) == 3.0
    assert Watcher()._lag_s(30, 15, math.inf) == math.inf


def test_server_that_is_no_standby_is_named(
    usable_replica: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    watcher = Watcher()
    assert [watcher.check().problem for _ in range(2)] == [Problem.NO_STANDBY] * 2
    assert [record.message for record in caplog.records] == [
        "the primary is read: the replica is not a standby (it does not replay a primary's log)"
    ]
    assert [message.id for message in check_address()] == ["arena_site.E002"]
    monkeypatch.setitem(connections.settings[reading.REPLICA], "HOST", "/nowhere")
    connections[reading.REPLICA].close()
    del connections[reading.REPLICA]
    assert check_address() == []
    assert Watcher().check().problem == Problem.AWAY
    [message] = check_standby()
    assert message.id == "arena_site.W002"
    assert message.msg.startswith("The replica cannot be reached: ")
