import pytest

from accounts.actor import Actor
from accounts.models import Scope
from battles.models import Battle
from reviews.models import Review
from tests import make
from tests.worlds.benchmarks.samples import Sample

pytestmark = pytest.mark.django_db


def test_review_from_its_run_to_its_end(owner: Actor, sample: Sample):
    api, body = make.api(owner.user), {"run": sample.run.public_id, "title": "Which capital?", "open": False}
    made = api.post("/api/v1/reviews/", body, "application/json")
    assert made.status_code == 201, made.json()
    review = made.json()
    assert (review["state"], review["title"], review["run"], review["mine"]) == (
        "draft", "Which capital?", sample.run.public_id, True
    )  # fmt: skip
    address = f"/api/v1/reviews/{review['id']}/"
    changed = api.patch(address, {"most_per_person": 1}, "application/json").json()
    assert changed["most_per_person"] == 1
    opened = api.post(f"{address}open/").json()
    assert (opened["state"], opened["items"], opened["left_out"]) == ("open", 7, {"failed": 1})

    person = make.user()
    other = make.api(person)
    [listed] = other.get("/api/v1/reviews/").json()["results"]
    assert (listed["id"], listed["run"], listed["asks_you"], listed["voted"]) == (review["id"], None, True, 0)
    battle = other.post(f"{address}next/").json()
    assert (battle["mode"], battle["can_vote"], battle["sides"]) == ("review", True, None)
    assert other.post(f"{address}next/").json()["id"] == battle["id"]
    voted = other.post(f"/api/v1/battles/{battle['id']}/vote/", {"choice": "left"}, "application/json")
    assert voted.status_code == 201
    assert other.post(f"{address}next/").status_code == 204
    assert other.post(f"{address}close/").status_code == 404

    closed = api.post(f"{address}close/").json()
    assert (closed["state"], closed["ended_by"]) == ("closed", "owner")
    results = other.get(f"{address}results/").json()
    assert (results["votes_counted"], results["people"], results["left_out"]) == (1, 1, {"failed": 1})
    assert api.post(f"{address}withdraw/").json()["state"] == "withdrawn"
    assert other.get(address).status_code == 404


def test_scopes_decide(review: Review, sample: Sample):
    person = make.user()
    readers, voters = (make.api(person, scopes=scopes) for scopes in ([Scope.READ], [Scope.READ, Scope.VOTE]))
    address = f"/api/v1/reviews/{review.public_id}/"
    assert readers.get(address).status_code == 200
    assert readers.post(f"{address}next/").status_code == 403
    assert voters.post(f"{address}next/").status_code == 200
    assert voters.post("/api/v1/reviews/", {"run": sample.run.public_id}, "application/json").status_code == 403


def test_run_of_others_is_not_reviewed(sample: Sample):
    body = {"run": sample.run.public_id}
    assert make.api(make.user()).post("/api/v1/reviews/", body, "application/json").status_code == 404
    assert not Review.objects.exists()


def test_next_with_one_key_gives_one_battle(review: Review):
    api, headers = make.api(make.user()), {"Idempotency-Key": "a"}
    address = f"/api/v1/reviews/{review.public_id}/next/"
    first, again = (api.post(address, headers=headers).json()["id"] for _n in range(2))
    assert first == again == Battle.objects.get().public_id
