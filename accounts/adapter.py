"""allauth, told how the arena wants it."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter


class ArenaAccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    def populate_username(self, request: Any, user: Any) -> None:
        """There are no user names: the e-mail address is the only name."""
