import random
from datetime import UTC, datetime

import pytest

from battles.labels import LabelChange, Labels
from battles.models import Vote
from battles.signals import labels_change, relabelling_begins
from leaderboard import actions
from leaderboard.aggregation import fit_boards, job
from leaderboard.counting import reviews, schedule, tallies
from leaderboard.counting.vote_arrays import read_boards
from leaderboard.models import AggregationRun, Standing, VoteChange
from models_registry.models import LanguageModel
from tests import make
from tests.leaderboard.tally_checks import aggregate
from tests.leaderboard.vote_factory import ballot, cast, cast_all, cast_many, contestants

State = AggregationRun.State


def set_time(monkeypatch: pytest.MonkeyPatch, day: int, hour: int) -> None:
    moment = datetime(2026, 3, day, hour, 20, tzinfo=UTC)
    monkeypatch.setattr(schedule, "database_now", lambda: moment)


def newest(scope: str) -> AggregationRun:
    return AggregationRun.objects.snapshots(scope).first()


def totals() -> dict[str, int]:
    return {scope: board.counts.total for scope, board in read_boards(last_order=0).items()}


def relabel(vote: Vote, *categories: str, language: str) -> None:
    relabelling_begins.send(sender=Vote)
    before = Labels(tuple(vote.categories), vote.language)
    labels_change.send(sender=Vote, changes=[LabelChange(vote.pk, before, Labels(categories, language))])
    Vote.objects.filter(pk=vote.pk).update(categories=list(categories), language=language)


@pytest.fixture
def pair():
    return contestants("a", "b")


@pytest.fixture
def crowd():
    """400 votes of 30 voters on four models, in English and French."""
    rng, ballots = random.Random(9), []
    models = contestants("a", "b", "c", "d")
    for number in range(400):
        left, right = rng.sample(models, 2)
        ballots.append(
            ballot(
                left, right, rng.choices(["left", "right", "tie"], [4, 4, 2])[0], voter=f"user:{number % 30}",
                language=rng.choice(["en", "fr"]), categories=["coding"] if number % 3 else [],
                style={side: {"tokens": rng.randrange(900), "bold": rng.randrange(9)} for side in ("left", "right")},
            )
        )  # fmt: skip
    cast_all(ballots)


@pytest.mark.django_db
def test_vote_counts_on_overall_language_and_categories(pair):
    cast(*pair, "left", categories=["coding", "maths"], language="fr")
    cast(*pair, "left", language="en")
    aggregate()
    assert totals() == {"overall": 2, "language:fr": 1, "language:en": 1, "category:coding": 1, "category:maths": 1}
    runs = AggregationRun.objects.filter(state=State.DONE)
    assert {run.scope: run.votes_counted for run in runs} == totals()


@pytest.mark.slow
@pytest.mark.django_db
def test_language_boards_add_up_to_overall_after_exclusion(crowd):
    aggregate()
    actions.retract_votes(Vote.objects.filter(order__lte=40), reason=Vote.ExcludedReason.OPERATOR, by=None)
    aggregate()
    languages = [run for run in AggregationRun.objects.newest_of_each_board() if run.scope.startswith("language:")]
    overall = newest("overall")
    assert sum(run.votes_counted for run in languages) == overall.votes_counted == 360
    assert sum(run.votes_excluded["operator"] for run in languages) == overall.votes_excluded["operator"] == 40


@pytest.mark.django_db
def test_only_changed_boards_get_a_snapshot(pair):
    cast(*pair, "left", categories=["coding"], language="fr")
    aggregate()
    cast(*pair, "left", language="en")
    aggregate()
    runs = AggregationRun.objects.values_list("scope", flat=True)
    assert sorted(runs) == ["category:coding", "language:en", "language:fr", "overall", "overall"]


@pytest.mark.django_db
def test_board_without_counted_votes_shows_exclusions(pair):
    vote = cast(*pair, "left", categories=["coding"], language="fr")
    cast(*pair, "left", language="en")
    aggregate()
    actions.retract(vote, reason=Vote.ExcludedReason.OPERATOR, by=None)
    aggregate()
    run = newest("category:coding")
    assert (run.votes_counted, run.votes_excluded, run.standings.count()) == (0, {"operator": 1}, 0)


@pytest.mark.django_db
def test_relabelled_vote_moves_boards_and_is_recorded(pair):
    vote = cast(*pair, "left", categories=["coding"], language="fr")
    cast_many(*pair, right=1)
    aggregate()
    relabel(vote, "maths", "hard-prompt", language="de")
    assert totals() == {
        "overall": 2, "language:und": 1, "language:de": 1, "category:maths": 1, "category:hard-prompt": 1,
    }  # fmt: skip
    assert tallies.rebuild() == 0
    change = VoteChange.objects.get()
    assert (change.kind, change.before, change.after) == (
        "relabelled",
        {"excluded_reason": "", "categories": ["coding"], "language": "fr"},
        {"excluded_reason": "", "categories": ["maths", "hard-prompt"], "language": "de"},
    )


@pytest.mark.django_db
def test_relabelled_excluded_vote_moves_when_restored(pair):
    vote = cast(*pair, "left", categories=["coding"], language="fr")
    aggregate()
    actions.retract(vote, reason=Vote.ExcludedReason.OPERATOR, by=None)
    vote.refresh_from_db()
    relabel(vote, "maths", language="fr")
    assert totals() == {}
    actions.restore(vote, by=None)
    assert totals() == {"overall": 1, "language:fr": 1, "category:maths": 1}
    assert tallies.rebuild() == 0


