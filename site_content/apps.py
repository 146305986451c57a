from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class SiteContentConfig(AppConfig):
    name = "site_content"
    verbose_name = _("Site content")

    def ready(self) -> None:
        from site_content import personal_data  # noqa: F401 (connects its receiver)
