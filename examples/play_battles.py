#!/usr/bin/env python3
"""Play blind battles through the API: start one, read both answers as they grow, vote, see the names.

    python3 examples/play_battles.py http://127.0.0.1:8000 arena_… --battles 10

Make the token with: .venv/bin/python manage.py create_api_token you@example.org --name play --scopes read,battle,vote
This script votes for the longer answer of the two: an example of the calls, not of good judgement.
"""

import argparse
import json
import urllib.request
import uuid
from collections import Counter
from typing import Any

PROMPTS = [
    "Name three rivers and one fact about each.",
    "Write two sentences that begin with the same word.",
    "What is a prime number? Give the first five.",
    "Explain rain to a child.",
    "Suggest a name for a small bakery and say why.",
    "How do I boil an egg?",
    "Write a polite reply that declines an invitation.",
    "What does HTTP stand for?",
]


class Arena:
    def __init__(self, site: str, token: str) -> None:
        self.site, self.token = site.rstrip("/"), token

    def request(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        if method == "POST":
            headers["Idempotency-Key"] = str(uuid.uuid4())  # send the same one again to repeat a call safely
        data = None if body is None else json.dumps(body).encode()
        return urllib.request.urlopen(urllib.request.Request(self.site + path, data, headers, method=method))

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        with self.request(method, f"/api/v1/{path}", body) as response:
            return json.load(response)

    def events(self, stream_url: str) -> Any:
        """(name, data) of each server-sent event until the turn is stored."""
        with self.request("GET", stream_url) as response:
            name = ""
            for line in response:
                field, _, value = line.decode().rstrip("\n").partition(": ")
                if field == "event":
                    name = value
                elif field == "data":
                    yield name, json.loads(value)


def play(arena: Arena, prompt: str) -> Counter[str]:
    """One battle; returns who won it."""
    session = arena.call("POST", "sessions/", {"prompt": prompt})
    battle = session["battles"][0]
    pieces = sum(name == "text" for name, _ in arena.events(battle["stream_url"]))
    battle = arena.call("GET", f"battles/{battle['id']}/")
    if not battle["can_vote"]:
        print(f"{battle['state']}: {prompt}")
        return Counter()
    left, right = battle["turns"][0]["answers"]
    longer = "left" if len(left["text"]) > len(right["text"]) else "right"
    voted = arena.call("POST", f"battles/{battle['id']}/vote/", {"choice": longer})
    names = {side["side"]: side["model"]["name"] for side in voted["sides"]}
    print(f"{names['left']} – {names['right']}: {names[longer]} ({pieces} pieces)")
    return Counter([names[longer]])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site")
    parser.add_argument("token")
    parser.add_argument("--battles", type=int, default=10)
    given = parser.parse_args()
    won: Counter[str] = Counter()
    for number in range(given.battles):
        won += play(Arena(given.site, given.token), PROMPTS[number % len(PROMPTS)])
    print(won.most_common())