@pytest.mark.django_db
def test_votes_of_snapshot_follow_from_history(pair):
    first, second = (cast(*pair, "left", language="fr") for _ in range(2))
    aggregate()
    actions.retract(first, reason=Vote.ExcludedReason.OPERATOR, by=make.user(), because="a test")
    run = aggregate()
    actions.restore(first, by=None)
    actions.retract(second, reason=Vote.ExcludedReason.MODERATION, by=None)
    later = VoteChange.objects.filter(number__gt=run.last_change)
    assert {change.vote_id: change.before["excluded_reason"] for change in later} == {
        first.pk: "operator",
        second.pk: "",
    }
    assert newest("overall").last_change == VoteChange.objects.order_by("number").first().number


@pytest.mark.slow
@pytest.mark.django_db
def test_small_arena_is_fitted_thoroughly_every_time(crowd):
    run = aggregate()
    assert run.facts["thorough"]
    assert run.facts["design_effects_of"] == run.facts["style_of"] == run.facts["flips_first_of"] == run.public_id
    assert set(run.facts["style"]["coefficients"]) == {"tokens", "headings", "bold", "lists"}
    assert set(run.facts["style"]["dropped"]) == {"headings", "lists"}
    assert not run.standings.filter(style_score=None).exists()
    assert run.facts["misfit"]["df"] == 3


@pytest.mark.slow
@pytest.mark.django_db
def test_large_arena_is_fitted_thoroughly_once_a_day(crowd, monkeypatch):
    monkeypatch.setattr(fit_boards, "THOROUGH_BELOW_VOTES", 100)
    set_time(monkeypatch, day=1, hour=9)
    aggregate()
    first = newest("category:coding")
    set_time(monkeypatch, day=1, hour=10)
    cast(*LanguageModel.objects.order_by("slug")[:2], "left", language="en", categories=["coding"])
    aggregate()
    second = newest("category:coding")
    for fact in ("design_effects_of", "style_of", "flips_first_of", "agreement_of"):
        assert second.facts[fact] == first.public_id
    columns = ("model", "style_score", "style_ci_low", "style_rank", "design_effect")
    assert set(second.standings.values_list(*columns)) == set(first.standings.values_list(*columns))
    overall = newest("overall")
    assert overall.facts["flips_first_of"] == overall.public_id
    set_time(monkeypatch, day=2, hour=1)
    job.aggregate(slot="next day", only_if_changed=True)
    third = newest("category:coding")
    assert third.facts["style_of"] == third.facts["design_effects_of"] == third.public_id
    assert third.facts["style"]["scaling"] == first.facts["style"]["scaling"]
    set_time(monkeypatch, day=2, hour=2)
    assert job.aggregate(slot="later", only_if_changed=True).state == State.UNCHANGED


@pytest.mark.slow
@pytest.mark.django_db
def test_voters_are_read_anew_after_a_change_of_two_percent(pair, monkeypatch):
    monkeypatch.setattr(fit_boards, "THOROUGH_BELOW_VOTES", 90)
    set_time(monkeypatch, day=1, hour=9)
    votes = cast_all([ballot(*pair, choice, voter=f"user:{n}") for n in range(50) for choice in ("left", "right")])
    first = aggregate()
    assert (first.facts["design_effects_of"], first.facts["design_effects_votes"]) == (first.public_id, 100)
    cast(*pair, "left", voter="user:1")
    second = aggregate()
    assert (second.facts["design_effects_of"], second.facts["design_effects_votes"]) == (first.public_id, 100)
    cast(*pair, "left", voter="user:2")
    third = aggregate()
    assert (third.facts["design_effects_of"], third.facts["design_effects_votes"]) == (third.public_id, 102)
    for vote in votes[:3]:
        actions.retract(vote, reason=Vote.ExcludedReason.OPERATOR, by=None)
    assert aggregate().facts["design_effects_votes"] == 99
    cast(*pair, "left", voter="user:3")
    set_time(monkeypatch, day=2, hour=1)
    assert aggregate().facts["design_effects_votes"] == 100


@pytest.mark.slow
@pytest.mark.django_db
def test_votes_of_one_voter_raise_design_effect(crowd):
    aggregate()
    before = dict(Standing.objects.filter(run=newest("overall")).values_list("model__slug", "design_effect"))
    a, b, *_ = LanguageModel.objects.order_by("slug")
    cast_all([ballot(a, b, "left", voter="user:fan") for _ in range(150)])
    aggregate()
    after = dict(newest("overall").standings.values_list("model__slug", "design_effect"))
    assert after["a"] > before["a"] + 1


@pytest.mark.django_db
def test_repeated_prompt_keeps_first_and_restored_votes(pair):
    votes = [cast(*pair, "left", voter=f"user:{n}", prompt_digest="hello") for n in range(30)]
    cast(*pair, "left", prompt_digest="another")
    run = aggregate()
    assert (run.votes_counted, run.votes_excluded) == (26, {"duplicate_prompt": 5})
    actions.restore(votes[-1], by=None)
    run = aggregate()
    assert (run.votes_counted, run.votes_excluded) == (27, {"duplicate_prompt": 4})


@pytest.mark.slow
@pytest.mark.django_db
def test_read_boards_has_fixed_query_count(crowd, django_assert_max_num_queries):
    with django_assert_max_num_queries(2):
        read_boards(last_order=0)
    aggregate()
    with django_assert_max_num_queries(2):
        assert len(read_boards(last_order=0)) == 4


@pytest.mark.django_db
def test_pending_votes_of_reviewed_voter_are_excluded(pair):
    reviews.AnomalyReview.objects.create(voter="user:1", last_order=0, log_e=10, crossed=3)
    cast(*pair, "left", voter="user:1", language="en")
    cast(*pair, "left", voter="user:2", language="en")
    assert aggregate().votes_excluded == {"anomaly": 1}
    assert totals() == {"overall": 1, "language:en": 1}
