"""Cached rules of the operator's categories."""

from battles.models import Category
from common.cache import TTLCached

# Rules may be outdated for ttl_s: relabel_pending labels such votes again before they are counted.
rules = TTLCached(Category.objects.rules, ttl_s=10, invalidated_by=(Category,))
