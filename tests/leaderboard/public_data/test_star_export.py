import csv
import io
import json

import pytest
from arro3.io import read_parquet
from django.test import Client

from battles import actions
from common.tables.writers import WRITERS
from leaderboard.exports.selection import open_star_export
from tests.leaderboard.boards.test_star_board import SLUGS, compared, give, publish
from tests.leaderboard.vote_factory import contestants

pytestmark = pytest.mark.django_db

COLUMNS = ["order", "voter", "turn", "answer", "side", "model", "stars", "created_at", "latest"]


@pytest.fixture(autouse=True)
def models(settings):
    settings.ARENA_PUBLISH_VOTES = True
    return contestants(*SLUGS)


def file_of(ending: str = "jsonl", **options: str) -> bytes:
    export = open_star_export(**options)
    return b"".join(WRITERS[ending](export.batches(), export.table))


def lines(content: bytes) -> list[dict]:
    return [json.loads(line) for line in content.splitlines()]


def test_star_export_has_every_rating_and_marks_latest():
    actor, answers = give(5, 3, None)
    actions.give_stars(actor=actor, answer=answers[0], stars=1)
    give(None, None, 4)
    exported = lines(file_of())
    assert [list(row) for row in exported] == [COLUMNS] * 4
    ratings = [(row["order"], row["side"], row["model"], row["stars"], row["latest"]) for row in exported]
    assert ratings == [
        (1, "1", "ant", 5, False),
        (2, "2", "bee", 3, True),
        (3, "1", "ant", 1, True),
        (4, "3", "cat", 4, True),
    ]
    assert len({row["voter"] for row in exported}) == len({row["turn"] for row in exported}) == 2
    assert exported[0]["answer"] == exported[2]["answer"]
    assert str(actor.user.pk) not in {row["voter"] for row in exported}
    assert {row["voter"] for row in exported}.isdisjoint(row["voter"] for row in lines(file_of()))


def test_star_formats_are_equal(tmp_path):
    give(5, 3, 2)
    expected = [(row["order"], row["model"], row["stars"], row["latest"]) for row in lines(file_of())]
    cells = list(csv.DictReader(io.StringIO(file_of("csv").decode())))
    assert list(cells[0]) == COLUMNS
    assert [(int(row["order"]), row["model"], int(row["stars"]), row["latest"] == "True") for row in cells] == expected
    file = tmp_path / "stars.parquet"
    file.write_bytes(file_of("parquet"))
    table = read_parquet(file).read_all()
    names = [field.name for field in table.schema]
    assert names == COLUMNS
    columns = {name: table.column(name).to_pylist() for name in ("order", "model", "stars", "latest")}
    assert list(zip(*columns.values(), strict=True)) == expected


def test_star_export_of_snapshot_omits_later_stars():
    actor, answers = give(5, 3, None)
    run = publish("1")
    actions.give_stars(actor=actor, answer=answers[0], stars=1)
    assert [(row["stars"], row["latest"]) for row in lines(file_of(snapshot=run.public_id))] == [
        (5, True),
        (3, True),
    ]
    assert [row["order"] for row in lines(file_of(since="2"))] == [3]
    assert file_of(since="2100-01-01") == b""


def test_published_stars_are_public(client: Client):
    compared()
    response = client.get("/api/v1/exports/stars.csv")
    assert (response.status_code, response["Content-Disposition"]) == (200, 'attachment; filename="stars.csv"')
    assert client.get("/api/v1/exports/stars.jsonl", {"snapshot": "nothing"}).status_code == 404
    assert client.get("/api/v1/exports/stars.xml").status_code == 404


def test_unpublished_stars_need_a_member(client: Client, settings):
    settings.ARENA_PUBLISH_VOTES = False
    assert client.get("/api/v1/exports/stars.jsonl").status_code == 403
