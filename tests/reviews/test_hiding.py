"""While a review is open, only the owner reads its answers with names; readers of before do not count."""

import json
import re

import pytest

from accounts.actor import Actor
from battles.actions import cast_vote
from battles.models import Battle, Vote
from benchmarks import actions as run_actions
from benchmarks.models import Reply
from models_registry.models import LanguageModel
from reviews import actions
from reviews.agreement.results import read_judges_with_people
from reviews.models import Contrast, Review, ReviewBattle, RunReader
from reviews.receivers import ReviewSeries
from tests import make
from tests.worlds.benchmarks import judged_runs, samples
from tests.worlds.benchmarks.samples import Sample, downloaded

pytestmark = pytest.mark.django_db
HIDDEN = 403
# Parts of pages that differ with each request.
_CHANGING = re.compile(r'(?:name="csrfmiddlewaretoken" value|nonce|"X-CSRFToken":)="?[^"]+"')


def addresses(sample: Sample) -> list[str]:
    run, item = sample.run.public_id, sample.item
    return [
        f"/benchmarks/r/{run}/matrix/", f"/benchmarks/r/{run}/items/{item.pk}/",
        f"/benchmarks/r/{run}/case/{item.case_id}/", f"/benchmarks/r/{run}/export.csv",
        f"/benchmarks/r/{run}/export.jsonl", f"/api/v1/benchmarks/runs/{run}/items/",
        f"/api/v1/benchmarks/items/{run}-{item.pk}/", f"/api/v1/benchmarks/runs/{run}/export.csv",
    ]  # fmt: skip


@pytest.fixture
def published(sample: Sample) -> Sample:
    run_actions.publish_run(sample.run, with_names=True)
    return sample


@pytest.fixture
def review(published: Sample, owner: Actor) -> Review:
    return actions.open_review(actions.create_review(owner=owner.user, run=published.run))


def test_open_review_hides_answers_from_all_but_the_owner(review: Review, published: Sample, owner: Actor):
    readers = {"member": make.browser(make.member()), "visitor": make.browser(make.visitor())}
    for address in addresses(published):
        for browser in readers.values():
            refused = browser.get(address)
            assert refused.status_code == HIDDEN, address
            assert "hidden until a review of this run closes" in refused.content.decode()
        assert make.browser(owner).get(address).status_code == 200
    # The report is about all answers, and has no single one.
    page = readers["member"].get(f"/benchmarks/r/{published.run.public_id}/")
    assert page.status_code == 200
    texts = Reply.objects.values_list("text", flat=True)
    assert not [text for text in texts if text in page.content.decode()]


def test_names_are_shown_at_the_close(review: Review):
    person = make.member()
    battle, browser = actions.next_battle(person, review), make.browser(person)
    assert battle is not None
    voted = browser.post(
        f"/api/v1/battles/{battle.public_id}/vote/", {"choice": "left"}, content_type="application/json"
    )
    assert (voted.status_code, voted.json()["sides"]) == (201, None)
    session = battle.session.public_id
    pages = [battle.get_absolute_url(), "/votes/", "/api/v1/me/votes/", f"/s/{session}/export/"]
    for page in pages:
        shown = browser.get(page, follow=True)
        text = shown.content.decode()
        assert (shown.status_code, "Gazelle" in text) == (200, False), page
    assert "shown when the review closes" in browser.get(pages[0]).content.decode()

    actions.close_review(review)
    for page in pages:
        assert "Gazelle ada" in browser.get(page, follow=True).content.decode(), page


def test_draft_can_ask_for_names_after_each_vote(published: Sample, owner: Actor):
    terms = {"owner": owner.user, "run": published.run, "names_after_vote": True}
    review, person = actions.open_review(actions.create_review(**terms)), make.member()
    battle = actions.next_battle(person, review)
    assert battle is not None
    cast_vote(actor=person, battle=battle, choice=Vote.Choice.LEFT)
    assert "Gazelle ada" in make.browser(person).get(battle.get_absolute_url()).content.decode()


def test_close_shows_the_answers_again(review: Review, published: Sample):
    actions.close_review(review)
    browser = make.browser(make.member())
    assert {browser.get(address).status_code for address in addresses(published)} == {200}


@pytest.mark.parametrize("number", range(8))
def test_reader_of_answers_votes_without_counting(published: Sample, owner: Actor, number: int):
    reader = make.member()
    response = make.browser(reader).get(addresses(published)[number])
    if response.streaming:
        downloaded(response)
    assert RunReader.objects.get().person == reader.key
    review = actions.open_review(actions.create_review(owner=owner.user, run=published.run))

    page = make.browser(reader).get(review.get_absolute_url()).content.decode()
    assert "You could read these answers with their names before." in page
    battle = actions.next_battle(reader, review)
    assert battle is not None
    vote = cast_vote(actor=reader, battle=battle, choice=Vote.Choice.LEFT)
    assert (vote.excluded_reason, ReviewBattle.objects.get().knew_answers) == ("knew_answers", True)


