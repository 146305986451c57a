"""What a visitor battled becomes the member's at sign-in."""

from typing import Any

from django.dispatch import receiver

from accounts.actor import Actor
from accounts.claims import visitor_claimed
from accounts.models import User, Visitor
from battles.actions import file_votes_under
from battles.models import Session, Vote


@receiver(visitor_claimed)
def hand_over(visitor: Visitor, user: User, **_: Any) -> None:
    Session.objects.filter(owner_visitor=visitor).update(owner_user=user, owner_visitor=None)
    file_votes_under(Actor(user=user).key, Vote.objects.filter(voter=Actor(visitor=visitor).key))
