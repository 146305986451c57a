"""Cached rules of the categories of the operator and of teams."""

from battles.models import Category
from battles.text.custom_category import Rule
from common.cache import TTLCached, TTLCachedByTeam, is_of_site

# Rules may be outdated for ttl_s: relabel_pending labels such votes again before they are counted.
rules = TTLCached(lambda: Category.objects.rules(), ttl_s=10, invalidated_by=(Category,), is_concerned=is_of_site)


def _load(team_id: int) -> list[Rule]:
    return Category.of_every_owner.filter(team=team_id).rules()


rules_of_team = TTLCachedByTeam(_load, ttl_s=10, invalidated_by=(Category,))
