import pytest
from django.core.management import call_command

from accounts.actor import Actor
from battles import actions
from battles.models import Answer, Battle, Turn
from battles.prompting.lineup import BattleRequest
from leaderboard.aggregation.job import aggregate
from leaderboard.boards.snapshots import read_snapshot
from leaderboard.counting import tallies
from leaderboard.models import AggregationRun, EloRating, PairTally
from leaderboard.rating.mean_stars import mean_stars
from tests import make
from tests.leaderboard.public_data.exports import rows
from tests.leaderboard.vote_factory import cast, contestants

pytestmark = pytest.mark.django_db

SLUGS = ("ant", "bee", "cat")


@pytest.fixture(autouse=True)
def models():
    return contestants(*SLUGS)


def compared(actor: Actor | None = None) -> tuple[Actor, list[Answer]]:
    """Return an actor and three answers to one prompt, in the order of SLUGS."""
    actor = actor or make.member()
    battle = actions.start_session(
        actor=actor, prompt="hello", battle_request=BattleRequest(Battle.Mode.COMPARE, SLUGS)
    )
    battle.turns.update(state=Turn.State.DONE)
    Answer.objects.filter(turn__battle=battle).update(state=Answer.State.DONE, text="hi")
    return actor, list(Answer.objects.filter(turn__battle=battle).in_order())


def give(*stars: int | None, actor: Actor | None = None) -> tuple[Actor, list[Answer]]:
    """Give stars to the answers of a new comparison; None leaves one without."""
    actor, answers = compared(actor)
    for answer, number in zip(answers, stars, strict=True):
        if number is not None:
            actions.give_stars(actor=actor, answer=answer, stars=number)
    return actor, answers


def publish(slot: str) -> AggregationRun:
    aggregate(slot=slot, only_if_changed=True)
    return AggregationRun.objects.snapshots("compare")[0]


def tallied() -> set[tuple[str, str, str, int]]:
    stored = PairTally.objects.filter(scope="compare")
    return set(stored.values_list("left__slug", "right__slug", "outcome", "n"))


def test_answer_with_more_stars_wins_comparison():
    give(5, 3, 3)
    give(2, None, 4)
    give(None, 1, None)
    run = publish("1")
    assert tallied() == {
        ("ant", "bee", "left", 1), ("ant", "cat", "left", 1), ("bee", "cat", "tie", 1), ("ant", "cat", "right", 1),
    }  # fmt: skip
    assert (run.votes_counted, run.last_order, run.last_change) == (4, 4, 6)
    assert not EloRating.objects.exists()


def test_later_stars_replace_earlier_ones():
    actor, answers = give(5, 1, None)
    before = publish("1")
    actions.give_stars(actor=actor, answer=answers[0], stars=1)
    after = publish("2")
    assert after.pk != before.pk
    assert tallied() == {("ant", "bee", "tie", 1)}
    assert [
        snapshot["last_change"] for snapshot in (read_snapshot(before.public_id), read_snapshot(after.public_id))
    ] == [2, 3]
    for run in (before, after):
        call_command("recompute_snapshot", run.public_id)


def test_star_snapshot_can_be_recomputed(tmp_path, client):
    for number in range(8):
        give(5 - number % 2, 3, 1 + number % 3)
    run = publish("1")
    call_command("recompute_snapshot", run.public_id)
    exported = rows(tmp_path, "--snapshot", run.public_id)
    assert [row.order for row in exported] == list(range(1, 25))
    assert {(row.board, row.turn_count, row.style) for row in exported} == {("compare", 1, None)}
    assert len({row.voter for row in exported}) == 8
    board = client.get("/api/v1/leaderboard/?board=compare").json()
    assert [line["model"]["id"] for line in board["results"]] == ["ant", "bee", "cat"]
    assert {line["elo"] for line in board["results"]} == {None}
    means = board["facts"]["stars"]
    assert means["bee"] == {"mean": 3.0, "low": 3.0, "high": 3.0, "answers": 8}
    assert means["ant"]["mean"] == 4.5


def test_star_snapshot_verifies_after_voter_left():
    given = [give(5, 3, 1 + number % 3) for number in range(6)]
    run = publish("1")
    actions.delete_session(given[0][1][0].turn.battle.session)
    assert read_snapshot(run.public_id)["votes_renamed_since"] == 3
    call_command("recompute_snapshot", run.public_id)


def test_star_board_is_published_only_for_new_stars(models):
    give(5, 3, None)
    publish("1")
    publish("2")
    assert AggregationRun.objects.snapshots("compare").count() == 1
    cast(models[0], models[1], "left")
    publish("3")
    assert AggregationRun.objects.snapshots("compare").count() == 1
    give(4, None, None)  # changes a mean without adding a comparison
    publish("4")
    assert AggregationRun.objects.snapshots("compare").count() == 2


def test_rebuild_leaves_star_tallies_alone(models):
    give(5, 3, 1)
    cast(models[0], models[1], "left")
    publish("1")
    assert tallies.rebuild() == 0
    PairTally.objects.filter(scope="overall").update(n=7)
    assert tallies.rebuild() == 1
    assert len(tallied()) == 3


def test_star_board_shows_mean_stars(client):
    for number in range(6):
        give(5, 2 + number % 2, 1)
    publish("1")
    page = client.get("/leaderboard/?board=compare").content.decode()
    assert "Compare" in page
    assert "2.50" in page


@pytest.mark.parametrize(
    ("by_voter", "expected"),
    [
        ([[4]], (4.0, None, None, 1)),
        ([[4], [4]], (4.0, 4.0, 4.0, 2)),
        ([[5, 5, 5], [1, 1, 1]], (3.0, 1.0, 5.0, 6)),
        ([[3], [4], [5], [4]], (4.0, 3.1998, 4.8002, 4)),
    ],
)
def test_mean_stars_cluster_by_voter(by_voter, expected):
    mean, low, high, answers = mean_stars(by_voter)
    assert (mean, answers) == (expected[0], expected[3])
    assert (low, high) == expected[1:3] if low is None else (low, high) == pytest.approx(expected[1:3], abs=1e-3)
