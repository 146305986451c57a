"""Audit entries of connections between accounts and issuers."""

from allauth.socialaccount.models import SocialAccount, SocialLogin
from allauth.socialaccount.signals import social_account_added, social_account_removed
from django.dispatch import receiver

from accounts import audit


@receiver(social_account_added)
def record_connection(sociallogin: SocialLogin, **_: object) -> None:
    _record("connect issuer", sociallogin.account)


@receiver(social_account_removed)
def record_disconnection(socialaccount: SocialAccount, **_: object) -> None:
    _record("disconnect issuer", socialaccount)


def _record(action: str, account: SocialAccount) -> None:
    audit.record(account.user, action, f"user {account.user_id}", issuer=account.provider)
