#!/usr/bin/env python3
"""Run a benchmark template on some models, follow the run, print each model's share of right answers.

    python3 examples/run_benchmark.py http://127.0.0.1:8000 arena_… "Arithmetic" model-a model-b --budget 1

Make the token under Account, API tokens, with the scopes read and benchmark.
"""

import argparse
import json
import sys
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
for name in ("site", "token", "template"):
    parser.add_argument(name)
parser.add_argument("models", nargs="+")
parser.add_argument("--budget", help="US dollars; paid models need it")
arguments = parser.parse_args()


def call_api(path: str, body: dict[str, Any] | None = None) -> Any:
    headers = {"Authorization": f"Bearer {arguments.token}", "Content-Type": "application/json"}
    url = path if path.startswith("http") else arguments.site.rstrip("/") + path
    try:
        return urlopen(Request(url, json.dumps(body).encode() if body else None, headers))
    except HTTPError as error:  # JSON with a code for programs and a sentence for people
        refusal = json.loads(error.read())
        sys.exit(f"{refusal['code']}: {refusal['detail']}")


found = json.load(call_api(f"/api/v1/benchmarks/templates/?search={quote(arguments.template)}"))["results"]
if not found:
    sys.exit(f"There is no template {arguments.template}.")
wanted = {"template": found[0]["id"], "models": arguments.models, "budget": arguments.budget}
run = json.load(call_api("/api/v1/benchmarks/runs/", wanted))
for line in call_api(run["stream_url"]):  # ends with the run
    if line.startswith(b"data: {"):
        progress = json.loads(line[6:])
        print(progress["state"], progress["entrants"], file=sys.stderr)
scores: dict[str, list[float]] = {model: [] for model in arguments.models}
page = f"/api/v1/benchmarks/runs/{run['id']}/items/?state=scored&limit=200"
while page:  # `next` is null on the last page
    items = json.load(call_api(page))
    for item in items["results"]:
        if item["score"] is not None:
            scores[item["model"]].append(item["score"])
    page = items["next"]
for model, values in scores.items():
    print(f"{model}: {sum(values) / len(values):.0%} of {len(values)}" if values else f"{model}: no scores")
