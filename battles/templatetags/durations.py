"""`{{ answer.total_ms|seconds }}`."""

from django import template
from django.utils.formats import number_format
from django.utils.translation import gettext as _

register = template.Library()


@register.filter
def seconds(milliseconds: int) -> str:
    """Return "1.2 s", or "0.05 s" below 100 ms."""
    return _("%(seconds)s s") % {"seconds": number_format(milliseconds / 1000, 1 if milliseconds >= 100 else 2)}