def test_names_and_scores_stay_hidden_until_the_vote(review: Review):
    person = make.member()
    browser = make.browser(person)
    begun = browser.post(f"/review/{review.public_id}/next/")
    battle = Battle.objects.get()
    before = [
        browser.get(begun["Location"].partition("#")[0]).content.decode(),
        browser.get(f"/api/v1/battles/{battle.public_id}/").content.decode(),
        browser.post(f"/api/v1/reviews/{review.public_id}/next/").content.decode(),
        browser.get(f"/api/v1/reviews/{review.public_id}/").content.decode(),
        browser.get("/sessions/").content.decode(),
        browser.get(f"/review/{review.public_id}/").content.decode(),
        browser.get("/reviews/").content.decode(),
    ]
    for canary in ("Gazelle", "acme", "Let me think", "correct", "first_token_ms", "180", "900 ms"):
        found = [number for number, page in enumerate(before) if canary in page]
        assert not found or canary in ("180", "correct"), canary
    payload = json.loads(before[1])
    assert (payload["sides"], payload["vote"]) == (None, None)
    voted = browser.post(f"/api/v1/battles/{battle.public_id}/vote/", {"choice": "left"}, "application/json").json()
    assert (voted["vote"]["choice"], voted["sides"]) == ("left", None)


def test_nothing_tells_the_leader_before_the_close(review: Review, owner: Actor):
    for _n in range(3):
        person = make.member()
        battle = actions.next_battle(person, review)
        assert battle is not None
        cast_vote(actor=person, battle=battle, choice=Vote.Choice.LEFT)
    browser = make.browser(owner)
    hidden = browser.get(f"/review/{review.public_id}/results/").content.decode()
    assert "hidden until the review closes" in hidden
    assert "Gazelle" not in hidden
    refused = browser.get(f"/api/v1/reviews/{review.public_id}/results/")
    assert (refused.status_code, refused.json()["code"]) == (409, "results_hidden")
    progress = browser.get(f"/api/v1/reviews/{review.public_id}/progress/").json()
    assert progress == {
        "opinions": 3, "opinions_wanted": 7, "under_way": 0, "people": 3, "knew_answers": 0, "contrasts": 0,
        "contrasts_decided": 0,
    }  # fmt: skip
    assert "Gazelle" not in browser.get(review.settings_url).content.decode()
    assert browser.get(f"/leaderboard/?board=review:{review.public_id}").status_code == 404


def reads_results(person: Actor, review: Review) -> bool:
    """Return whether the person reads the results so far, which all pages and the API answer alike."""
    browser, later = make.browser(person), "shown to you after your own votes"
    pages = [f"/review/{review.public_id}/{name}" for name in ("", "results/", "agreement/")]
    found = [later not in browser.get(page).content.decode() for page in pages]
    for name in ("results/", "agreement/"):
        response = browser.get(f"/api/v1/reviews/{review.public_id}/{name}")
        found.append(response.status_code == 200)
        assert found[-1] or later in response.json()["detail"]
    found.append(ReviewSeries().may_read_board(person, review.public_id))
    [answer] = set(found)
    return answer


def vote(person: Actor, review: Review, times: int) -> None:
    for _n in range(times):
        battle = actions.next_battle(person, review)
        assert battle is not None
        cast_vote(actor=person, battle=battle, choice=Vote.Choice.LEFT)


@pytest.mark.parametrize("most", [None, 2])
def test_results_so_far_come_after_own_votes(published: Sample, owner: Actor, most: int | None):
    terms = {"opinions_per_item": 9, "hides_results": False, "most_per_person": most, "repeats_percent": 0}
    review = actions.open_review(actions.create_review(owner=owner.user, run=published.run, **terms))
    person = make.member()
    assert (reads_results(owner, review), reads_results(person, review)) == (True, False)
    vote(person, review, (most or 7) - 1)
    assert not reads_results(person, review)
    vote(person, review, 1)
    assert reads_results(person, review)
    actions.close_review(review)
    review.refresh_from_db()
    assert reads_results(make.member(), review)


def test_results_so_far_are_shown_to_readers_of_answers(published: Sample, owner: Actor):
    reader = make.member()
    make.browser(reader).get(addresses(published)[0])
    terms = {"opinions_per_item": 9, "hides_results": False}
    review = actions.open_review(actions.create_review(owner=owner.user, run=published.run, **terms))
    assert reads_results(reader, review)  # no vote of theirs counts


