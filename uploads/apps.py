from django.apps import AppConfig


class UploadsConfig(AppConfig):
    name = "uploads"

    def ready(self) -> None:
        from uploads import receivers  # noqa: F401 (connects its receivers)
