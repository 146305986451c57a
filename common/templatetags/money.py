from decimal import Decimal

from django import template

from common.text.money import dollars, rounded_dollars

register = template.Library()
register.filter("dollars", dollars)


@register.filter
def short_dollars(amount: str) -> str:
    """Localise a decimal string, with two significant digits below one."""
    return rounded_dollars(Decimal(amount))
