from django.apps import AppConfig


class BattlesConfig(AppConfig):
    name = "battles"

    def ready(self) -> None:
        from battles import claims  # noqa: F401 (connects its receiver)
        from battles.labels import own_categories  # noqa: F401 (too)
