"""What the administration's first page asks."""

from typing import Any

from django import template

from arena_site.operations.dashboard import Dashboard, read_dashboard

register = template.Library()


@register.simple_tag
def dashboard_for(user: Any) -> Dashboard:
    return read_dashboard(user)
