from django.apps import AppConfig


class ModelsRegistryConfig(AppConfig):
    name = "models_registry"
    verbose_name = "Models registry"

    def ready(self) -> None:
        from models_registry import roster  # noqa: F401 (its receivers)
