from django import template
from django.template.context import RequestContext

from accounts.teams.roles import Right, has_right
from models_registry.models.ledger import this_month
from models_registry.payers import Quota, quotas_of

register = template.Library()


@register.simple_tag(takes_context=True)
def team_quotas(context: RequestContext) -> list[Quota]:
    """Return the person's quotas of this month."""
    actor = context["request"].actor
    teams = [member.team for member in actor.memberships.values() if has_right(member.role, Right.USE)]
    return quotas_of(actor.key, teams, this_month())
