from itertools import permutations

import numpy as np
import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse

from accounts.models import AuditEntry
from leaderboard.aggregation.job import aggregate
from leaderboard.models import EloRating
from leaderboard.rating import elo
from tests.concurrency import race
from tests.leaderboard.vote_factory import cast, contestants
from tests.worlds.ratings import reference_votes


@pytest.mark.parametrize("name", ["copilot_arena_examples", "llmfao_crowd", "mtbench_human", "football_intl"])
def test_elo_matches_public_implementation(name):
    expected = reference_votes.reference(name)["elo_k32_1500"]
    ratings = np.full(len(expected), elo.START)
    for left, right, winner in reference_votes.votes(name):
        left_share = {"model_a": 1.0, "model_b": 0.0}.get(winner, 0.5)
        ratings[left], ratings[right] = elo.after_vote(ratings[left], ratings[right], left_share=left_share)
    assert np.abs(ratings - expected).max() < 1e-6


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("choice", "left", "right"),
    [("left", 1516, 1484), ("right", 1484, 1516), ("tie", 1500, 1500), ("both_bad", 1500, 1500)],
)  # fmt: skip
def test_vote_moves_elo_of_both_models(choice, left, right):
    first, second = contestants("first", "second")
    cast(first, second, choice)
    assert list(EloRating.objects.order_by("model__slug").values_list("rating", flat=True)) == [left, right]
    assert list(EloRating.objects.values_list("votes", "last_order")) == [(1, 1), (1, 1)]


@pytest.mark.django_db
def test_chosen_start_and_k_move_earlier_and_later_votes(admin_client: Client):
    first, second = contestants("first", "second")
    cast(first, second, "left")
    address = reverse("admin:leaderboard_elosettings_add")
    refused = admin_client.post(address, {"start": "-1", "k": "101"})
    assert set(refused.context["adminform"].errors) == {"start", "k"}
    assert admin_client.post(address, {"start": "1000", "k": "20"}).status_code == 302
    ratings = EloRating.objects.order_by("model__slug").values_list("rating", flat=True)
    assert list(ratings.all()) == [1010, 990]
    assert admin_client.get(address).url == reverse("admin:leaderboard_elosettings_change", args=[1])
    cast(*contestants("third", "fourth"), "right")
    assert sorted(ratings.all()) == [990, 990, 1010, 1010]
    run = aggregate(slot="chosen")
    assert (run.parameters["elo_start"], run.parameters["elo_k"]) == (1000, 20)
    assert {line.model.slug: line.elo for line in run.standings.all()}["first"] == 1010
    assert AuditEntry.objects.get(action="add elo settings").details == {"start": 1000, "k": 20}


@pytest.mark.django_db
def test_excluded_vote_does_not_move_elo():
    first, second = contestants("first", "second")
    cast(first, second, "left", excluded="identity_leak")
    assert not EloRating.objects.exists()


@pytest.mark.django_db
def test_rolled_back_vote_does_not_move_elo():
    first, second = contestants("first", "second")
    with transaction.atomic():
        cast(first, second, "left")
        transaction.set_rollback(True)
    assert not EloRating.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_concurrent_votes_all_move_elo():
    models = contestants("a", "b", "c", "d", "e")
    pairs = (list(permutations(models, 2)) * 3)[:50]

    race(lambda pair: cast(*pair, "left"), pairs)
    ratings = EloRating.objects.all()
    assert sum(row.votes for row in ratings) == 100
    assert sum(row.rating for row in ratings) == pytest.approx(5 * 1500)
    assert max(row.last_order for row in ratings) == 50
