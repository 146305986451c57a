from django import template
from django.template.context import RequestContext

from accounts.teams.roles import Right, teams_with
from models_registry.models.ledger import this_month
from models_registry.payers import Quota, quotas_of

register = template.Library()


@register.simple_tag(takes_context=True)
def team_quotas(context: RequestContext) -> list[Quota]:
    """Return the person's quotas of this month."""
    actor = context["request"].actor
    teams = list(teams_with(actor.memberships, Right.USE).values())
    return quotas_of(actor.key, teams, this_month())
