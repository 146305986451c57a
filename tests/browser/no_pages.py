"""Addresses that are no page of ours, and why: all others are looked at by axe."""

import re

_WHY = {
    r"/api/(?!v1/docs/)": "JSON",
    r"/(livez|readyz|metrics)|/admin/(autocomplete|jsi18n)/": "for programs",
    r"/accounts/password/set/|/accounts/login/code/confirm/": "not offered: every account has a password",
    r"/accounts/2fa/authenticate/": "between password and session: looked at on the way in",
    r"/admin/(login/|logout/|password_change/|r/|\{url\})|/admin/.*/(history/|delete/|\{object_id\}/)$": "Django's own",
    r"/s/.*/row/|/battles/\{public_id\}/$": "part of a page",
    r"/language/|/accounts/2fa/webauthn/login/": "leads on",
    r".*(/stream/|/export/|/download/|/file/|/image/)": "streams and files",
}


def is_no_page(address: str) -> bool:
    return any(re.match(pattern, address) for pattern in _WHY)
