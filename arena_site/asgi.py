"""What a web process serves."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena_site.settings.local")

application = get_asgi_application()
