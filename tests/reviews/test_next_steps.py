"""A useful next step, on pages of prepared worlds and of worlds just beside them."""

from decimal import Decimal

import msgspec
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.actor import Actor
from accounts.models import Role
from benchmarks.actions.templates import freeze_version
from benchmarks.models import Judge, RunReport
from benchmarks.reports.store import compute_report
from leaderboard.aggregation.review_boards import publish_series
from leaderboard.boards.queries import BoardQuery, read_board
from models_registry.models import LanguageModel
from models_registry.versions import set_price
from reviews import actions as reviews
from reviews.next_steps.board_facts import board_facts
from reviews.next_steps.rules import FEW_CASES
from tests import make
from tests.leaderboard import vote_factory
from tests.leaderboard.tally_checks import aggregate
from tests.worlds.benchmarks import judged_runs, samples
from tests.worlds.benchmarks.samples import Sample

pytestmark = [pytest.mark.django_db, pytest.mark.processes]
BOARD, LIST = "/leaderboard/", "/benchmarks/"


def steps(browser: Client, address: str) -> dict[str, tuple[str, str, str]]:
    """Return reason, cost and address of the button by title."""
    contexts = browser.get(address).context
    found = next((list(part["steps"]) for part in contexts if "steps" in part), [])
    return {step.title: (step.reason, step.cost, step.url) for step in found}


def publish(**wins: tuple[int, int]) -> list[LanguageModel]:
    """Publish a board of models that met "base" so often with these results."""
    base, *others = vote_factory.contestants("base", *wins)
    for model, (won, lost) in zip(others, wins.values(), strict=True):
        vote_factory.cast_many(model, base, left=won, right=lost)
    aggregate()
    return [base, *others]


def test_board_names_the_nearest_contrast(client: Client):
    publish(ada=(70, 50), bob=(60, 60), cyd=(110, 10))
    found = steps(client, BOARD)
    reason, cost, url = found["Tell Ada and Base apart"]
    [contrast] = [one for one in board_facts(read_board(BoardQuery())).contrasts if one.ids == ("ada", "base")]
    assert f"about {contrast.more} more votes" in reason
    assert (cost, url) == ("A few minutes for each vote.", "/")
    compared = client.get("/leaderboard/compare/ada/base/").context["pair"]["separation"]
    assert compared["more_votes"] == contrast.more
    page = client.get(BOARD).text
    assert "A useful next step" in page
    assert "Automated benchmark recommendations" in page


def test_board_whose_models_are_apart_names_none(client: Client):
    publish(ada=(190, 10), bob=(10, 190))
    assert steps(client, BOARD) == {}
    assert "A useful next step" not in client.get(BOARD).text


def test_narrowed_board_names_none(client: Client):
    publish(ada=(70, 50), bob=(60, 60))
    assert steps(client, f"{BOARD}?search=ada") == {}


@pytest.mark.parametrize(("price_of_winner", "names"), [("1", True), ("3", False), ("2", False)])
def test_dearer_model_of_later_tier_is_named(client: Client, price_of_winner: str, names: bool):
    base, ada = publish(ada=(190, 10))
    for model, price in ((base, "2"), (ada, price_of_winner)):
        set_price(model, Decimal(price), Decimal(price))
    found = steps(client, BOARD)
    assert ("Leave out Base" in found) is names
    if names:
        assert found["Leave out Base"][2] == "/leaderboard/compare/ada/base/"


def test_next_steps_of_board_make_no_query(client: Client, django_assert_num_queries):
    publish(ada=(70, 50), bob=(60, 60))
    board = read_board(BoardQuery())
    with django_assert_num_queries(0):
        assert board_facts(board).contrasts


def test_side_by_side_board_starts_battle_of_that_pair(client: Client):
    base, ada = vote_factory.contestants("base", "ada")
    ballots = [vote_factory.ballot(ada, base, choice, mode="side_by_side") for choice in ["left"] * 70 + ["right"] * 55]
    for vote in ballots:
        vote.battle.mode = "side_by_side"
    vote_factory.cast_all(ballots)
    aggregate()
    [(_reason, _cost, url)] = steps(client, f"{BOARD}?board=side-by-side").values()
    assert url == "/?mode=side_by_side&models=ada&models=base"


