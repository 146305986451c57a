"""URLs that are no pages, with reasons. All others are checked by axe and photographed by tools.screenshots.

Views that accept forms only are recognised without an entry.
"""

from fnmatch import fnmatchcase
from itertools import chain

# {reason: URLs}; a star matches anything.
NO_PAGE = {
    "a part of a page that has its picture": [
        "/battles/{public_id}/", "/s/{public_id}/row/", "/uploads/{public_id}/chip/", "/models/choices/",
        "/teams/{slug}/models/choices/", "/benchmarks/judges/trials/{test_id}/",
    ],
    "a file, or for programs": [
        "/api/v1/[!d]*", "/api/{rest}", "/v1/*", "/livez", "/readyz", "/metrics", "/stream/*", "/leaderboard/stream/",
        "/benchmarks/stream/*", "/benchmarks/r/{public_id}/report.html",
        "/benchmarks/r/{public_id}/export.{ending}", "/benchmarks/t/{public_id}/export.yaml",
        "/benchmarks/r/{public_id}/judgements.{ending}", "/benchmarks/?/{public_id}/files/{file_id}/",
        "/reports/{public_id}/report.{ending}", "/review/{public_id}/export.{ending}",
        "/s/{public_id}/export/", "/b/{share_id}/export/", "/uploads/{public_id}/file/", "/uploads/{public_id}/image/",
        "/uploads/{public_id}/text/", "/accounts/data/export/", "/accounts/2fa/recovery-codes/download/",
        "/site/accent/*", "/site/logo/*", "/site/icon/*",
        "/models/icons/{digest}.png", "/admin/autocomplete/", "/admin/jsi18n/", "/accounts/2fa/webauthn/login/",
    ],
    "leads on to another page": [
        "/language/", "/accounts/sso/*", "/accounts/connections/{key}/*", "/accounts/password/set/",
        "/accounts/login/code/confirm/", "/admin/login/", "/admin/site_content/siteidentity/", "/admin/r/*",
        "/admin/*/{object_id}/", "/admin/{url}",
    ],
}  # fmt: skip
# The second factor's page is checked by tests that sign in, and a link into a team is made; the others are Django's.
_UNCHECKED = [
    "/accounts/2fa/authenticate/", "/teams/join/", "/admin/password_change/*", "/admin/*/history/",
    "/admin/*/delete/",
]  # fmt: skip


def is_no_page(address: str) -> bool:
    return any(fnmatchcase(address, pattern) for pattern in chain(_UNCHECKED, *NO_PAGE.values()))
