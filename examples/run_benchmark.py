#!/usr/bin/env python3
"""Run a benchmark template on models, follow the run, print each model's mean score with its 95 % interval.

    ARENA_TOKEN=arena_… python3 examples/run_benchmark.py http://127.0.0.1:8000 "Arithmetic" model-a model-b

Make the token under Account, API tokens, with the scopes read and benchmark. Paid models need a "budget" in the body.
"""

import argparse
import json
import os
import sys
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote, urljoin
from urllib.request import Request, urlopen

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
for name, count in (("site", None), ("template", None), ("models", "+")):
    parser.add_argument(name, nargs=count)
arguments = parser.parse_args()


def call(path: str, body: object = None) -> Any:
    headers = {"Authorization": f"Bearer {os.environ['ARENA_TOKEN']}", "Content-Type": "application/json"}
    return urlopen(Request(urljoin(arguments.site, path), json.dumps(body).encode() if body else None, headers))


api = "/api/v1/benchmarks"
try:
    found = json.load(call(f"{api}/templates/?search={quote(arguments.template)}"))["results"]
    if not found:
        sys.exit("There is no such template.")
    run = json.load(call(f"{api}/runs/", {"template": found[0]["id"], "models": arguments.models}))
    for line in call(run["stream_url"]):  # ends with the run
        print(line.decode(), end="", file=sys.stderr)
    report = json.load(call(f"{api}/runs/{run['id']}/report/"))["report"]
except HTTPError as error:  # JSON with a code for programs and a sentence for people
    sys.exit(error.read().decode())
names = {entrant["entrant"]: entrant["model"] for entrant in report["entrants"]}
for mean in report["metrics"][0]["means"]:
    print("{}: {value:.0%} ({low:.0%} to {high:.0%})".format(names[mean["entrant"]], **mean["mean"]))
