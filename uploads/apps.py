from django.apps import AppConfig


class UploadsConfig(AppConfig):
    name = "uploads"

    def ready(self) -> None:
        from uploads import claims, personal_data  # noqa: F401 (connect their receivers)
