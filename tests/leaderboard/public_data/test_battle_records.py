import json
from collections.abc import Callable
from decimal import Decimal
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as site_settings
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts.actor import Actor
from accounts.models import AuditEntry, Team
from battles import actions
from battles.actions.sessions import delete_session, discard_session
from battles.models import Attachment, Battle, Call, Turn
from leaderboard.exports import battle_records
from tests import make
from uploads.models import Upload

pytestmark = pytest.mark.django_db


def called(actor: Actor, vote: str = "", place: Team | None = None) -> Battle:
    """Return a battle of ada and bob with a file; each side was called twice, the first time in vain."""
    models = [make.model(slug=f"{name}-{Call.objects.count()}", name=f"Called {name}") for name in ("ada", "bob")]
    battle = make.answered_battle(*models, actor=actor, place=place)
    upload, _ = Upload.objects.get_or_create(
        owner_user=actor.user, name="salaries.txt", size=5, sha256="ab" * 32, media_type="text/plain", kind="document",
        stored_as="ab", state="ready",
    )  # fmt: skip
    Attachment.objects.create(turn=battle.turns.get(), upload=upload, position=0)
    for answer in battle.turns.get().answers.in_order():
        facts = {"answer": answer, "model": answer.side.model, "cost": Decimal("0.0023")}
        Call.objects.create(**facts, attempt=1, fence=1, state="failed", error="cut")
        answer.call = Call.objects.create(
            **facts, attempt=2, fence=2, state="done", first_token_ms=127, total_ms=1913, prompt_tokens=71,
            completion_tokens=31, finish_reason="stop",
        )  # fmt: skip
        answer.save()
    if vote:
        actions.cast_vote(actor=actor, battle=Battle.objects.get(pk=battle.pk), choice=vote)
    return battle


@pytest.fixture
def export(tmp_path: Path) -> Callable[..., list[dict[str, Any]]]:
    def run(*options: str) -> list[dict[str, Any]]:
        file = tmp_path / "battles.jsonl"
        call_command("export_interactions", str(file), *(options or ("--since", "2026-01-01")), stderr=StringIO())
        assert file.stat().st_mode & 0o777 == 0o600
        return [json.loads(line) for line in file.read_text().splitlines()]

    return run


def test_record_tells_the_whole_battle(export: Callable):
    voter = make.member()
    battle = called(voter, vote="left")
    [record] = export()
    assert (record["battle"], record["state"], record["person"]) == (battle.public_id, "voted", voter.key)
    assert [side["name"] for side in record["sides"]] == ["Called ada", "Called bob"]
    [turn] = record["turns"]
    assert turn["prompt"] == "one two three"
    assert turn["files"] == [
        {"name": "salaries.txt", "sha256": "ab" * 32, "media_type": "text/plain", "size": 5}
    ]  # fmt: skip
    left, right = turn["answers"]
    assert (left["side"], right["side"], left["text"]) == ("left", "right", "an answer")
    told = {name: left[name] for name in ("calls", "cost", "first_token_ms", "total_ms", "prompt_tokens", "finish")}
    assert told == {
        "calls": 2, "cost": "0.0046", "first_token_ms": 127, "total_ms": 1913, "prompt_tokens": 71, "finish": "stop"
    }  # fmt: skip
    assert (record["vote"]["choice"], record["vote"]["counts"]) == ("left", True)
    assert record["moderation"] == {"hidden_at": None, "case": None, "decided_at": None, "rules": [], "reports": 0}


def test_open_blind_battle_names_no_model(export: Callable):
    battle = called(make.member())
    [record] = export()
    assert (record["state"], record["turns"][0]["answers"][0]["text"]) == ("open", "an answer")
    assert record["propensity"] is record["turns"][0]["finished_at"] is None
    for part in (*record["sides"], *record["turns"][0]["answers"]):
        assert {name for name, value in part.items() if value is not None} <= {"side", "state", "text"}
    Battle.objects.filter(pk=battle.pk).update(voided_at=timezone.now())
    [record] = export()
    assert (record["state"], record["sides"][0]["name"]) == ("void", "Called ada")


def test_open_reviews_battle_names_no_model(export: Callable):
    battle = make.stored_battle(make.model(), make.model())
    for void in (None, timezone.now()):
        Battle.objects.filter(pk=battle.pk).update(voided_at=void)
        [record] = export()
        assert record["review"] == "a-review"
        assert [side["model"] for side in record["sides"]] == [None, None]
        assert [answer["total_ms"] for answer in record["turns"][0]["answers"]] == [None, None]


def test_deleted_session_and_team_have_no_text(export: Callable, settings: Any):
    settings.ARENA_OPERATORS_READ_TEAMS = False
    person, owner = make.member(), make.user()
    deleted, discarded = (called(person, vote="tie") for _ in range(2))
    delete_session(deleted.session)
    discard_session(discarded.session)
    team = make.team(owner)
    of_team = called(Actor(user=owner, network=""), vote="tie", place=team)
    records = export()
    assert [record["has_texts"] for record in records] == [False, False, False]
    assert "one two three" not in json.dumps(records)
    assert "an answer" not in json.dumps(records)
    assert "salaries" not in json.dumps(records)
    assert [record["person"] for record in records] == [None, None, f"user:{owner.pk}"]
    assert [record["battle"] for record in export("--since", "2026-01-01", "--team", team.slug)] == [of_team.public_id]
    settings.ARENA_OPERATORS_READ_TEAMS = True
    [record] = export("--since", "2026-01-01", "--team", team.slug)
    assert record["turns"][0]["prompt"] == "one two three"


def test_export_is_limited_in_time_and_audited(export: Callable):
    called(make.member())
    assert export("--since", "2026-01-01", "--until", "2026-01-02") == []
    assert len(export("--since", f"{timezone.now():%Y-%m-%d}", "--until", f"{timezone.now():%Y-%m-%d}")) == 1
    entry = AuditEntry.objects.first()
    assert (entry.user, entry.action, entry.subject) == (None, "export interactions", "battles")
    assert entry.details.keys() == {"since", "until"}
    for options in (["soon"], ["2026-01-01", "--until", "later"], ["2026-01-01", "--team", "unknown"]):
        with pytest.raises(CommandError):
            export("--since", *options)


def test_records_need_a_fixed_number_of_queries(monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Callable):
    monkeypatch.setattr(battle_records, "BATCH", 3)
    for _ in range(7):
        called(make.member(), vote="tie")
    Turn.objects.update(warnings=["violence"])
    with django_assert_num_queries(3 * 8 + 1):
        assert [len(batch) for batch in battle_records.batches(Battle.objects.all())] == [3, 3, 1]


def test_records_go_to_standard_output(monkeypatch: pytest.MonkeyPatch):
    called(make.member())
    out = BytesIO()
    monkeypatch.setattr("sys.stdout", TextIOWrapper(out))
    call_command("export_interactions", "--since", "2026-01-01")
    assert [json.loads(line)["state"] for line in out.getvalue().splitlines()] == ["open"]


def test_documentation_names_all_fields():
    text = (site_settings.BASE_DIR / "docs/operating.md").read_text()
    section = text.partition("### Battles as records")[2].partition("\n## ")[0]
    for part in (
        battle_records.BattleRecord, battle_records.RecordedSide, battle_records.RecordedTurn,
        battle_records.RecordedAnswer, battle_records.RecordedFile, battle_records.RecordedVote,
        battle_records.RecordedModeration,
    ):  # fmt: skip
        assert [name for name in part.__struct_fields__ if f"`{name}`" not in section] == []
