"""Amounts of US dollars as people and the API read them."""

from decimal import Decimal

from django.utils.formats import get_format
from django.utils.translation import gettext as _


def plain_decimal(amount: Decimal) -> str:
    """All digits that say something and no others: 0.0023, not 0.00230000 and not 2.3E-3."""
    return f"{amount.normalize():f}"


def dollars(amount: str) -> str:
    """What `plain_decimal` made of an amount, as people write it: $0.0023 in English, 0,0023 $ in French."""
    return _("$%(amount)s") % {"amount": amount.replace(".", get_format("DECIMAL_SEPARATOR"))}
