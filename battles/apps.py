from django.apps import AppConfig


class BattlesConfig(AppConfig):
    name = "battles"

    def ready(self) -> None:
        from battles import claims, personal_data, uploads_used  # noqa: F401 (connect their receivers)
        from battles.labels import own_categories  # noqa: F401 (too)
