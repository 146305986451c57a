from decimal import Decimal

from django.utils.formats import get_format
from django.utils.translation import gettext as _


def plain_decimal(amount: Decimal) -> str:
    """Return the significant digits without an exponent: 0.0023, not 0.00230000 or 2.3E-3."""
    return f"{amount.normalize():f}"


def dollars(amount: str) -> str:
    """Localise the result of `plain_decimal`: $0.0023, $2 or $0.50 in English, 0,0023 $ in French."""
    whole, point, fraction = amount.partition(".")
    amount = f"{whole}{point}{fraction:0<2}" if point else amount
    return _("$%(amount)s") % {"amount": amount.replace(".", get_format("DECIMAL_SEPARATOR"))}


def rounded_dollars(amount: Decimal) -> str:
    """Return US dollars with two significant digits below one."""
    if amount == 0:
        return dollars("0")
    digits = 2 if amount >= 1 else min(8, 1 - amount.adjusted())
    rounded = amount.quantize(Decimal(1).scaleb(-digits))
    return dollars(f"{rounded:f}")
