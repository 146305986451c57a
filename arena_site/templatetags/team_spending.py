from django import template

from accounts.models import Team
from arena_site.teams.spending import team_totals
from models_registry.models.ledger import this_month
from models_registry.payload_types import SpentPayload

register = template.Library()


@register.simple_tag
def totals_of_team(team: Team) -> tuple[SpentPayload | None, SpentPayload]:
    return team_totals(team, this_month())
