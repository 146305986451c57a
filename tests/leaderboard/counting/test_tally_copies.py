from functools import partial

import pytest

from battles.models import Vote
from leaderboard import actions
from leaderboard.counting.tally_copies import read_copied_boards, read_copied_overall
from leaderboard.counting.vote_arrays import read_board, read_boards
from leaderboard.models import OVERALL, TallyCopy
from tests import make
from tests.leaderboard.tally_checks import aggregate, assert_tallies_match_votes, cast_random_votes, checksums
from tests.leaderboard.vote_factory import cast

copied_boards = partial(read_copied_boards, until=2**31)


@pytest.mark.slow
@pytest.mark.django_db
def test_copies_and_later_votes_equal_tallies():
    cast_random_votes(300)
    aggregate()
    copied_at = {copy.last_order for copy in TallyCopy.objects.all()}
    first, last = make.model(slug="0-first"), make.model(slug="z-last")
    for choice in ("left", "both_bad"):
        cast(first, last, choice, language="de", categories=["new"])
    cast(last, first, "tie", mode="side_by_side")
    cast(last, first, "tie", origin="router")
    copied = copied_boards()
    run = aggregate()
    assert run.votes_taken == 4
    overall = read_copied_overall(until=run.last_order)
    assert overall is not None
    assert overall.counts.checksum == read_board(OVERALL).counts.checksum == copied[OVERALL].counts.checksum
    assert checksums(copied) == checksums(read_boards(last_order=0))
    assert {copy.last_order for copy in TallyCopy.objects.all()} == copied_at
    assert_tallies_match_votes()


@pytest.mark.django_db
def test_changed_vote_makes_copies_invalid():
    cast_random_votes(40)
    aggregate()
    vote = Vote.objects.blind().filter(excluded_reason="")[0]
    pending = cast(vote.model_left, vote.model_right, "left")
    actions.retract(pending, reason="operator", by=None)
    assert copied_boards() is not None
    actions.retract(vote, reason="operator", by=None)
    assert copied_boards() is None
    assert read_copied_overall(until=2**31) is None
    aggregate()
    assert copied_boards() is not None
    assert_tallies_match_votes()
    assert not TallyCopy.objects.exists()
