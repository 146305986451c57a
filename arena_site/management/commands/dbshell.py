import os
from contextlib import suppress

from django.core.management.commands import dbshell

from arena_site.embedded.postgres import binary
from arena_site.embedded.program import CannotStart


class Command(dbshell.Command):
    def handle(self, **options: object) -> None:
        """Prefer the psql of the embedded PostgreSQL: machines may have none, or an older one."""
        with suppress(CannotStart):
            os.environ["PATH"] = os.pathsep.join([str(binary("psql").parent), *os.get_exec_path()])
        super().handle(**options)
