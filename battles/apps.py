from django.apps import AppConfig


class BattlesConfig(AppConfig):
    name = "battles"

    def ready(self) -> None:
        from battles.labels import custom_categories  # noqa: F401 (connects its receivers)
        from battles.receivers import claims, personal_data, questions, today, uploads  # noqa: F401 (connect their receivers)
