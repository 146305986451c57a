import os
import sys

from django.conf import settings
from django.core.management.base import BaseCommand


class Command(BaseCommand):
    help = "Run the whole arena in the foreground: services, workers, web. Ctrl-C stops it."
    requires_system_checks: list[str] = []

    def handle(self, *args: object, **options: object) -> None:
        # The launcher needs no Django: it replaces this process instead of keeping Django in memory for days.
        os.chdir(settings.BASE_DIR)
        os.execv(sys.executable, [sys.executable, "-m", "arena_site.supervisor"])  # noqa: S606
