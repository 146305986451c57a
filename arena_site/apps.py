from pathlib import Path

from django.apps import AppConfig, apps
from django.conf import settings
from django.db.models.signals import post_migrate


class ArenaSiteConfig(AppConfig):
    name = "arena_site"

    def ready(self) -> None:
        from arena_site import (
            celery,  # noqa: F401 (from here on every task belongs to this Celery app)
            removed_settings,  # noqa: F401 (registers its check)
        )
        from arena_site.moderators import make_group
        from common.verbose_names import translate_verbose_names

        # The last app with models: then all permissions are there.
        post_migrate.connect(make_group, sender=apps.get_app_config("leaderboard"))
        translate_verbose_names(app for app in apps.get_app_configs() if Path(app.path).parent == settings.BASE_DIR)
