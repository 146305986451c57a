"""Addresses that are no page of ours, and why: all others are looked at by axe, and have a picture or a reason of their
own to have none (tools.screenshots.pictures). What takes forms alone says so itself."""

from fnmatch import fnmatchcase
from itertools import chain

# By why. A star stands for anything.
NO_PAGE = {
    "a part of a page that has its picture": [
        "/battles/{public_id}/", "/s/{public_id}/row/", "/uploads/{public_id}/chip/",
    ],
    "a file, or for programs": [
        "/api/v1/[!d]*", "/api/{rest}", "/livez", "/readyz", "/metrics", "/stream/*", "/leaderboard/stream/",
        "/s/{public_id}/export/", "/b/{share_id}/export/", "/uploads/{public_id}/file/", "/uploads/{public_id}/image/",
        "/uploads/{public_id}/text/", "/accounts/data/export/", "/accounts/2fa/recovery-codes/download/",
        "/admin/autocomplete/", "/admin/jsi18n/", "/accounts/2fa/webauthn/login/",
    ],
    "leads on to another page": [
        "/language/", "/accounts/password/set/", "/accounts/login/code/confirm/", "/admin/login/", "/admin/r/*",
        "/admin/*/{object_id}/", "/admin/{url}",
    ],
}  # fmt: skip
# Between password and session, which is looked at on the way in; and what is Django's own.
_NOT_LOOKED_AT = ["/accounts/2fa/authenticate/", "/admin/password_change/*", "/admin/*/history/", "/admin/*/delete/"]


def is_no_page(address: str) -> bool:
    """Or none that axe looks at by itself."""
    return any(fnmatchcase(address, pattern) for pattern in chain(_NOT_LOOKED_AT, *NO_PAGE.values()))
