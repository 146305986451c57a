"""People vote on a review while the processes that serve them are killed."""

import time
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest

from tests.site import Reader
from tests.waiting import wait_for
from tests.worlds.arena import SWEEPER, WEB, Arena

pytestmark = pytest.mark.faults

PEOPLE, OPINIONS = 8, 6
OPEN = f"""
from decimal import Decimal
from accounts.models import User
from models_registry.models import LanguageModel
from reviews import actions
from tests.worlds.benchmarks import samples
owner, _ = User.objects.get_or_create(email="reviews@example.org")
compared = list(LanguageModel.objects.filter(slug__in=["left-one", "right-one"]))
run = samples.sample(owner, compared, budget=Decimal(1)).run  # other tests set prices
made = actions.create_review(
    owner=owner, run=run, audience="everyone", opinions_per_item={OPINIONS}, repeats_percent=0, least_seconds=0
)
print(actions.open_review(made).public_id)
"""
ITEMS = """
SELECT item.opinions, item.leases,
    (SELECT count(*) FROM reviews_reviewbattle AS b WHERE b.review_item_id = item.id AND b.lease_until IS NOT NULL),
    (SELECT count(*) FROM reviews_reviewbattle AS b JOIN battles_vote AS v ON v.battle_id = b.battle_id
        WHERE b.review_item_id = item.id AND v.excluded_reason = ''),
    (SELECT count(*) - count(DISTINCT b.person) FROM reviews_reviewbattle AS b WHERE b.review_item_id = item.id)
FROM reviews_reviewitem AS item JOIN reviews_review AS review ON review.id = item.review_id
WHERE review.public_id = %s
"""

EXPIRE = """
UPDATE reviews_reviewbattle SET lease_until = now() - interval '1 second' WHERE lease_until IS NOT NULL RETURNING id
"""


def vote_until_nothing_is_left(site: str, review: str) -> int:
    """Return the number of acknowledged votes; requests that fail are sent again."""
    reader, votes, deadline = Reader(site), 0, time.monotonic() + 200
    reader.get("/")
    while time.monotonic() < deadline:
        try:
            following = reader.api("POST", f"reviews/{review}/next/")
            if following.status_code in (204, 409):
                return votes
            if following.status_code != 200:
                time.sleep(0.1)
                continue
            battle = following.json()["id"]
            votes += reader.api("POST", f"battles/{battle}/vote/", {"choice": "left"}).status_code == 201
        except httpx2.TransportError:
            time.sleep(0.1)
    pytest.fail("the review did not end")


def all_opinions(arena: Arena, review: str) -> int:
    return sum(row[3] for row in arena.query(ITEMS, review))


def test_killed_processes_leave_a_review_right(arena: Arena):
    review = arena.shell(OPEN).strip()
    with ThreadPoolExecutor(PEOPLE) as threads:
        voting = [threads.submit(vote_until_nothing_is_left, arena.url, review) for _n in range(PEOPLE)]
        for program, enough in ((WEB, 3), (SWEEPER, 10), (WEB, 16)):
            wait_for(lambda enough=enough: all_opinions(arena, review) >= enough)
            killed = arena.signal(program)
            wait_for(lambda killed=killed, program=program: arena.has_restarted(program, killed))
        acknowledged = sum(each.result() for each in voting)
    arena.query(EXPIRE)
    wait_for(lambda: all(row[1] == 0 for row in arena.query(ITEMS, review)))
    # A visitor whose first answer was lost came back as another one, and held a pair until now.
    acknowledged += vote_until_nothing_is_left(arena.url, review)
    items = arena.query(ITEMS, review)
    assert len(items) == 7
    assert all(opinions == voted <= OPINIONS + PEOPLE for opinions, _, _, voted, _ in items)
    assert not any(leased or twice for _, _, leased, _, twice in items)
    assert all_opinions(arena, review) >= acknowledged
    state = "SELECT state, ended_by FROM reviews_review WHERE public_id = %s"
    wait_for(lambda: arena.query(state, review) == [("closed", "quota")])
