from django.apps import AppConfig, apps
from django.db.models.signals import post_migrate


class ArenaSiteConfig(AppConfig):
    name = "arena_site"

    def ready(self) -> None:
        from arena_site import celery  # noqa: F401 (from here on every task belongs to this Celery app)
        from arena_site.moderators import make_group

        # The last app with models: then all permissions are there.
        post_migrate.connect(make_group, sender=apps.get_app_config("leaderboard"))
