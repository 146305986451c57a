from pathlib import Path

import pytest
from django.conf import settings
from django.test import override_settings

from accounts.models import Scope
from common.tables.writers import WRITERS
from leaderboard.exports import votes
from leaderboard.exports.readers import read_rows
from tests import make
from tests.leaderboard.public_data.exports import publish
from tests.leaderboard.vote_factory import cast_many, contestants
from tests.site import Reader, serve

API = "/api/v1/exports/votes."


def token_headers(*scopes: Scope) -> dict[str, str]:
    return make.bearer(scopes=scopes)


@pytest.mark.django_db
def test_unpublished_votes_need_export_scope_or_login(client):
    refused = client.get(f"{API}jsonl")
    assert (refused.status_code, refused.json()["code"]) == (403, "permission_denied")
    assert client.get(f"{API}jsonl", headers=token_headers(Scope.READ, Scope.VOTE)).status_code == 403
    assert client.get(f"{API}jsonl", headers=token_headers(Scope.EXPORT)).status_code == 200
    client.force_login(make.user())
    assert client.get(f"{API}jsonl").status_code == 200


@pytest.mark.django_db
@override_settings(ARENA_PUBLISH_VOTES=True)
def test_published_votes_are_public(client):
    response = client.get(f"{API}csv")
    assert (response.status_code, response["Content-Type"]) == (200, "text/csv; charset=utf-8")
    assert response["Content-Disposition"] == 'attachment; filename="votes.csv"'
    assert client.get(f"{API}parquet", headers={"Accept": "application/vnd.apache.parquet"}).status_code == 200


@pytest.mark.django_db
@override_settings(ARENA_PUBLISH_VOTES=True)
def test_invalid_export_request_is_refused(client):
    for url, status, code in [
        (f"{API}xlsx", 404, "not_found"),
        (f"{API}jsonl?snapshot=unheard-of", 404, "not_found"),
        (f"{API}jsonl?snapshot=%00", 400, "invalid"),
        (f"{API}jsonl?since=yesterday", 400, "invalid"),
        (f"{API}jsonl?since=1{'0' * 30}", 400, "invalid"),
        (f"{API}jsonl?since=%00", 400, "invalid"),
        (f"{API}jsonl?since=1&snapshot=x", 400, "invalid"),
    ]:
        response = client.get(url)
        assert (response.status_code, response.json()["code"]) == (status, code)


@pytest.mark.django_db(transaction=True)
@override_settings(ARENA_PUBLISH_VOTES=True)
@pytest.mark.parametrize(
    "since", ["0", "9" * 18, "0001-01-01T00:00%2B23:59", "9999-12-31T23:59:59-23:59", "2026-01-31"]
)
def test_extreme_since_values_are_accepted(since):
    with serve() as site:
        assert Reader(site).get(f"{API}csv?since={since}").status_code == 200


@pytest.mark.django_db
@override_settings(ARENA_PUBLISH_VOTES=True, ARENA_LIMITS=settings.ARENA_LIMITS | {("export", "network"): "2/hour"})
def test_visitor_exports_are_rate_limited(client):
    assert [client.get(f"{API}jsonl").status_code for _ in range(3)] == [200, 200, 429]


@pytest.mark.django_db(transaction=True)
@override_settings(ARENA_PUBLISH_VOTES=True)
@pytest.mark.parametrize("ending", WRITERS)
def test_streamed_export_is_complete(tmp_path: Path, monkeypatch, ending):
    monkeypatch.setattr(votes, "BATCH", 3)
    gold, silver = contestants("gold", "silver")
    cast_many(gold, silver, left=4, right=3)
    snapshot = publish()
    cast_many(gold, silver, tie=2)
    file = tmp_path / f"votes.{ending}"
    with serve() as site:
        file.write_bytes(Reader(site).get(f"{API}{ending}?snapshot={snapshot.public_id}").content)
    assert [row.choice for row in read_rows(file)] == ["left"] * 4 + ["right"] * 3
