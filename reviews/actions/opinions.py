from functools import partial

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from accounts.actor import Actor
from battles.models import Vote
from reviews import access
from reviews.actions.lifecycle import close_complete
from reviews.errors import ReviewTakesNoVotes
from reviews.models import ReviewBattle, ReviewItem


def count_opinion(vote: Vote) -> None:
    """Note the opinion in the transaction that stores its vote. Raises ReviewTakesNoVotes, which refuses the vote.

    The vote of a person who had read the answers is kept, but counts nowhere.
    """
    drawn = (
        ReviewBattle.objects.select_for_update(of=("self",))
        .select_related("review__run", "battle__session__owner_user", "battle__session__owner_visitor")
        .filter(battle=vote.battle_id, ended_at=None)
        .first()
    )
    if drawn is None or drawn.battle is None:
        return
    if not drawn.review.takes_votes:
        raise ReviewTakesNoVotes
    session = drawn.battle.session
    voter = Actor(user=session.owner_user, visitor=session.owner_visitor)
    drawn.knew_answers = access.knows_answers(voter, drawn.review)
    released, counted = int(drawn.lease_until is not None), int(not drawn.knew_answers)
    drawn.lease_until, drawn.ended_at = None, timezone.now()
    drawn.save(update_fields=["knew_answers", "lease_until", "ended_at"])
    if drawn.knew_answers:
        vote.excluded_reason = Vote.ExcludedReason.KNEW_ANSWERS
        vote.save(update_fields=["excluded_reason"])
    moved = {"leases": F("leases") - released, "opinions": F("opinions") + counted}
    ReviewItem.objects.filter(pk=drawn.review_item_id).update(**moved)
    transaction.on_commit(partial(close_complete, drawn.review))