def store_report(sample: Sample, *, tags: bool = True, tag_cases: int = 2, **pair: object) -> None:
    """Store a report like the run's, in which a change of the pair tells its entrants apart, or not."""
    report = msgspec.to_builtins(compute_report(sample.run))
    report["metrics"][0]["pairs"][0] |= pair
    report["tags"] = [{**tag, "cases": tag_cases} for tag in report["tags"]] if tags else []
    ada, bob = report["usage"]
    ada["cost_per_item"] = {"value": 0.1, "low": 0.09, "high": 0.11}
    bob |= {
        "cost_per_item": {"value": 0.2, "low": 0.19, "high": 0.21},
        "is_surely_dominated": bool(pair["is_separable"]),
    }
    RunReport.objects.create(
        run=sample.run, number=9, version=sample.run.version, digest="d", method="m", payload=report
    )


def test_runs_name_contrast_and_tag(sample: Sample, browser: Client):
    store_report(sample, is_separable=False, noise="cases", cases=8, cases_needed=28)
    found = steps(browser, LIST)
    template = f"/benchmarks/t/{sample.template.public_id}/"
    reason, cost, url = found["Tell Gazelle ada and Gazelle bob apart"]
    assert "the nearest: about 20 more cases" in reason
    assert (cost, url) == ("The calls cost about $6.00.", template)
    reason, cost, url = found["Add cases with the tag “europe”"]
    assert "by 2 cases only" in reason
    assert cost == f"{FEW_CASES - 2} more cases would make it a sound result. The calls cost about $8.40."
    assert url == template
    assert len(found) == 2


def test_answers_that_differ_ask_for_repeats(sample: Sample, browser: Client):
    store_report(sample, tags=False, is_separable=False, noise="repeats", cases=8, repeats_needed=4)
    [(title, (reason, cost, url))] = steps(browser, LIST).items()
    assert (title, "ask each case 4 times" in reason) == ("Tell Gazelle ada and Gazelle bob apart", True)
    assert (cost, url) == ("The calls cost about $9.60.", f"/benchmarks/t/{sample.template.public_id}/start/")


def test_pair_without_known_need_is_not_named(sample: Sample, browser: Client):
    store_report(sample, tags=False, is_separable=False, noise="cases", cases_needed=None)
    assert steps(browser, LIST) == {}


def test_tag_with_many_cases_is_not_named(sample: Sample, browser: Client):
    store_report(sample, tag_cases=FEW_CASES, is_separable=None)
    assert steps(browser, LIST) == {}


def test_run_beaten_in_score_and_cost_is_named(sample: Sample, browser: Client):
    store_report(sample, tags=False, is_separable=True, difference={"value": 0.4, "low": 0.2, "high": 0.6})
    [(title, (reason, cost, url))] = steps(browser, LIST).items()
    assert title == "Leave out Gazelle bob"
    assert reason.startswith("Gazelle ada is surely better, and costs less.")
    assert (cost, url) == ("Costs nothing.", f"/benchmarks/r/{sample.run.public_id}/")


def test_run_beaten_by_a_dearer_one_is_not_named(sample: Sample, browser: Client):
    store_report(sample, tags=False, is_separable=True, difference={"value": -0.4, "low": -0.6, "high": -0.2})
    assert steps(browser, LIST) == {}


@pytest.mark.parametrize(("votes", "is_named"), [(5, True), (4, False)])
def test_template_of_usual_category_is_named(
    member: Actor, models: list[LanguageModel], browser: Client, votes: int, is_named: bool
):
    made = samples.template(member.user, "Small sums in arithmetic")
    freeze_version(made.versions.get())
    ada, bob = models
    vote_factory.cast_all(
        [vote_factory.ballot(ada, bob, "left", voter=member.key, categories=["maths"]) for _ in range(votes)]
    )
    found = steps(browser, LIST)
    assert ("Run “Small sums in arithmetic”" in found) is is_named
    if is_named:
        reason, cost, url = found["Run “Small sums in arithmetic”"]
        assert reason.startswith("5 of your latest votes are on prompts of the category “Maths”")
        assert (cost, url) == ("8 calls a model", f"/benchmarks/t/{made.public_id}/start/")
    assert steps(make.browser(make.member()), LIST) == {}


