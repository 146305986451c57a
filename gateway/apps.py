from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class GatewayConfig(AppConfig):
    name = "gateway"
    verbose_name = _("Gateway")

    def ready(self) -> None:
        from gateway import personal_data, token_usage  # noqa: F401 (connect their receivers)
