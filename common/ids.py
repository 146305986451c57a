import secrets


def new_public_id() -> str:
    """Return 128 random bits as 22 URL-safe characters, without a leading "-": a command's option."""
    while (found := secrets.token_urlsafe(16)).startswith("-"):
        pass
    return found
