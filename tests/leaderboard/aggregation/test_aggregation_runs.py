from datetime import UTC, datetime

import pytest
from django.core.management import CommandError, call_command
from django.db import ProgrammingError, connection, transaction
from django.db.models import F
from django.urls import reverse
from kombu.exceptions import OperationalError

from accounts.models import AuditEntry
from leaderboard import tasks
from leaderboard.aggregation import job
from leaderboard.boards.queries import BoardQuery, read_board
from leaderboard.counting import method, schedule, tallies
from leaderboard.models import AggregationRun, Standing
from tests import make
from tests.concurrency import race, run_in_other_connection
from tests.leaderboard.vote_factory import cast, cast_many, contestants

State = AggregationRun.State


@pytest.fixture
def pair():
    return contestants("a", "b")


def at_slot(monkeypatch: pytest.MonkeyPatch, hour: int) -> None:
    moment = datetime(2026, 1, 1, hour, 20, tzinfo=UTC)
    monkeypatch.setattr(schedule, "database_now", lambda: moment)


def test_slot_starts_on_the_hour(settings):
    settings.ARENA_AGGREGATE_EVERY_S = 3600
    moment = datetime(2026, 1, 1, 9, 20, 7, tzinfo=UTC)
    assert schedule.slot_at(moment) == schedule.slot_at(moment.replace(minute=0, second=0)) != ""
    assert schedule.slot_at(moment) != schedule.slot_at(moment.replace(hour=10, minute=0, second=0))
    assert schedule.next_due_at(moment) == datetime(2026, 1, 1, 10, tzinfo=UTC)


@pytest.mark.django_db
def test_slot_runs_once(pair, monkeypatch):
    at_slot(monkeypatch, 9)
    cast_many(*pair, left=6)
    assert job.aggregate_if_due().state == State.DONE
    cast_many(*pair, right=3)
    assert job.aggregate_if_due() is None
    at_slot(monkeypatch, 10)
    assert job.aggregate_if_due().votes_counted == 9


@pytest.mark.slow
@pytest.mark.django_db
def test_young_board_is_counted_early(pair, monkeypatch):
    at_slot(monkeypatch, 9)
    assert job.aggregate_if_due().state == State.UNCHANGED
    cast(*pair, "left", excluded="identity_leak")
    assert job.aggregate_if_due() is None
    counted = []
    for votes in (1, 8, 1, 19, 1, 69, 1, 500):
        cast_many(*pair, left=votes)
        run = job.aggregate_if_due()
        counted.append(run and run.votes_counted)
        assert job.aggregate_if_due() is None
    assert counted == [1, None, 10, None, 30, None, 100, None]
    cast(*pair, "left", mode="side_by_side")
    assert job.aggregate_if_due().votes_counted == 600
    newest = AggregationRun.objects.newest_of_each_board().values_list("scope", "votes_counted")
    assert dict(newest) == {"overall": 600, "language:und": 600, "side-by-side": 1}


@pytest.mark.django_db(transaction=True)
def test_repeated_task_publishes_one_snapshot(pair):
    cast_many(*pair, left=6)

    def deliver(_):
        tasks.aggregate_votes("asked: once")
        tasks.aggregate_votes()

    race(deliver, range(10))
    overall = AggregationRun.objects.filter(scope="overall", state=State.DONE)
    assert overall.filter(slot="asked: once").count() == 1
    assert overall.count() <= 2
    assert AggregationRun.objects.filter(scope="language:und").count() == 1
    assert Standing.objects.filter(run__slot="asked: once", run__scope="overall").count() == 2


@pytest.mark.django_db
def test_unchanged_board_is_not_published(pair, monkeypatch):
    cast_many(*pair, left=6)
    states = []
    for hour in (9, 10, 11):
        at_slot(monkeypatch, hour)
        states.append(job.aggregate_if_due().state)
    assert states == [State.DONE, State.UNCHANGED, State.UNCHANGED]
    snapshot = read_board(BoardQuery())["snapshot"]
    assert snapshot == AggregationRun.objects.get(scope="overall", state=State.DONE).public_id


@pytest.mark.django_db
def test_arena_without_votes_publishes_nothing():
    assert job.aggregate_if_due().state == State.UNCHANGED


