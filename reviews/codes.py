"""Codes by which people join reviews: letters that look like no other and make no words."""

import secrets

ALPHABET = "BCDFGHKMNPQRSTVWXZ"
LENGTH = 8


def new_code() -> str:
    return "".join(secrets.choice(ALPHABET) for _n in range(LENGTH))


def parse_code(typed: str) -> str:
    """Return the code without spaces and hyphens, in capitals; "" if it cannot be one."""
    code = "".join(typed.split()).replace("-", "").upper()
    return code if len(code) == LENGTH and set(code) <= set(ALPHABET) else ""


def shown_code(code: str) -> str:
    """Return BCDF-GHKM."""
    return f"{code[:4]}-{code[4:]}"
