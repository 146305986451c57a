from decimal import Decimal

from django import template

from common.text import money

register = template.Library()
register.filter("dollars", money.dollars)


@register.filter
def rounded_dollars(amount: str) -> str:
    return money.rounded_dollars(Decimal(amount))