def test_grades_so_far_come_after_own_grades(published: Sample, owner: Actor):
    terms = {"asks_for": "stars", "opinions_per_item": 9, "hides_results": False, "most_per_person": 1}
    review = actions.open_review(actions.create_review(owner=owner.user, run=published.run, **terms))
    person = make.member()
    browser, results = make.browser(person), f"/api/v1/reviews/{review.public_id}/results/"
    assert browser.get(results).status_code == 409
    drawn = actions.next_answer(person, review)
    assert drawn is not None
    actions.grade_answer(person, review, drawn.pk, 4)
    assert browser.get(results).status_code == 200


def test_figures_of_a_run_wait_for_the_close(published: Sample, owner: Actor):
    terms = {"opinions_per_item": 9, "hides_results": False}
    review = actions.open_review(actions.create_review(owner=owner.user, run=published.run, **terms))
    judge = judged_runs.judge(make.model(), owner.user)
    judged_runs.answer(judged_runs.judging(judge, published.run), "judge-longer")
    vote(make.member(), review, 7)
    assert read_judges_with_people(published.run, [judge]) == {}
    actions.close_review(review)
    assert list(read_judges_with_people(published.run, [judge])) == [judge.pk]


@pytest.fixture
def ruled(owner: Actor, models: list[LanguageModel]) -> Review:
    """An open review of three models whose stop rule has decided one of two pairs."""
    run = samples.sample(owner.user, [*models, make.model(name="Gazelle cyd", slug="cyd")]).run  # type: ignore[arg-type]
    terms = {"opinions_per_item": 50, "stop_share": 60, "contrasts": [["ada", "bob"], ["bob", "cyd"]]}
    review = actions.open_review(actions.create_review(owner=owner.user, run=run, **terms))
    for person in [make.member() for _n in range(3)]:
        battle = actions.next_battle(person, review)
        assert battle is not None
        cast_vote(actor=person, battle=battle, choice=Vote.Choice.LEFT)
    return review


def decide(review: Review, decision: str, mean: float) -> None:
    """Store a decision about the first pair, and the opposite trend of the second."""
    first, second = review.contrasts.order_by("pk").values_list("pk", flat=True)
    state = {"people": 9, "opinions": 90, "low": mean - 0.05, "high": mean + 0.05}
    Contrast.objects.filter(pk=first).update(decision=decision, decided_after=8, mean=mean, **state)
    Contrast.objects.filter(pk=second).update(mean=1 - mean, **state)


def test_contrasts_tell_no_leader_before_the_close(ruled: Review, owner: Actor):
    review, in_api = f"/review/{ruled.public_id}", f"/api/v1/reviews/{ruled.public_id}"
    addresses = [
        "/reviews/", "/benchmarks/", f"/benchmarks/r/{ruled.run.public_id}/", f"{review}/", f"{review}/results/",  # type: ignore[union-attr]
        f"{review}/agreement/", ruled.settings_url, f"{review}/people/", "/api/v1/reviews/", f"{in_api}/",
        f"{in_api}/progress/", f"{in_api}/results/", f"{in_api}/agreement/", f"{in_api}/people/",
        f"/leaderboard/?board=review:{ruled.public_id}",
    ]  # fmt: skip
    browsers = {"owner": make.browser(owner), "person": make.browser(make.member())}

    def seen() -> dict[tuple[str, str], tuple[int, str]]:
        pages = {(who, url): browser.get(url) for who, browser in browsers.items() for url in addresses}
        return {key: (page.status_code, _CHANGING.sub("", page.content.decode())) for key, page in pages.items()}

    decide(ruled, "better", 0.9)
    if_first_leads = seen()
    decide(ruled, "worse", 0.1)
    if_second_leads = seen()
    assert [key for key, page in if_first_leads.items() if page != if_second_leads[key]] == []
    statuses = {url: if_first_leads["owner", url][0] for url in addresses}
    assert {url: status for url, status in statuses.items() if status != 200} == {
        f"{in_api}/results/": 409, f"{in_api}/agreement/": 409, f"/leaderboard/?board=review:{ruled.public_id}": 404,
    }  # fmt: skip
    progress = json.loads(if_first_leads["owner", f"{in_api}/progress/"][1])
    assert (progress["contrasts"], progress["contrasts_decided"]) == (2, 1)
    actions.close_review(ruled)
    results = seen()
    decide(ruled, "better", 0.9)
    assert seen()["person", f"{review}/results/"] != results["person", f"{review}/results/"]
