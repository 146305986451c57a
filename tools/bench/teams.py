"""Times of the 404 of a team for a person outside of it: `make bench BENCH="--only teams"`."""

import http.client
import json
import sys
import time
from statistics import median
from urllib.parse import urlsplit

from tools.bench.arena import Bench
from tools.bench.scenarios import print_row

TRIES, BAR_MS = 500, 2.0
MAKE_TEAM = """
import json
from importlib import import_module
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from accounts.models import ApiToken, Scope, User
from accounts.teams.actions import create_team
from battles.models import Session
from models_registry.models import LanguageModel, Provider

owner, other = (User.objects.create_user(f"{name}@example.org") for name in ("bench-owner", "bench-other"))
team = create_team(by=owner, owner=owner, name="Physics", slug="physics")
elsewhere = create_team(by=other, owner=other, name="History", slug="history")
token = ApiToken.issue(user=other, name="bench", scopes=list(Scope), team=elsewhere)[1]
session = Session.objects.create(owner_user=owner, team=team, is_shared=True, title="Light")
provider = Provider.of_every_owner.create(name="P", base_url="https://9.9.9.9/v1", needs_key=False, team=team)
LanguageModel.of_every_owner.create(team=team, provider=provider, slug="quark", name="Quark", upstream_name="quark")
store = import_module(settings.SESSION_ENGINE).SessionStore()
store[SESSION_KEY], store[HASH_SESSION_KEY] = str(other.pk), other.get_session_auth_hash()
store[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
store.create()
print(json.dumps({"cookie": store.session_key, "token": token, "session": session.public_id}))
"""
# A path of the team, and one of nothing with as many characters; ID is the session's.
PAIRS = {
    "team": ("/teams/physics/", "/teams/nothing/"),
    "members": ("/api/v1/teams/physics/members/", "/api/v1/teams/nothing/members/"),
    "session": ("/s/ID/", "/s/aaaaaaaaaaaaaaaaaaaaaa/"),
    "shared session": ("/teams/physics/sessions/ID/", "/teams/nothing/sessions/aaaaaaaaaaaaaaaaaaaaaa/"),
    "model": ("/v1/models/physics~quark", "/v1/models/physics~gluon"),
    "model's page": ("/leaderboard/models/physics~quark/", "/leaderboard/models/physics~gluon/"),
    "board": ("/leaderboard/?team=physics", "/leaderboard/?team=nothing"),
}


def teams(bench: Bench) -> None:
    print(f"404 of a team's things and of nothing, {TRIES} interleaved tries by the owner of another team")
    done = bench.arena.run(sys.executable, "manage.py", "shell", "-v", "0", "-c", MAKE_TEAM)
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout.splitlines()[-1])
    for name, (there, nowhere) in PAIRS.items():
        paths = [path.replace("ID", made["session"]) for path in (there, nowhere)]
        sent = {"Cookie": f"sessionid={made['cookie']}"}
        if there.startswith("/v1/"):  # knows no cookies
            sent = {"Authorization": f"Bearer {made['token']}"}
        one, other = _medians(bench.arena.url, paths, sent)
        print_row(name, f"{one:.2f} and {other:.2f} ms", f"difference {one - other:+.2f} ms, bar ±{BAR_MS:g}")


def _medians(url: str, paths: list[str], headers: dict[str, str]) -> list[float]:
    """Return the median of each path, in milliseconds; the paths take turns."""
    milliseconds: dict[str, list[float]] = {path: [] for path in paths}
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    for number in range(TRIES):
        for path in paths if number % 2 else paths[::-1]:
            began = time.perf_counter()
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            answer.read()
            milliseconds[path].append((time.perf_counter() - began) * 1000)
            assert answer.status == 404, (path, answer.status)
    connection.close()
    return [median(milliseconds[path]) for path in paths]
