import hashlib
import json
import os
from datetime import timedelta
from pathlib import Path

import pytest
from asgiref.sync import async_to_sync
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.http import StreamingHttpResponse
from django.test import Client
from django.utils import timezone

from accounts.models import Scope
from battles import actions as battle_actions
from battles.models import Battle
from common.tables.parquet import read_rows as read_parquet
from leaderboard.errors import EmbargoInThePast, NothingToRelease, ReleaseExists
from leaderboard.exports.readers import read_rows
from leaderboard.models import DataPolicy, DataRelease, ReleaseFile
from leaderboard.releases import planning, publishing
from leaderboard.tasks import release_data
from tests import make
from tests.leaderboard.public_data.exports import publish
from tests.leaderboard.public_data.test_prompt_export import TURNS, make_vote
from tests.leaderboard.vote_factory import cast_many, contestants
from uploads.tasks import tidy_up

pytestmark = pytest.mark.django_db

API = "/api/v1/releases/"


@pytest.fixture(autouse=True)
def _storage(settings, tmp_path: Path):
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.ARENA_PUBLISH_VOTES = settings.ARENA_PUBLISH_PROMPTS = True


@pytest.fixture
def pair():
    return contestants("gold", "silver")


def release(**options: object) -> DataRelease:
    """Publish a release of the votes now; earlier releases become a day older."""
    for earlier in DataRelease.objects.order_by("day"):
        DataRelease.objects.filter(pk=earlier.pk).update(day=earlier.day - timedelta(days=1))
    publish()
    planned = planning.plan_release(**options)
    publishing.publish_due()
    return DataRelease.objects.get(pk=planned.pk)


@async_to_sync
async def content(response: StreamingHttpResponse) -> bytes:
    return b"".join([chunk async for chunk in response.streaming_content])


def download(client: Client, release: DataRelease, folder: Path) -> dict[str, Path]:
    """Return the listed files of a release, downloaded."""
    listed = next(line for line in client.get(API).json()["results"] if line["date"] == str(release))
    folder.mkdir()
    for file in listed["files"]:
        if file["url"]:
            (folder / file["name"]).write_bytes(content(client.get(file["url"])))
            assert file["bytes"] == (folder / file["name"]).stat().st_size
    return {path.name: path for path in folder.iterdir()}


def conversations(path: Path) -> list[tuple[int, bool, object]]:
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return [(row["order"], row["withdrawn"], row["turns"]) for row in rows]


def test_release_has_checksums_and_recomputes(pair, tmp_path, client: Client, capsys):
    cast_many(*pair, left=5, right=3)
    DataPolicy.objects.create(licence="CC BY 4.0", licence_url="https://example.org/by")
    files = download(client, release(), tmp_path / "release")
    assert set(files) == {
        *(f"{name}.{ending}" for name in ("votes", "conversations") for ending in ("jsonl", "csv", "parquet")),
        "snapshot.json", "release.json", "SHA256SUMS",
    }  # fmt: skip
    sums = dict(line.split("  ")[::-1] for line in files["SHA256SUMS"].read_text().splitlines())
    assert sums == {
        name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items() if name != "SHA256SUMS"
    }
    votes = [list(read_rows(files[f"votes.{ending}"])) for ending in ("jsonl", "csv", "parquet")]
    assert votes[0] == votes[1] == votes[2]  # with the same pseudonyms
    assert json.loads(files["release.json"].read_text())["licence"] == "CC BY 4.0"
    call_command("recompute_snapshot", standings=files["snapshot.json"], export=files["votes.csv"])
    assert "agrees" in capsys.readouterr().out


