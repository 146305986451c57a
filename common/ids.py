import secrets


def new_public_id() -> str:
    """Return 128 random bits as 22 URL-safe characters, without a leading "-", which marks options of commands."""
    while (found := secrets.token_urlsafe(16)).startswith("-"):
        pass
    return found
