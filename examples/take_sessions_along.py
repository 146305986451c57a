#!/usr/bin/env python3
"""Write every session of yours into a folder, as Markdown or as JSON with the messages of OpenAI's API.

    python3 examples/take_sessions_along.py http://127.0.0.1:8000 arena_… my-sessions --as json

Make the token under Account, API tokens, with the scope read.
"""

import argparse
import json
from pathlib import Path
from urllib.parse import urljoin
from urllib.request import Request, urlopen

ENDINGS = {"markdown": "md", "json": "json"}

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("site")
parser.add_argument("token")
parser.add_argument("folder", type=Path)
parser.add_argument("--as", dest="wanted", choices=ENDINGS, default="markdown")
given = parser.parse_args()


def read(address: str) -> bytes:
    asked = Request(urljoin(given.site, address), headers={"Authorization": f"Bearer {given.token}"})
    with urlopen(asked) as answer:
        return bytes(answer.read())


given.folder.mkdir(parents=True, exist_ok=True)
for archived in ("false", "true"):
    page = f"/api/v1/sessions/?archived={archived}&limit=200"
    while page:  # a list says where it goes on
        listed = json.loads(read(page))
        for session in listed["results"]:
            file = given.folder / f"{session['created_at'][:10]}-{session['id']}.{ENDINGS[given.wanted]}"
            file.write_bytes(read(f"/api/v1/sessions/{session['id']}/export/?as={given.wanted}"))
            print(f"{file}: {session['title']}")
        page = listed["next"]
