"""Terms of use that people accept before their next battle."""

from django.db.models import Q, QuerySet

from accounts.actor import Actor
from site_content.current import site
from site_content.errors import TermsNotAccepted
from site_content.models import TermsAcceptance


def acceptances_of(actor: Actor) -> "QuerySet[TermsAcceptance]":
    """Return the person's acceptances, a member's also from visits before signing up."""
    if actor.user is not None:
        return TermsAcceptance.objects.filter(Q(user=actor.user) | Q(visitor__claimed_by=actor.user))
    return TermsAcceptance.objects.filter(visitor=actor.visitor) if actor.visitor else TermsAcceptance.objects.none()


def has_accepted(actor: Actor) -> bool:
    """Return whether the person may battle; no query where no terms have to be accepted."""
    required = site().required_terms
    return not required or acceptances_of(actor).filter(version__number__gte=required).exists()


def require_accepted(actor: Actor) -> None:
    """Raise TermsNotAccepted."""
    if not has_accepted(actor):
        raise TermsNotAccepted
