from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ReviewsConfig(AppConfig):
    name = "reviews"
    verbose_name = _("Reviews")

    def ready(self) -> None:
        from battles import series
        from reviews import personal_data, receivers  # noqa: F401 (connect receivers)
        from reviews.reports import actions, payloads  # noqa: F401 (connect receivers)

        series.register(receivers.ReviewSeries())
