from math import floor, log10

from django import template
from django.utils.formats import get_format

from models_registry.payload_types import EnergyPayload

register = template.Library()


@register.filter
def watt_hours(energy: EnergyPayload) -> str:
    return format_watt_hours(energy["wh_low"], energy["wh_high"])


def format_watt_hours(low: float, high: float) -> str:
    """Format as 0.4–0.75 Wh."""
    return f"{_range(low, high)}\N{NO-BREAK SPACE}Wh"


@register.filter
def grams_of_co2e(energy: EnergyPayload) -> str:
    return f"{_range(energy['co2e_g_low'], energy['co2e_g_high'])}\N{NO-BREAK SPACE}g\N{NO-BREAK SPACE}CO₂e"


def _range(low: float, high: float) -> str:
    shortest, longest = _two_digits(low), _two_digits(high)
    return shortest if shortest == longest else f"{shortest}–{longest}"


def _two_digits(amount: float) -> str:
    """Return the number with two significant digits, and no zeros at the end."""
    if amount <= 0:
        return "0"
    places = 1 - floor(log10(amount))
    text = f"{round(amount, places):.{max(0, places)}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text.replace(".", get_format("DECIMAL_SEPARATOR"))
