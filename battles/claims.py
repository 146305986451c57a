"""What a visitor battled becomes the member's at sign-in."""

from typing import Any

from django.dispatch import receiver

from accounts.claims import visitor_claimed
from accounts.models import User, Visitor
from battles.models import Session


@receiver(visitor_claimed)
def hand_over_sessions(visitor: Visitor, user: User, **_: Any) -> None:
    Session.objects.filter(owner_visitor=visitor).update(owner_user=user, owner_visitor=None)
