from django import template
from django.contrib.auth.models import AnonymousUser

from accounts.models import User
from arena_site.operations.dashboard import Dashboard, read_dashboard

register = template.Library()


@register.simple_tag
def dashboard_for(user: User | AnonymousUser) -> Dashboard:
    return read_dashboard(user)
