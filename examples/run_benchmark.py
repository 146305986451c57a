#!/usr/bin/env python3
"""Mean scores: ARENA_TOKEN=arena_… python3 examples/run_benchmark.py http://127.0.0.1:8000 "Arithmetic" model-a …"""

import json
import os
import sys
from typing import Any
from urllib import error, parse, request

usage = print(__doc__) if "--help" in sys.argv else __doc__
site, template, *models = sys.argv[1:] if len(sys.argv) > 3 else sys.exit(usage)


def call(path: str, body: object = None) -> Any:  # the token needs the scopes read and benchmark
    headers = {"Authorization": f"Bearer {os.environ['ARENA_TOKEN']}", "Content-Type": "application/json"}
    data = json.dumps(body).encode() if body else None
    return request.urlopen(request.Request(parse.urljoin(f"{site}/api/v1/benchmarks/", path), data, headers))


try:
    matches = json.load(call(f"templates/?search={parse.quote(template)}"))["results"] or sys.exit("No such template.")
    run = json.load(call("runs/", {"template": matches[0]["id"], "models": models}))  # paid models: and a "budget"
    sys.stderr.writelines(line.decode() for line in call(run["stream_url"]))  # ends with the run
    report = json.load(call(f"runs/{run['id']}/report/"))["report"]
except error.HTTPError as refusal:  # JSON with a code for programs and a sentence for people
    sys.exit(refusal.read().decode())
names = {entrant["entrant"]: entrant["model"] for entrant in report["entrants"]}
for mean in report["metrics"][0]["means"]:
    print("{}: {value:.0%} ({low:.0%} to {high:.0%})".format(names[mean["entrant"]], **mean["mean"]))
