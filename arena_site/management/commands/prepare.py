import hashlib
import os
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from accounts.models import User
from arena_site.embedded.program import CANNOT_START_STATUS
from arena_site.other_databases import CannotUseDatabase, check_database
from arena_site.removed_settings import check_removed_settings
from arena_site.site_role import grant_rights
from arena_site.static_files import MATH_FONTS
from arena_site.supervisor.terminal import announced_if_slow
from arena_site.version import VERSION, commit
from benchmarks.actions import store_built_in_templates
from common.valkey import heartbeat
from metrics.models import Deploy
from models_registry.health.reachability import probe_keyless_providers
from models_registry.models import LanguageModel, Provider

HOW_TO_RUN_PYTHON = {
    "compose": "docker compose exec web python",
    "kubernetes": "kubectl exec -it deploy/web -- python",
    "one-container": f"docker exec -it {socket.gethostname()} python",  # a container's id, unless it was named
}


class Command(BaseCommand):
    help = (
        "Migrate, give the site its rights, collect static files, read the models file, make the first administrator."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--in",
            dest="container",
            choices=HOW_TO_RUN_PYTHON,
            help="collect no static files, which an image has, and say what to do next",
        )

    def handle(self, *args: object, container: str | None, **options: object) -> None:
        for warning in check_removed_settings():
            self.stdout.write(str(warning.msg))  # `make up` shows standard output only
        heartbeat.clear()
        with ThreadPoolExecutor(1) as thread:  # migrations wait for PostgreSQL half of the time
            collected = None if container else thread.submit(self._collect_static)
            self._migrate()
            grant_rights()
        if collected is not None:
            collected.result()
        self._import_models()
        store_built_in_templates()
        Deploy.record(VERSION, commit())
        self._warn_about_refused_providers(probe_keyless_providers())
        self._create_first_administrator(HOW_TO_RUN_PYTHON[container] if container else ".venv/bin/python")
        if container in ("compose", "kubernetes"):  # in one container the launcher does
            self._report_drawable_models()

    def _migrate(self) -> None:
        executor = MigrationExecutor(connection)
        try:
            check_database(executor.loader)
        except CannotUseDatabase as error:
            raise CommandError(str(error), returncode=CANNOT_START_STATUS) from error
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            with announced_if_slow("Preparing the database's tables …"):
                call_command("migrate", interactive=False, verbosity=0)

    def _collect_static(self) -> None:
        """Collect only when a file changed: it takes seconds."""
        stamp = settings.STATIC_ROOT / ".collected"
        fingerprint = static_fingerprint()
        if stamp.exists() and stamp.read_text() == fingerprint:
            return
        with announced_if_slow("Compressing scripts and styles …"):
            call_command("collectstatic", interactive=False, clear=True, verbosity=0)
        stamp.write_text(fingerprint)

    def _import_models(self) -> None:
        try:
            call_command("import_models", if_changed=True, stdout=self.stdout)
        except CommandError as error:
            self.stdout.write(f"{settings.ARENA_MODELS_FILE.name} was not read, the models stay as they were:\n{error}")

    def _warn_about_refused_providers(self, refused_endpoints: set[str]) -> None:
        for provider in Provider.objects.filter(models__status=LanguageModel.Status.ACTIVE).distinct().order_by("name"):
            if provider.endpoint in refused_endpoints or not provider.has_allowed_address:
                self.stdout.write(
                    f"{provider} ({provider.endpoint}) has an address that this arena does not call. "
                    "ARENA_ALLOW_PRIVATE_PROVIDERS=true allows private networks."
                )

    def _report_drawable_models(self) -> None:
        count = len(LanguageModel.objects.drawable())
        if count >= 2:
            self.stdout.write(f"{count} models can be drawn for battles.")
        else:
            self.stdout.write(
                "Fewer than two models can be drawn, so no battle can start: set a provider's key or add models to the "
                "models file, then run this again; or add models at /admin/."
            )

    def _create_first_administrator(self, python: str) -> None:
        if User.objects.filter(is_superuser=True).exists():
            return
        email, password = os.environ.get("ARENA_ADMIN_EMAIL"), os.environ.get("ARENA_ADMIN_PASSWORD")
        if email and password:
            User.objects.create_superuser(email, password)
            self.stdout.write(f"Administrator {email} created.")
        else:
            self.stdout.write(f"There is no administrator yet: {python} manage.py createsuperuser")


def static_fingerprint() -> str:
    """Return a hash of the static files' names, sizes and times, and of the font's characters."""
    digest = hashlib.sha256(repr(MATH_FONTS).encode())
    ignored = apps.get_app_config("staticfiles").ignore_patterns  # type: ignore[attr-defined]
    for finder in get_finders():
        for path, storage in finder.list(ignored):
            status = Path(storage.path(path)).stat()
            digest.update(f"{path} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()
