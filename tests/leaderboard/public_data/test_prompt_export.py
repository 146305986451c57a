import csv
import json
from pathlib import Path

import pytest
from django.core.management import CommandError
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Scope
from battles import actions as battle_actions
from battles.models import Answer, Battle, Turn, Vote
from common.tables.parquet import read_rows as read_parquet
from leaderboard import actions
from leaderboard.exports import conversations
from tests import make
from tests.leaderboard.public_data.exports import export, publish, rows
from tests.leaderboard.vote_factory import contestants

pytestmark = pytest.mark.django_db

URL = "/api/v1/exports/votes.jsonl?prompts=1"
TURNS = [{"prompt": "one two three", "left": "to the left", "right": "to the right"}]


@pytest.fixture(autouse=True)
def _publish_prompts(settings):
    settings.ARENA_PUBLISH_PROMPTS = True


@pytest.fixture
def pair():
    return contestants("gold", "silver")


def make_vote(pair, *, consent: str = "v1") -> Vote:
    actor = make.visitor()
    battle = make.answered_battle(*pair, actor=actor)
    for side in ("left", "right"):
        Answer.objects.filter(turn__battle=battle, side__position=side).update(text=f"to the {side}")
    Battle.objects.filter(pk=battle.pk).update(consent=consent)
    vote = battle_actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice.LEFT)
    Vote.objects.filter(pk=vote.pk).update(excluded_reason="")
    return Vote.objects.get(pk=vote.pk)


def lines(folder: Path, *options: str) -> list[dict]:
    return [json.loads(line) for line in export(folder, "--prompts", *options).read_text().splitlines()]


def texts(folder: Path, *options: str) -> list[tuple]:
    return [(line["consent"], line["turns"]) for line in lines(folder, *options)]


def test_texts_need_consent_and_option(pair, tmp_path):
    make_vote(pair), make_vote(pair, consent="")
    assert texts(tmp_path) == [("v1", TURNS), (None, None)]
    assert "to the left" not in export(tmp_path).read_text()
    assert "consent" not in export(tmp_path).read_text()


def test_turns_after_vote_are_not_exported(pair, tmp_path):
    vote = make_vote(pair)
    for index, after_vote in ((1, False), (2, True)):
        turn = make.turn(vote.battle, prompt=f"turn {index}")
        Turn.objects.filter(pk=turn.pk).update(after_vote=after_vote, state=Turn.State.DONE)
    assert texts(tmp_path) == [("v1", [*TURNS, {"prompt": "turn 1", "left": "", "right": ""}])]


def test_hidden_deleted_or_excluded_votes_have_no_texts(pair, tmp_path):
    hidden, discarded, deleted, excluded, _ = (make_vote(pair) for _ in range(5))
    Battle.objects.filter(pk=hidden.battle_id).update(hidden_at=timezone.now())
    battle_actions.discard_session(discarded.battle.session)
    battle_actions.delete_session(deleted.battle.session)
    actions.retract(excluded, reason=Vote.ExcludedReason.MODERATION, by=None)
    assert texts(tmp_path) == [*[(None, None)] * 4, ("v1", TURNS)]


def test_withdrawn_consent_removes_texts_from_all_exports(pair, tmp_path):
    vote = make_vote(pair)
    make_vote(pair)
    snapshot = publish()
    assert texts(tmp_path, "--snapshot", snapshot.public_id) == [("v1", TURNS)] * 2
    battle_actions.withdraw_consent(Battle.objects.filter(pk=vote.battle_id))
    assert texts(tmp_path) == texts(tmp_path, "--snapshot", snapshot.public_id) == [(None, None), ("v1", TURNS)]


def test_snapshot_export_omits_texts_of_excluded_votes(pair, tmp_path):
    vote = make_vote(pair)
    make_vote(pair)
    snapshot = publish()
    actions.retract(vote, reason=Vote.ExcludedReason.MODERATION, by=None)
    assert texts(tmp_path, "--snapshot", snapshot.public_id) == [(None, None), ("v1", TURNS)]


def test_every_format_with_texts_can_be_read(pair, tmp_path):
    make_vote(pair), make_vote(pair, consent="")
    with export(tmp_path, "--prompts", ending="csv").open() as file:
        [first, second] = csv.DictReader(file)
    assert (first["consent"], json.loads(first["turns"])) == ("v1", TURNS)
    assert (second["consent"], second["turns"]) == ("", "")
    [first, second] = read_parquet(export(tmp_path, "--prompts", ending="parquet"))
    assert (first["consent"], json.loads(first["turns"])) == ("v1", TURNS)
    assert (second["consent"], second["turns"]) == (None, None)
    for ending in ("jsonl", "csv", "parquet"):
        assert [row.choice for row in rows(tmp_path, "--prompts", ending=ending)] == ["left", "left"]


def test_exported_texts_contain_no_identifiers(pair, tmp_path):
    vote = make_vote(pair)
    [line] = lines(tmp_path)
    content = json.dumps(line)
    for secret in (vote.voter, vote.battle.public_id, vote.battle.session.public_id):
        assert secret not in content


@pytest.mark.slow
def test_texts_are_read_in_batches_of_constant_queries(pair, tmp_path, monkeypatch):
    def query_count() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert {consent for consent, _ in texts(tmp_path)} == {"v1"}
        return len(queries)

    make_vote(pair)
    one_vote = query_count()
    for _ in range(5):
        make_vote(pair)
    assert query_count() == one_vote
    monkeypatch.setattr(conversations, "BATCH", 2)
    assert query_count() > one_vote
    assert texts(tmp_path) == [("v1", TURNS)] * 6


def test_unpublished_prompts_are_refused(pair, tmp_path, settings, client: Client):
    make_vote(pair)
    settings.ARENA_PUBLISH_PROMPTS, settings.ARENA_PUBLISH_VOTES = False, True
    with pytest.raises(CommandError, match="does not publish prompts"):
        export(tmp_path, "--prompts")
    response = client.get(URL)
    assert (response.status_code, list(response.json()["fields"])) == (400, ["prompts"])


def test_api_prompts_need_access_to_votes(client: Client, settings):
    assert client.get(URL).status_code == 403
    assert client.get(URL, headers=make.bearer(scopes=[Scope.READ])).status_code == 403
    assert client.get(URL, headers=make.bearer(scopes=[Scope.EXPORT])).status_code == 200
    settings.ARENA_PUBLISH_VOTES = True
    assert client.get(URL).status_code == 200
