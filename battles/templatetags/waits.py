"""`{{ answer.total_ms|seconds }}`: how long somebody waited, as people say it."""

from django import template
from django.utils.formats import number_format
from django.utils.translation import gettext as _

register = template.Library()


@register.filter
def seconds(milliseconds: int) -> str:
    """To a tenth, and quicker than that to a hundredth."""
    return _("%(seconds)s s") % {"seconds": number_format(milliseconds / 1000, 1 if milliseconds >= 100 else 2)}