@pytest.mark.django_db
def test_changed_parameters_publish_snapshot(pair, monkeypatch):
    cast_many(*pair, left=6)
    at_slot(monkeypatch, 9)
    first = job.aggregate_if_due()
    monkeypatch.setattr(method, "LISTED_FROM_VOTES", 50)
    at_slot(monkeypatch, 10)
    second = job.aggregate_if_due()
    assert second.state == State.DONE
    assert second.parameters_hash != first.parameters_hash
    assert set(second.standings.values_list("score", flat=True)) == {None}


@pytest.mark.django_db(transaction=True)
def test_run_does_not_start_while_another_is_active(pair):
    cast_many(*pair, left=6)

    with transaction.atomic():
        tallies.lock()
        assert run_in_other_connection(lambda: job.aggregate(slot="second")) is None
        with pytest.raises(CommandError, match="Another run is under way"):
            run_in_other_connection(lambda: call_command("aggregate_votes"))
    assert job.aggregate(slot="second").votes_counted == 6


@pytest.mark.django_db(transaction=True)
def test_killed_worker_does_not_block_next_run(pair, monkeypatch):
    cast_many(*pair, left=6)

    def terminate_connection():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    with monkeypatch.context() as patch:
        patch.setattr(job, "_log_position", terminate_connection)
        with pytest.raises(Exception, match="terminat"):
            job.aggregate(slot="killed")
    connection.close()
    assert job.aggregate(slot="next").votes_counted == 6


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("rows", [AggregationRun, Standing])
def test_published_rows_cannot_be_changed(pair, rows):
    cast_many(*pair, left=6)
    job.aggregate_if_due()
    with pytest.raises(ProgrammingError, match="Cannot update or delete"):
        rows.objects.update(id=F("id") + 1)
    with pytest.raises(ProgrammingError, match="Cannot update or delete"):
        rows.objects.all()._raw_delete("default")


@pytest.mark.django_db
def test_snapshot_records_method_and_inputs(pair, capsys):
    cast_many(*pair, left=6, tie=2)
    cast(*pair, "left", excluded="incomplete")
    call_command("aggregate_votes")
    run = AggregationRun.objects.get(scope="overall")
    assert f"Snapshot {run.public_id}: 9 new votes, 8 counted, 1 excluded, 2 models" in capsys.readouterr().out
    assert run.method == "bradley-terry-5"
    assert run.parameters == {
        "listed_from_votes": 5, "established_from_votes": 30, "virtual_ties": 0.5, "offset": 1500,
        "elo_start": 1500, "elo_k": 32,
    }  # fmt: skip
    assert (run.last_order, run.votes_excluded) == (9, {"incomplete": 1})
    assert len(run.tallies_checksum) == len(run.parameters_hash) == 64
    assert run.started_at <= run.finished_at


@pytest.mark.django_db
def test_requested_run_is_queued_and_audited(
    pair, admin_client, admin_user, monkeypatch, django_capture_on_commit_callbacks
):
    cast_many(*pair, left=6)
    queued_slots = []
    monkeypatch.setattr(tasks.aggregate_votes, "delay", queued_slots.append)
    page = admin_client.get(reverse("admin:leaderboard_aggregationrun_changelist"))
    assert b"Aggregate now" in page.content
    with django_capture_on_commit_callbacks(execute=True):
        response = admin_client.post(reverse("admin:leaderboard_aggregate_now"))
    assert response.status_code == 302
    [slot] = queued_slots
    assert AuditEntry.objects.get().subject == slot
    assert AuditEntry.objects.get().user == admin_user
    assert not AggregationRun.objects.exists()


@pytest.mark.django_db
def test_requested_run_without_broker_runs_at_once(pair, admin_client, monkeypatch, django_capture_on_commit_callbacks):
    cast_many(*pair, left=6)

    def fail(slot):
        raise OperationalError("no broker")

    monkeypatch.setattr(tasks.aggregate_votes, "delay", fail)
    with django_capture_on_commit_callbacks(execute=True):
        admin_client.post(reverse("admin:leaderboard_aggregate_now"))
    assert AggregationRun.objects.get(scope="overall").votes_counted == 6


@pytest.mark.django_db
def test_run_request_requires_permission(client):
    url = reverse("admin:leaderboard_aggregate_now")
    client.force_login(make.user(is_staff=True))
    assert client.post(url).status_code == 403
    assert b"Aggregate now" not in client.get(reverse("admin:leaderboard_aggregationrun_changelist")).content
    client.force_login(make.user(is_staff=True, is_superuser=True))
    assert client.get(url).status_code == 405
    assert not AuditEntry.objects.exists()
