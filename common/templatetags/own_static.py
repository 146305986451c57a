from urllib.parse import urlsplit

from django import template
from django.templatetags.static import static

register = template.Library()


@register.simple_tag
def own_static(path: str) -> str:
    """Return a static file's address at the site's own origin: browsers start no worker of another one."""
    return urlsplit(static(path)).path
