import logging
import threading

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction

from accounts.actor import Actor
from battles import actions
from battles.errors import AlreadyVoted, BattleIsVoid, StillAnswering
from battles.models import Answer, Attachment, Battle, Call, Turn, Vote, VoteCounter
from tests import make
from uploads.actions import keep_upload


@pytest.fixture
def battle(db) -> Battle:
    return make.answered_battle(make.model(), make.model())


def owner(battle: Battle) -> Actor:
    return Actor(user=battle.session.owner_user, visitor=battle.session.owner_visitor, network="127.0.0.1")


def test_vote_stores_models_and_sides(battle: Battle):
    vote = actions.cast_vote(actor=owner(battle), battle=battle, choice=Vote.Choice.TIE)
    left, right = battle.sides.order_by("position")
    assert (vote.model_left, vote.model_right, vote.choice) == (left.model, right.model, "tie")
    left.model.refresh_from_db()
    assert left.model.has_votes


def test_second_vote_is_refused(battle: Battle):
    actions.cast_vote(actor=owner(battle), battle=battle, choice=Vote.Choice.LEFT)
    with pytest.raises(AlreadyVoted):
        actions.cast_vote(actor=owner(battle), battle=battle, choice=Vote.Choice.RIGHT)
    assert Vote.objects.get().choice == "left"


@pytest.fixture
def no_vote_can_be_stored(battle: Battle) -> None:
    """Make the column refuse NULL, as in the schema before votes were numbered at COMMIT."""
    with connection.cursor() as cursor:
        cursor.execute('ALTER TABLE battles_vote ALTER COLUMN "order" SET NOT NULL')


def allow_votes_again() -> None:
    with connection.cursor() as cursor:
        cursor.execute('ALTER TABLE battles_vote ALTER COLUMN "order" DROP NOT NULL')


@pytest.mark.usefixtures("no_vote_can_be_stored")
def test_vote_refused_by_other_constraint_is_not_already_voted(battle: Battle):
    with pytest.raises(IntegrityError, match='"order"'):
        actions.cast_vote(actor=owner(battle), battle=battle, choice=Vote.Choice.LEFT)


@pytest.mark.usefixtures("no_vote_can_be_stored")
@pytest.mark.parametrize(
    ("path", "options"),
    [("/battles/{}/vote/", {}), ("/api/v1/battles/{}/vote/", {"content_type": "application/json"})],
)
def test_vote_that_cannot_be_stored_is_5xx_and_logged(
    battle: Battle, path: str, options: dict[str, str], caplog: pytest.LogCaptureFixture
):
    client = make.browser(owner(battle), raise_request_exception=False)
    with caplog.at_level(logging.ERROR, "django.request"):
        refused = client.post(path.format(battle.public_id), {"choice": "left"}, **options)
    assert refused.status_code == 500
    assert [record.exc_info[0] for record in caplog.records if record.name == "django.request"] == [IntegrityError]
    assert not Vote.objects.exists()


def test_vote_that_could_not_be_stored_is_repeated_with_its_key(battle: Battle, no_vote_can_be_stored: None):
    client = make.browser(owner(battle), raise_request_exception=False)

    def vote() -> int:
        path, key = f"/api/v1/battles/{battle.public_id}/vote/", {"Idempotency-Key": "one"}
        return client.post(path, {"choice": "left"}, "application/json", headers=key).status_code

    assert vote() == 500
    allow_votes_again()
    assert (vote(), vote()) == (201, 201)
    assert Vote.objects.get().choice == "left"


def test_vote_before_both_answers_is_refused(db):
    battle = make.battle(make.model(), make.model())
    with pytest.raises(StillAnswering):
        actions.cast_vote(actor=owner(battle), battle=battle, choice=Vote.Choice.LEFT)


def test_void_battle_refuses_votes(battle: Battle):
    Battle.objects.update(voided_at="2026-01-01T00:00Z")
    with pytest.raises(BattleIsVoid):
        actions.cast_vote(actor=owner(battle), battle=battle, choice=Vote.Choice.LEFT)


def test_vote_on_stopped_side_is_stored_but_not_counted(battle: Battle):
    Answer.objects.filter(side__position="left").update(state=Answer.State.STOPPED)
    vote = actions.cast_vote(actor=owner(battle), battle=battle, choice=Vote.Choice.LEFT)
    assert (vote.excluded_reason, vote.counts) == ("incomplete", False)


