"""`{% site as site %}` and `{% site_name %}`: the operator's identity, without a query of the page's own."""

from django import template
from django.template import Context

from common.errors import DatabaseAway
from site_content.current import Site, last_known_site
from site_content.current import site as current_site

register = template.Library()


@register.simple_tag(takes_context=True)
def site(context: Context) -> Site:
    """Return the site; on the page of a database outage as it was read last."""
    return last_known_site() if isinstance(context.get("error"), DatabaseAway) else current_site()


@register.simple_tag(takes_context=True)
def site_name(context: Context) -> str:
    return site(context).name
