"""Opinions of a review as a file: what it has, what it does not tell, and who reads it."""

import csv
import json
from io import BytesIO, StringIO

import pytest
from arro3.io import read_parquet
from django.test import Client

from accounts.actor import Actor
from accounts.models import Role
from battles.actions import cast_vote
from battles.models import Vote
from benchmarks.models import Judge, Judgement
from common.tables.writers import WRITERS
from models_registry.models import LanguageModel
from reviews import actions
from reviews.exports import TABLE, batches, pseudonym
from reviews.models import Review, ReviewBattle
from tests import make
from tests.worlds.benchmarks import judged_runs, samples
from tests.worlds.reviews.second_opinions import asked_about, prefer

pytestmark = [pytest.mark.django_db, pytest.mark.processes]


def address_of(review: Review, ending: str = "jsonl") -> str:
    return f"/review/{review.public_id}/export.{ending}"


def vote(review: Review, person: Actor, choice: str) -> ReviewBattle:
    battle = actions.next_battle(person, review)
    cast_vote(actor=person, battle=battle, choice=Vote.Choice(choice))
    return ReviewBattle.objects.get(battle=battle)


@pytest.fixture
def review(judge: Judge, owner: Actor) -> Review:
    made = actions.create_review(owner=owner.user, run=judge.judgings.get().subject, opinions_per_item=9)
    return actions.open_review(made)


def rows_of(review: Review) -> list[dict]:
    return [row for rows in batches(review) for row in rows]


def test_votes_and_verdicts_are_seen_from_the_same_entrant(review: Review, models: list[LanguageModel]):
    person, other = make.member(), make.member()
    drawn = {choice: vote(review, person, choice) for choice in ("left", "right", "tie", "both_bad")}
    vote(review, other, "both_bad")
    actions.close_review(review)
    rows = rows_of(review)
    people, judged = ([row for row in rows if row["source"] == source] for source in ("person", "judge"))
    by_answer = dict(zip(drawn, people, strict=False))
    for choice, row in by_answer.items():
        left = Vote.objects.get(battle=drawn[choice].battle).model_left
        assert (row["first"], row["second"], row["first_name"]) == ("000", "001", "Gazelle ada")
        assert row["is_swapped"] is (left == models[1])
        sides = ["second", "first"] if left == models[1] else ["first", "second"]
        assert row["answer"] == dict(zip(("left", "right"), sides, strict=True)).get(choice, choice)
    assert [row["value"] for row in people[2:4]] == [0.5, 0.5]
    assert [row["answer"] for row in people[2:4]] == ["tie", "both_bad"]
    assert {row["rater"] for row in people[:4]} == {pseudonym(review, person.key)} != {people[4]["rater"]}
    # Eleven pairs in both orders; the first entrant's answer is longer on six.
    assert len(judged) == 22
    assert sum(row["is_swapped"] for row in judged) == 11
    assert {row["case_key"] for row in judged if row["answer"] == "first"} == {f"land-{n}" for n in range(0, 12, 2)}


def test_files_hide_people_and_run_no_formula(review: Review):
    person = make.member()
    person.user.display_name = "Ada Lovelace"
    person.user.save()
    vote(review, person, "left")
    Judge.objects.update(name="=1+1")
    actions.close_review(review)
    texts = {ending: b"".join(write(batches(review), TABLE)) for ending, write in WRITERS.items()}
    for text in texts.values():
        for name in ("Lovelace", person.user.email, person.key):
            assert name.encode() not in text
    rows = list(csv.DictReader(StringIO(texts["csv"].decode())))
    assert list(rows[0]) == list(TABLE.columns)
    assert {row["rater_name"] for row in rows} == {"", "'=1+1"}
    assert len(texts["jsonl"].splitlines()) == len(rows) == 23
    assert json.loads(texts["jsonl"].splitlines()[0])["counts"] is True
    assert sum(batch.num_rows for batch in read_parquet(BytesIO(texts["parquet"]))) == 23


def test_files_wait_for_the_close(review: Review, browser: Client):
    vote(review, make.member(), "left")
    path = f"/api/v1/reviews/{review.public_id}/export.csv"
    assert (browser.get(path).status_code, browser.get(path).json()["code"]) == (409, "results_hidden")
    assert browser.get(address_of(review)).status_code == 409
    actions.close_review(review)
    assert browser.get(path).status_code == 200
    assert address_of(review) in browser.get(f"/review/{review.public_id}/results/").text


def test_files_are_for_those_who_manage(review: Review, browser: Client, client: Client):
    asked = make.browser(make.member())
    vote(review, make.member(), "left")
    actions.close_review(review)
    assert address_of(review) not in asked.get(f"/review/{review.public_id}/results/").text
    for reader in (asked, client):
        assert reader.get(address_of(review)).status_code == 404
        assert reader.get(f"/api/v1/reviews/{review.public_id}/export.jsonl").status_code == 404
    assert browser.get(address_of(review, "xlsx")).status_code == 404


def test_votes_outlive_the_answers(review: Review, owner: Actor):
    drawn = vote(review, make.member(), "tie")
    actions.close_review(review)
    Review.objects.filter(pk=review.pk).update(run=None)
    drawn.review_item.first_item = drawn.review_item.second_item = drawn.review_item.case = None
    drawn.review_item.save()
    review.refresh_from_db()
    [row] = rows_of(review)
    assert (row["case_key"], row["first"], row["answer"]) == (None, None, "tie")
    assert {row["first_name"], row["second_name"]} == {"Gazelle ada", "Gazelle bob"}


def test_second_opinion_of_a_team_names_its_models():
    maker, mate = make.user(), make.user()
    team = make.team(maker, slug="physics", members={Role.MEMBER: [mate]})
    own, site = make.team_model(team, slug="own", name="Own"), make.model(slug="site", name="Site")
    asked = asked_about(Actor(user=maker), models=(own, site), place=team)
    prefer(Actor(user=mate), asked, own)
    [row] = rows_of(asked)
    assert {row["first_name"], row["second_name"]} == {str(own), "Site"}
    assert row[f"{row['answer']}_name"] == str(own)


def test_verdicts_for_another_order_of_entrants_are_turned(judge: Judge, owner: Actor, models: list[LanguageModel]):
    """The run that was judged has the first model first, the one that reused its answers the second model."""
    again = samples.reusing_run(owner.user, judge.judgings.get().subject, is_reversed=True)
    review = actions.open_review(actions.create_review(owner=owner.user, run=again))
    actions.close_review(review)
    judged = rows_of(review)
    assert {(row["first_name"], row["second_name"]) for row in judged} == {("Gazelle bob", "Gazelle ada")}
    assert sorted(row["answer"] for row in judged) == ["second"] * 12 + ["tie"] * 10
    shown_first = Judgement.objects.order_by("pk").values_list("first_reply__model", flat=True)
    assert [row["is_swapped"] for row in judged] == [model == models[0].pk for model in shown_first]


def test_grades_have_no_second_answer(review: Review, owner: Actor):
    grades = judged_runs.judge(make.model(), owner.user, judged_runs.SCORES, name="Grades")
    judged_runs.answer(judged_runs.judging(grades, review.run), "judge-grades")
    actions.close_review(review)
    graded = [row for row in rows_of(review) if row["rater_name"] == "Grades"]
    # The 12th case has one answer, which is in no pair.
    assert len(graded) == 22
    assert {(row["second"], row["answer"]) for row in graded} == {(None, None)}
    assert all(row["value"] is not None for row in graded)
