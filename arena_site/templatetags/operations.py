from collections.abc import Sequence

from django import template
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest

from accounts.models import User
from arena_site.operations.dashboard import Dashboard, read_dashboard
from arena_site.operations.task_groups import TaskGroup, group_by_task
from common.payload_types import JsonObject

register = template.Library()


@register.simple_tag
def dashboard_for(user: User | AnonymousUser) -> Dashboard:
    return read_dashboard(user)


@register.simple_tag
def task_groups(apps: Sequence[JsonObject], request: HttpRequest) -> list[TaskGroup]:
    return group_by_task(apps, request)
