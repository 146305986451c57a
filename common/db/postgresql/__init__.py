"""Django's PostgreSQL, made for servers that restart."""
