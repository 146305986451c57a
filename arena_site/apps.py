from django.apps import AppConfig


class ArenaSiteConfig(AppConfig):
    name = "arena_site"

    def ready(self) -> None:
        from arena_site import celery  # noqa: F401 (from here on every task belongs to this Celery app)
