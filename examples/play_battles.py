#!/usr/bin/env python3
"""Play blind battles through the API: start one, read both answers as they grow, vote, see the names.

    python3 examples/play_battles.py http://127.0.0.1:8000 arena_… --battles 10

Make the token under Account, API tokens, or with:
.venv/bin/python manage.py create_api_token you@example.org --name play --scopes read,battle,vote
This script votes for the longer answer of the two: an example of the calls, not of good judgement.
"""

import argparse
import json
import sys
import time
import uuid
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

PROMPTS = ["Name three rivers and one fact about each.", "Explain rain to a child.", "How do I boil an egg?"]

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("site")
parser.add_argument("token")
parser.add_argument("--battles", type=int, default=10)
given = parser.parse_args()


def ask(method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    headers = {"Authorization": f"Bearer {given.token}", "Content-Type": "application/json"}
    if method == "POST":
        headers["Idempotency-Key"] = str(uuid.uuid4())  # with the same one a call is repeated safely
    data = None if body is None else json.dumps(body).encode()
    while True:
        try:
            return urlopen(Request(given.site.rstrip("/") + path, data, headers, method=method))
        except HTTPError as refused:  # as JSON: a code for programs, a sentence for people
            said = json.loads(refused.read())
            if "Retry-After" not in refused.headers:
                sys.exit(f"{said['code']}: {said['detail']}")
            print(f"{said['detail']} ({refused.headers['Retry-After']} s)", file=sys.stderr)
            time.sleep(int(refused.headers["Retry-After"]))


for number in range(given.battles):
    battle = json.load(ask("POST", "/api/v1/sessions/", {"prompt": PROMPTS[number % len(PROMPTS)]}))["battles"][0]
    pieces = sum(line == b"event: text\n" for line in ask("GET", battle["stream_url"]))  # until both have answered
    battle = json.load(ask("GET", f"/api/v1/battles/{battle['id']}/"))
    if not battle["can_vote"]:
        print(f"No vote: the battle is {battle['state']}")
        continue
    said = {answer["side"]: answer["text"] for answer in battle["turns"][0]["answers"]}
    longer = max(said, key=lambda side: len(said[side]))
    voted = json.load(ask("POST", f"/api/v1/battles/{battle['id']}/vote/", {"choice": longer}))
    names = {side["side"]: side["model"]["name"] for side in voted["sides"]}
    print(f"{names['left']} – {names['right']}: {names[longer]} ({pieces} pieces)")
