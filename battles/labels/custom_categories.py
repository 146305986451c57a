"""The operator's own categories, looked up once for everybody who asks within some seconds."""

from battles.models import Category
from common.cache import TTLCached

# Votes that were labelled by yesterday's rules are labelled again before they are counted.
rules = TTLCached(Category.objects.rules, ttl_s=10, invalidated_by=(Category,))