def test_vote_after_failed_follow_up_covers_earlier_turns(battle: Battle):
    turn = make.turn(battle)
    Turn.objects.filter(pk=turn.pk).update(state=Turn.State.DONE)
    turn.answers.filter(side__position="left").update(state=Answer.State.FAILED, error="cut")
    turn.answers.filter(side__position="right").update(state=Answer.State.DONE, text="# A heading")
    vote = actions.cast_vote(actor=owner(battle), battle=battle, choice=Vote.Choice.LEFT)
    assert vote.turn_count == 1
    assert vote.style["right"]["headings"] == 0


def add_reasoning_and_wait(battle: Battle) -> None:
    Answer.objects.filter(turn__battle=battle).update(reasoning="Let me think.")
    for answer, wait in zip(
        Answer.objects.filter(turn__battle=battle).order_by("side__position"), (250, None), strict=True
    ):
        answer.call = Call.objects.create(
            answer=answer, model=answer.side.model, attempt=1, fence=1, first_token_ms=wait
        )
        answer.save()


def test_vote_stores_its_context(battle: Battle):
    add_reasoning_and_wait(battle)
    first = actions.cast_vote(actor=owner(battle), battle=battle, choice=Vote.Choice.LEFT)
    assert first.style["context"] == {
        "files": 0,
        "left": {"met": False, "reasoning": False, "first_token_ms": 250},
        "right": {"met": False, "reasoning": False, "first_token_ms": None},
    }
    known, unseen = battle.sides.get(position="right").model, make.model()
    hidden = make.answered_battle(unseen, known)
    Battle.objects.filter(pk=hidden.pk).update(session=battle.session)
    again = make.answered_battle(known, unseen)
    Battle.objects.filter(pk=again.pk).update(session=battle.session, mode=Battle.Mode.SIDE_BY_SIDE)
    add_reasoning_and_wait(again)
    file = keep_upload(actor=owner(battle), content=b"the text of a file", name="notes.txt")
    Attachment.objects.create(turn=again.turns.get(), upload=file, position=0)
    second = actions.cast_vote(actor=owner(battle), battle=Battle.objects.get(pk=again.pk), choice=Vote.Choice.LEFT)
    assert second.style["context"] == {
        "files": 1,
        "left": {"met": True, "reasoning": True, "first_token_ms": 250},
        "right": {"met": False, "reasoning": True, "first_token_ms": None},
    }


@pytest.mark.parametrize(
    "change",
    [{"choice": "right"}, {"order": 99}, {"style": {}}, {"turn_count": 7}, {"created_at": "2020-01-01T00:00Z"}],
)
def test_database_refuses_changes_of_vote_facts(battle: Battle, change: dict[str, object]):
    actions.cast_vote(actor=owner(battle), battle=battle, choice=Vote.Choice.LEFT)
    with pytest.raises(DatabaseError), transaction.atomic():
        Vote.objects.update(**change)
    with pytest.raises(DatabaseError), transaction.atomic():
        Vote.objects.all().delete()


def test_voter_and_reason_of_vote_may_change(battle: Battle):
    actions.cast_vote(actor=owner(battle), battle=battle, choice=Vote.Choice.LEFT)
    assert Vote.objects.update(voter="user:9", excluded_reason="operator") == 1


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_hundred_concurrent_votes_store_one():
    battle = make.answered_battle(make.model(), make.model())
    actor = owner(battle)
    outcomes: list[str] = []

    def cast() -> None:
        try:
            actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice.LEFT)
            outcomes.append("stored")
        except AlreadyVoted:
            outcomes.append("refused")
        finally:
            connection.close()

    for _ in range(5):
        threads = [threading.Thread(target=cast) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(outcomes) == ["refused"] * 99 + ["stored"]
    assert Vote.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_vote_is_numbered_at_commit():
    battle = make.answered_battle(make.model(), make.model())
    with transaction.atomic():
        vote = actions.cast_vote(actor=owner(battle), battle=battle, choice=Vote.Choice.LEFT)
        vote.refresh_from_db()
        assert vote.order is None
        assert not VoteCounter.objects.exists()  # no other vote has to wait
    vote.refresh_from_db()
    assert vote.order == 1


@pytest.mark.django_db(transaction=True)
def test_rolled_back_votes_leave_no_gaps_in_order():
    left, right = make.model(), make.model()
    battles = [make.answered_battle(left, right) for _ in range(12)]

    def cast(battle: Battle) -> None:
        try:
            with transaction.atomic():
                actions.cast_vote(actor=owner(battle), battle=battle, choice=Vote.Choice.LEFT)
                if battle.pk % 3 == 0:
                    raise RuntimeError("rollback")
        except RuntimeError:
            pass
        finally:
            connection.close()

    threads = [threading.Thread(target=cast, args=[battle]) for battle in battles]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    orders = sorted(Vote.objects.values_list("order", flat=True))
    assert orders == list(range(1, len(orders) + 1))
    assert len(orders) == 8
