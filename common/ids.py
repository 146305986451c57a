import secrets


def new_public_id() -> str:
    """Return 128 random bits as 22 URL-safe characters, without a leading "-", which marks options of commands."""
    while (public_id := secrets.token_urlsafe(16)).startswith("-"):
        pass
    return public_id
