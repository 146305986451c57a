from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class BenchmarksConfig(AppConfig):
    name = "benchmarks"
    verbose_name = _("Benchmarks")

    def ready(self) -> None:
        from benchmarks import personal_data, receivers  # noqa: F401 (connect receivers)
