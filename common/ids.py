"""Public ids: random enough that nobody guesses one, and no order to read from them."""

import secrets


def new_public_id() -> str:
    """128 random bits, 22 URL-safe characters; never one that a command would take for an option."""
    while (found := secrets.token_urlsafe(16)).startswith("-"):
        pass
    return found
