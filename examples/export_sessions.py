#!/usr/bin/env python3
"""Export all your sessions into a folder, as Markdown or as JSON with messages in OpenAI's format.

    python3 examples/export_sessions.py http://127.0.0.1:8000 arena_… my-sessions --as json

Make the token under Account, API tokens, with the scope read.
"""

import argparse
import json
from pathlib import Path
from urllib.parse import urljoin
from urllib.request import Request, urlopen

SUFFIXES = {"markdown": "md", "json": "json"}

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("site")
parser.add_argument("token")
parser.add_argument("folder", type=Path)
parser.add_argument("--as", dest="format", choices=SUFFIXES, default="markdown")
arguments = parser.parse_args()


def fetch(path: str) -> bytes:
    request = Request(urljoin(arguments.site, path), headers={"Authorization": f"Bearer {arguments.token}"})
    with urlopen(request) as response:
        return bytes(response.read())


arguments.folder.mkdir(parents=True, exist_ok=True)
for archived in ("false", "true"):
    page = f"/api/v1/sessions/?archived={archived}&limit=200"
    while page:  # `next` is null on the last page
        listed = json.loads(fetch(page))
        for session in listed["results"]:
            file = arguments.folder / f"{session['created_at'][:10]}-{session['id']}.{SUFFIXES[arguments.format]}"
            file.write_bytes(fetch(f"/api/v1/sessions/{session['id']}/export/?as={arguments.format}"))
            print(f"{file}: {session['title']}")
        page = listed["next"]
