from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AccountsConfig(AppConfig):
    name = "accounts"
    verbose_name = _("People")

    def ready(self) -> None:
        from accounts import claims  # noqa: F401 (connects their receivers)
        from accounts.limiting import chosen
        from accounts.sign_in import sessions  # noqa: F401 (connects their receivers)
        from accounts.single_sign_on import audited, checks  # noqa: F401 (connects receivers, registers the check)
        from common.valkey import limits

        limits.use_overrides(chosen.in_force)
