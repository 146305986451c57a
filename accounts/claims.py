"""Give a member the battles and uploads of the visitor before sign-in."""

from django.contrib.auth.signals import user_logged_in
from django.db import transaction
from django.dispatch import Signal, receiver
from django.http import HttpRequest

from accounts.actor import visitor_from_cookie
from accounts.models import User, Visitor

# Sent with `visitor` and `user` inside the claim's transaction; receivers move the visitor's rows to the user.
visitor_claimed = Signal()


@receiver(user_logged_in)
@transaction.atomic
def claim_visitor(request: HttpRequest | None, user: User, **_: object) -> None:
    visitor = visitor_from_cookie(request) if request is not None else None
    if visitor is not None and Visitor.objects.filter(pk=visitor.pk, claimed_by=None).update(claimed_by=user):
        User.objects.select_for_update(no_key=True).get(pk=user.pk)  # simultaneous uploads of the user wait
        visitor_claimed.send(sender=Visitor, visitor=visitor, user=user)
