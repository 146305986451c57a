#!/usr/bin/env python3
"""Play one blind battle as a visitor and vote: .ci/first_vote.py https://localhost

Exits with 0 when the vote was counted. http works, too. Any certificate is taken: the one for localhost is Caddy's own.
"""

import json
import ssl
import sys
import time
from http.cookiejar import CookieJar
from typing import Any
from urllib.parse import urlsplit
from urllib.request import HTTPCookieProcessor, HTTPSHandler, Request, build_opener

PATIENCE_S = 180


class Visitor:
    def __init__(self, site: str) -> None:
        self.site, self.cookies = site.rstrip("/"), CookieJar()
        context = ssl._create_unverified_context()
        self.opener = build_opener(HTTPSHandler(context=context), HTTPCookieProcessor(self.cookies))

    def call(self, path: str, data: dict[str, object] | None = None) -> Any:
        headers = {"Origin": self.site, "Referer": self.site + "/"}
        if data is not None:
            headers |= {"Content-Type": "application/json", "X-CSRFToken": self._csrf_token()}
        body = None if data is None else json.dumps(data).encode()
        request = Request(self.site + path, data=body, headers=headers)
        with self.opener.open(request, timeout=30) as response:
            return json.loads(response.read())

    def _csrf_token(self) -> str:
        return next(cookie.value or "" for cookie in self.cookies if cookie.name == "csrftoken")


def main(site: str) -> int:
    assert urlsplit(site).scheme in ("https", "http")
    visitor = Visitor(site)
    visitor.call("/api/v1/models/")
    session = visitor.call("/api/v1/sessions/", {"prompt": "Name three rivers."})
    address = f"/api/v1/battles/{session['battles'][0]['id']}/"
    began = time.monotonic()
    while not (battle := visitor.call(address))["can_vote"]:
        if time.monotonic() - began > PATIENCE_S or battle["state"] == "void":
            print(f"No vote is possible: {battle['state']}")
            return 1
        time.sleep(0.5)
    visitor.call(f"{address}vote/", {"choice": "left"})
    standing = visitor.call(f"/api/v1/leaderboard{address.removeprefix('/api/v1')}")
    changes = [(side["model"]["name"], side["elo_change"]) for side in standing["sides"]]
    print("Live Elo changed by", changes)
    return 0 if all(change is not None for _, change in changes) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
