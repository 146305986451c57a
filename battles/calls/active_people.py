from itertools import chain, islice

from django.utils import timezone

from accounts.models import ApiToken
from battles.models import Session
from models_registry.breaker_rule import PEOPLE


def count_active_people() -> int:
    """Return how many people were active today, breaker_rule.PEOPLE at most."""
    midnight = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    sessions = Session.objects.filter(last_active_at__gte=midnight)
    members = sessions.exclude(owner_user=None).values_list("owner_user", flat=True)
    visitors = sessions.exclude(owner_visitor=None).values_list("owner_visitor", flat=True)
    owners = ApiToken.objects.filter(last_used_at__gte=midnight).values_list("user", flat=True)
    few = [set(rows.distinct().order_by()[:PEOPLE]) for rows in (members, owners)]
    return len(list(islice(chain(set.union(*few), visitors.distinct().order_by()[:PEOPLE]), PEOPLE)))