@pytest.mark.slow
def test_withdrawn_text_leaves_tombstones_in_later_releases(pair, tmp_path, client: Client):
    first, second = make_vote(pair), make_vote(pair)
    never = make_vote(pair)
    battle_actions.withdraw_consent(Battle.objects.filter(pk=never.battle_id))
    first_release = release()
    files = download(client, first_release, tmp_path / "one")
    assert conversations(files["conversations.jsonl"]) == [(first.order, False, TURNS), (second.order, False, TURNS)]
    battle_actions.delete_session(first.battle.session)
    for number in ("two", "three"):
        files = download(client, release(), tmp_path / number)
        tombstone = (first.order, True, None)
        assert conversations(files["conversations.jsonl"]) == [tombstone, (second.order, False, TURNS)]
    assert [row["withdrawn"] for row in read_parquet(files["conversations.parquet"])] == [True, False]
    first_release.refresh_from_db()
    assert {"votes.csv", "SHA256SUMS"} <= set(download(client, first_release, tmp_path / "again"))
    gone = first_release.files.get(name="conversations.jsonl")
    assert client.get(f"{API}{first_release}/{gone.name}").status_code == 404
    assert list(Path(default_storage.location).rglob("conversations.jsonl")) == [
        Path(default_storage.path(ReleaseFile.objects.get(name=gone.name, removed_at=None).stored_as))
    ]


def test_embargo_in_the_past_is_refused(pair):
    cast_many(*pair, left=5)
    with pytest.raises(NothingToRelease):
        planning.plan_release()
    publish()
    with pytest.raises(EmbargoInThePast):
        planning.plan_release(embargo_until=timezone.now() - timedelta(days=1))
    planning.plan_release()
    with pytest.raises(ReleaseExists):
        planning.plan_release()


@pytest.mark.slow
def test_schedule_plans_and_embargo_delays_publication(pair, client: Client):
    cast_many(*pair, left=5)
    publish()
    release_data()
    assert not DataRelease.objects.exists()
    DataPolicy.objects.create(release_every_days=7, embargo_days=3)
    release_data(), release_data()
    planned = DataRelease.objects.get()
    embargo = planned.embargo_until - planned.planned_at
    assert (planned.state, round(embargo / timedelta(days=1), 3)) == ("planned", 3)
    assert client.get(API).json()["results"] == []
    assert "is under embargo until" in client.get("/data/").text
    cast_many(*pair, right=5)
    DataRelease.objects.update(embargo_until=planned.planned_at)
    publish(), release_data(), release_data()
    assert DataRelease.objects.get().files.get(name="votes.csv").rows == 5  # those of the day
    DataRelease.objects.update(day=planned.day - timedelta(days=7))
    release_data()
    assert DataRelease.objects.count() == 2


def test_failed_release_leaves_no_files_and_is_repeated(pair, monkeypatch):
    cast_many(*pair, left=5)
    save = default_storage.save
    monkeypatch.setattr(default_storage, "save", lambda name, file: save(name, file) if "votes" in name else 1 / 0)
    failed = release()
    assert (failed.state, failed.lease_until, failed.files.count()) == ("planned", None, 0)
    assert [file for path in Path(default_storage.location).rglob("*") if (file := path).is_file()] == []
    monkeypatch.undo()
    release_data()
    assert DataRelease.objects.get().state == "published"


def test_clean_up_of_uploads_keeps_releases(pair):
    cast_many(*pair, left=5)
    release()
    stored = [Path(default_storage.path(file.stored_as)) for file in ReleaseFile.objects.all()]
    for path in stored:
        os.utime(path, (0, 0))
    tidy_up()
    assert stored
    assert all(path.exists() for path in stored)


def test_unpublished_arena_gives_releases_to_members(pair, client: Client, settings):
    settings.ARENA_PUBLISH_VOTES = False
    cast_many(*pair, left=5)
    file = f"{API}{release()}/votes.jsonl"
    assert [client.get(url).status_code for url in (API, file)] == [403, 403]
    for scope, status in [(Scope.READ, 403), (Scope.EXPORT, 200)]:
        headers = make.bearer(scopes=[scope])
        assert [client.get(url, headers=headers).status_code for url in (API, file)] == [status, status]
