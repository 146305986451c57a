import os
import sys

from django.conf import settings
from django.core.management.base import BaseCommand


class Command(BaseCommand):
    help = "Stop the arena that runs on this data directory, or processes that a killed one left."
    requires_system_checks: list[str] = []

    def handle(self, *args: object, **options: object) -> None:
        os.chdir(settings.BASE_DIR)
        os.execv(sys.executable, [sys.executable, "-m", "arena_site.supervisor", "stop"])  # noqa: S606
