#!/usr/bin/env python3
"""Play blind battles through the API: start, read both answers while they stream, vote, print the names.

    python3 examples/play_battles.py http://127.0.0.1:8000 arena_… --battles 10

Make the token under Account, API tokens, or with:
.venv/bin/python manage.py create_api_token you@example.org --name play --scopes read,battle,vote
The script votes for the longer answer: it is an example of the calls, not of good judgement.
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
arguments = parser.parse_args()


def call_api(method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    headers = {"Authorization": f"Bearer {arguments.token}", "Content-Type": "application/json"}
    if method == "POST":
        headers["Idempotency-Key"] = str(uuid.uuid4())  # repeating a call with the same key is safe
    data = None if body is None else json.dumps(body).encode()
    while True:
        try:
            return urlopen(Request(arguments.site.rstrip("/") + path, data, headers, method=method))
        except HTTPError as error:  # JSON with a code for programs and a sentence for people
            refusal = json.loads(error.read())
            if "Retry-After" not in error.headers:
                sys.exit(f"{refusal['code']}: {refusal['detail']}")
            print(f"{refusal['detail']} ({error.headers['Retry-After']} s)", file=sys.stderr)
            time.sleep(int(error.headers["Retry-After"]))


for number in range(arguments.battles):
    battle = json.load(call_api("POST", "/api/v1/sessions/", {"prompt": PROMPTS[number % len(PROMPTS)]}))["battles"][0]
    stream = call_api("GET", battle["stream_url"])  # ends when both models have answered
    pieces = sum(line == b"event: text\n" for line in stream)
    battle = json.load(call_api("GET", f"/api/v1/battles/{battle['id']}/"))
    if not battle["can_vote"]:
        print(f"No vote: the battle is {battle['state']}")
        continue
    texts = {answer["side"]: answer["text"] for answer in battle["turns"][0]["answers"]}
    longer = max(texts, key=lambda side: len(texts[side]))
    voted = json.load(call_api("POST", f"/api/v1/battles/{battle['id']}/vote/", {"choice": longer}))
    names = {side["side"]: side["model"]["name"] for side in voted["sides"]}
    print(f"{names['left']} – {names['right']}: {names[longer]} ({pieces} pieces)")
