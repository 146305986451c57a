from pathlib import Path

from django.apps import AppConfig, apps
from django.conf import settings
from django.db.models.signals import post_migrate


class ArenaSiteConfig(AppConfig):
    name = "arena_site"

    def ready(self) -> None:
        from arena_site import (
            celery,  # noqa: F401 (makes it the current app, to which shared tasks bind)
            removed_settings,  # noqa: F401 (registers its check)
            replica,  # noqa: F401 (registers its checks)
        )
        from arena_site.moderators import sync_group
        from common.tracing import service  # noqa: F401 (registers its check)
        from common.verbose_names import translate_verbose_names

        # leaderboard is the last app with models: after its migrations all permissions exist.
        post_migrate.connect(sync_group, sender=apps.get_app_config("leaderboard"))
        translate_verbose_names(app for app in apps.get_app_configs() if Path(app.path).parent == settings.BASE_DIR)
