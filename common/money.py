"""Amounts of US dollars as people and the API read them."""

from decimal import Decimal


def plain(amount: Decimal) -> str:
    """All digits that say something and no others: 0.0023, not 0.00230000 and not 2.3E-3."""
    return f"{amount.normalize():f}"
