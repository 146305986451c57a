"""Questions after the choice: what is asked, stored, hidden and shown."""

import re

import pytest
from django.db import DatabaseError, transaction

from accounts.actor import Actor
from accounts.personal_data import collect_personal_data
from battles.models import Side, Vote
from reviews import actions
from reviews.errors import ReviewState
from reviews.models import Review, ReviewBattle
from reviews.payload_types import QuestionPayload
from reviews.questions import PairAnswers, summarize
from tests import make

pytestmark = pytest.mark.django_db

POLITE: QuestionPayload = {
    "text": "Which answer is more polite?", "steps": ["A much", "both alike", "B much"], "compares": True,
}  # fmt: skip
HARD: QuestionPayload = {"text": "Was it hard to say?", "steps": ["easy", "hard"], "compares": False}


@pytest.fixture
def asking(review: Review) -> Review:
    draft = actions.create_review(
        owner=review.owner, run=review.run, questions=[POLITE, HARD], repeats_percent=0, least_seconds=0
    )
    return actions.open_review(draft)


def next_id(person: Actor, review: Review) -> str:
    battle = actions.next_battle(person, review)
    assert battle is not None
    return battle.public_id


def text_of(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def test_choice_leads_to_questions_before_names(asking: Review):
    person = make.member()
    browser, battle = make.browser(person), next_id(person, asking)
    address = f"/battles/{battle}/vote/"
    chosen = browser.post(address, {"choice": "right"}, follow=True)
    assert "choice=right" in chosen.redirect_chain[0][0]
    for shown in (chosen, browser.post(address, {"choice": "right"}, headers={"HX-Request": "true"})):
        page = shown.content.decode()
        assert "You prefer answer B." in text_of(page)
        assert POLITE["text"] in page
        assert "Gazelle" not in page
        assert 'name="answer-1" value="2"' in " ".join(page.split())
    assert not Vote.objects.exists()

    named = browser.post(address, {"choice": "right", "is_complete": "1", "answer-0": "3", "answer-1": ""}, follow=True)
    assert "You preferred answer B." in named.content.decode()
    assert (Vote.objects.get().choice, ReviewBattle.objects.get().answers) == ("right", [3, None])
    again = browser.post(address, {"choice": "left"}, follow=True)
    assert "You preferred answer B." in again.content.decode()


def test_skipped_questions_are_stored_as_no_answers(asking: Review):
    person = make.member()
    browser, battle = make.browser(person), next_id(person, asking)
    sent = {"choice": "tie", "is_complete": "1", "answer-0": "1", "skip": "1"}
    browser.post(f"/battles/{battle}/vote/", sent)
    assert ReviewBattle.objects.get().answers == [None, None]


def test_answers_come_with_the_vote_by_the_api(asking: Review, owner: Actor):
    user = make.user()
    api, battle = make.api(user), next_id(Actor(user=user), asking)
    vote = f"/api/v1/battles/{battle}/vote/"
    for wrong in ([1], [4, 1], [1, 2, 1]):
        refused = api.post(vote, {"choice": "left", "answers": wrong}, "application/json")
        assert (refused.status_code, "answers" in refused.text) == (400, True)
    assert not Vote.objects.exists()
    assert api.post(vote, {"choice": "left", "answers": [1, 2]}, "application/json").status_code == 201
    other = make.member()
    quiet = make.api(other.user).post(
        f"/api/v1/battles/{next_id(other, asking)}/vote/", {"choice": "tie"}, "application/json"
    )
    assert quiet.status_code == 201

    address = f"/api/v1/reviews/{asking.public_id}/"
    assert api.get(address).json()["questions"] == [POLITE, HARD]
    assert make.api(owner.user).get(f"{address}results/").status_code == 409
    actions.close_review(asking)
    polite, hard = api.get(f"{address}results/").json()["questions"]
    left = Side.objects.select_related("model").get(battle__public_id=battle, position="left").model
    assert (polite["n"], polite["without"], polite["steps"]) == (1, 1, POLITE["steps"])
    assert {row["model"]["id"]: row["mean"] for row in polite["models"]}[left.slug] == 1
    assert [(row["n"], row["mean"]) for row in hard["models"]] == [(1, 2), (1, 2)]
    page = text_of(make.browser(owner).get(f"/review/{asking.public_id}/results/").content.decode())
    assert "Which answer is more polite? 1 answer · 1 vote without one" in page
    assert "both alike" in page


def test_answers_without_questions_are_refused(review: Review):
    user = make.user()
    body = {"choice": "left", "answers": [1]}
    of_review = next_id(Actor(user=user), review)
    plain = make.answered_battle(make.model(), make.model(), actor=Actor(user=user, network="127.0.0.1")).public_id
    for battle in (of_review, plain):
        assert make.api(user).post(f"/api/v1/battles/{battle}/vote/", body, "application/json").status_code == 400
    assert not Vote.objects.exists()


def test_uncounted_votes_answer_nothing(asking: Review, owner: Actor):
    person = make.member()
    for _n in range(2):
        body = {"choice": "left", "answers": [1, 1]}
        make.api(person.user).post(f"/api/v1/battles/{next_id(person, asking)}/vote/", body, "application/json")
    actions.set_aside(asking.reviewers.get(), by=owner.user, because="", evidence={})
    actions.close_review(asking)
    results = make.api(owner.user).get(f"/api/v1/reviews/{asking.public_id}/results/").json()["questions"]
    assert [(result["n"], result["without"], result["pairs"]) for result in results] == [(0, 0, [])] * 2


def test_owner_writes_questions_without_a_script(review: Review, owner: Actor):
    draft = actions.create_review(owner=review.owner, run=review.run)
    browser = make.browser(owner)
    terms = {
        "title": "Which capital?", "audience": "members", "plan": "all", "opinions_per_item": "2", "takes_ties": "on",
        "repeats_percent": "10", "least_seconds": "2", "asks_for": "pairs", "questions-TOTAL_FORMS": "0",
        "questions-INITIAL_FORMS": "0",
    }  # fmt: skip
    added = browser.post(draft.settings_url, {**terms, "add_question": "1"})
    assert (added.status_code, 'name="questions-0-text"' in added.content.decode()) == (200, True)
    row = {"questions-TOTAL_FORMS": "1", "questions-0-text": POLITE["text"], "questions-0-compares": "on"}
    wrong = browser.post(draft.settings_url, {**terms, **row, "questions-0-steps": "only one"})
    assert (wrong.status_code, "Write 2 to 5 answers." in wrong.content.decode()) == (422, True)
    sent = {**terms, **row, "questions-0-steps": "A much\n both alike \n\nB much"}
    assert browser.post(draft.settings_url, sent).status_code == 303
    draft.refresh_from_db()
    assert draft.questions == [POLITE]
    removed = browser.post(draft.settings_url, {**sent, "remove_question": "0"}, headers={"HX-Request": "true"})
    assert 'name="questions-0-text"' not in removed.content.decode()
    actions.open_review(draft)
    assert "questions-TOTAL_FORMS" not in browser.get(draft.settings_url).content.decode()


def test_questions_are_fixed_at_the_opening(asking: Review):
    with pytest.raises(ReviewState):
        actions.change_review(asking, questions=[])
    with pytest.raises(DatabaseError, match="Cannot update"), transaction.atomic():
        Review.objects.filter(pk=asking.pk).update(questions=[])


def test_api_refuses_questions_that_cannot_be_asked(review: Review, owner: Actor):
    draft = actions.create_review(owner=review.owner, run=review.run)
    api, address = make.api(owner.user), f"/api/v1/reviews/{draft.public_id}/"
    for wrong in ([{**POLITE, "steps": ["one"]}], [{**POLITE, "steps": ["a", "a"]}], [HARD] * 4, [{"text": "x"}]):
        assert api.patch(address, {"questions": wrong}, "application/json").status_code == 400
    changed = api.patch(address, {"questions": [HARD]}, "application/json")
    assert changed.json()["questions"] == [HARD]


def test_person_exports_their_answers(asking: Review):
    person = make.member()
    body = {"choice": "left", "answers": [2, None]}
    battle = next_id(person, asking)
    make.api(person.user).post(f"/api/v1/battles/{battle}/vote/", body, "application/json")
    answers = collect_personal_data(person.user)["review_answers"]
    assert [(row["battle"], row["answer"]) for row in answers] == [(battle, "both alike"), (battle, None)]


def test_answers_are_turned_to_the_first_model():
    rows = [((1, 1), 7, 3, 2), ((1, None), 3, 7, 1), ((2, 2), 7, 3, 1)]
    polite, hard = summarize([POLITE, HARD], rows)
    assert polite.pairs == [PairAnswers(3, 7, [1, 1, 2])]
    assert [(row.model, row.n, row.mean) for row in polite.models] == [(7, 4, 0.25), (3, 4, -0.25)]
    assert (hard.pairs, hard.without) == ([PairAnswers(3, 7, [2, 1])], 1)