def test_template_that_was_run_is_not_named_again(sample: Sample, member: Actor, browser: Client):
    sample.template.name = "Arithmetic"
    sample.template.save()
    ada, bob = LanguageModel.objects.filter(slug__in=("ada", "bob"))
    vote_factory.cast_all(
        [vote_factory.ballot(ada, bob, "left", voter=member.key, categories=["maths"]) for _ in range(9)]
    )
    assert "Run “Arithmetic”" not in steps(browser, LIST)


def test_others_see_nothing_of_private_runs(sample: Sample, client: Client):
    assert steps(client, LIST) == {}
    assert steps(make.browser(make.member()), LIST) == {}


def test_runs_of_a_team_suggest_in_its_place_only(member: Actor, models: list[LanguageModel], browser: Client):
    guest = make.user()
    team = make.team(member.user, members={Role.GUEST: [guest]})
    store_report(samples.sample(member.user, models, team), is_separable=None)
    assert steps(browser, LIST) == {}
    assert "Add cases with the tag “europe”" in steps(browser, f"{LIST}?team={team.slug}")
    assert steps(make.browser(Actor(user=guest)), LIST) == {}


def test_suggestions_of_runs_take_fixed_queries(sample: Sample, member: Actor, browser: Client):
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            browser.get(LIST)
        return len(captured)

    before = queries()
    models = list(LanguageModel.objects.filter(slug__in=("ada", "bob")))
    for number in range(3):
        more = samples.template(member.user, f"Capitals {number}")
        samples.finished_run(member.user, more.versions.get(), models)
    assert queries() == before


def test_judge_without_people_is_named(sample: Sample, member: Actor, browser: Client):
    store_report(sample, tags=False, is_separable=None)
    assert steps(browser, LIST) == {}
    judge = judged_runs.judge(make.model(), member.user, name="Strict")
    judged_runs.answer(judged_runs.judging(judge, sample.run), "judge-longer")
    [(title, (reason, cost, url))] = steps(browser, LIST).items()
    assert title == "Compare the judge “Strict” with people"
    assert reason.startswith("It judged answers of “First look”, and no people have.")
    assert (cost, url) == ("No model is called.", f"/reviews/new/?run={sample.run.public_id}")
    assert browser.get(url).status_code == 200
    assert steps(make.browser(make.member()), LIST) == {}
    review = reviews.create_review(owner=member.user, run=sample.run)
    assert steps(browser, LIST) == {}
    reviews.withdraw_review(reviews.open_review(review))
    assert title in steps(browser, LIST)
    Judge.objects.update(archived_at=timezone.now())
    assert steps(browser, LIST) == {}


@pytest.mark.parametrize(("won", "is_named"), [((70, 50), True), ((190, 10), False)])
def test_pair_that_people_leave_open_asks_for_opinions(
    sample: Sample, member: Actor, browser: Client, won: tuple[int, int], is_named: bool
):
    store_report(sample, tags=False, is_separable=None)
    review = reviews.open_review(reviews.create_review(owner=member.user, run=sample.run))
    ada, bob = LanguageModel.objects.filter(slug__in=("ada", "bob")).order_by("slug")
    ballots = [
        vote_factory.ballot(ada, bob, choice, series=review.public_id)
        for choice, n in zip(("left", "right"), won, strict=True)
        for _ in range(n)
    ]
    vote_factory.cast_all(ballots)
    assert steps(browser, LIST) == {}
    reviews.close_review(review)
    publish_series(review.public_id)
    title = "Tell Gazelle ada and Gazelle bob apart"
    found = steps(browser, LIST)
    assert (title in found) is is_named
    if is_named:
        reason, cost, url = found[title]
        assert "Of all pairs that people do not tell apart" in reason
        assert (cost, url) == ("No model is called.", f"/reviews/new/?run={sample.run.public_id}")
        of_board = steps(browser, f"{BOARD}?board=review:{review.public_id}")[title]
        assert of_board[2] == f"/review/{review.public_id}/"
