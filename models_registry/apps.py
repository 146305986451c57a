from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ModelsRegistryConfig(AppConfig):
    name = "models_registry"
    verbose_name = _("Models registry")

    def ready(self) -> None:
        from models_registry import drawable_cache  # noqa: F401 (connects its receivers)
        from models_registry.energy import checks  # noqa: F401 (registers them)
