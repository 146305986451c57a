"""Times of a team's 404 for outsiders and of its pages among 1,000 teams: `make bench BENCH="--only teams"`."""

import http.client
import json
import sys
import time
from statistics import median
from urllib.parse import urlsplit

from tools.bench.arena import Bench
from tools.bench.scenarios import print_row

TRIES, BAR_MS = 500, 2.0
SHARED = """
import json
from importlib import import_module
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.db import transaction
from accounts.models import ApiToken, Role, Scope, Team, TeamMember, User
from accounts.teams.actions import create_team
from battles.models import Session
from models_registry.models import LanguageModel, Provider

def cookie_of(user):
    store = import_module(settings.SESSION_ENGINE).SessionStore()
    store[SESSION_KEY], store[HASH_SESSION_KEY] = str(user.pk), user.get_session_auth_hash()
    store[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    store.create()
    return store.session_key

owner, other = (User.objects.get_or_create(email=f"{name}@example.org")[0] for name in ("bench-owner", "bench-other"))
"""
MAKE_TEAM = """
team = create_team(by=owner, owner=owner, name="Physics", slug="physics")
elsewhere = create_team(by=other, owner=other, name="History", slug="history")
token = ApiToken.issue(user=other, name="bench", scopes=list(Scope), team=elsewhere)[1]
session = Session.objects.create(owner_user=owner, team=team, is_shared=True, title="Light")
provider = Provider.of_every_owner.create(name="P", base_url="https://9.9.9.9/v1", needs_key=False, team=team)
LanguageModel.of_every_owner.create(team=team, provider=provider, slug="quark", name="Quark", upstream_name="quark")
print(json.dumps({"cookie": cookie_of(other), "token": token, "session": session.public_id}))
"""
# The owner of five of them reads.
MAKE_TEAMS = """
people = User.objects.bulk_create([User(email=f"person{n}@example.org", password="!") for n in range(5_000)], 1_000)
with transaction.atomic():
    many = Team.objects.bulk_create([Team(name=f"Team {n}", slug=f"team-{n}", created_by=owner) for n in range(1_000)])
    owned = [(team, owner if n < 5 else other) for n, team in enumerate(many)]
    TeamMember.objects.bulk_create([TeamMember(team=team, user=user, role=Role.OWNER) for team, user in owned])
    TeamMember.objects.bulk_create([
        TeamMember(team=team, user=people[(37 * number + n) % len(people)])
        for number, team in enumerate(many) for n in range(99)
    ], 5_000)
    providers = Provider.of_every_owner.bulk_create(
        [Provider(name="P", base_url="https://9.9.9.9/v1", needs_key=False, team=team) for team in many]
    )
    LanguageModel.of_every_owner.bulk_create([
        LanguageModel(
            team=provider.team, provider=provider, slug=f"m{n}", family=f"m{n}", name=f"M {n}", upstream_name=f"m{n}",
            status="active",
        )
        for provider in providers for n in range(5)
    ], 1_000)
print(json.dumps({"cookie": cookie_of(owner)}))
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
PAGES = {
    "team": "/teams/team-3/", "members": "/teams/team-3/members/", "models": "/teams/team-3/models/",
    "board": "/leaderboard/?team=team-3", "start": "/?team=team-3", "spending": "/teams/team-3/spending/",
}  # fmt: skip
PAGE_TRIES, PAGE_BAR_MS = 50, 100


def teams(bench: Bench) -> None:
    _compare_404(bench)
    _time_pages(bench)


def _time_pages(bench: Bench) -> None:
    print(f"Pages of one of 1,000 teams with 100 members and 5 models each, {PAGE_TRIES} tries")
    sent = {"Cookie": f"sessionid={_made(bench, MAKE_TEAMS)['cookie']}"}
    for name, path in PAGES.items():
        [milliseconds] = _medians(bench.arena.url, [path], sent, status=200, tries=PAGE_TRIES)
        print_row(name, f"{milliseconds:.0f} ms", f"bar {PAGE_BAR_MS}")


def _made(bench: Bench, code: str) -> dict[str, str]:
    done = bench.arena.run(sys.executable, "manage.py", "shell", "-v", "0", "-c", SHARED + code, within=600)
    assert done.returncode == 0, done.stderr
    made: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return made


def _compare_404(bench: Bench) -> None:
    print(f"404 of a team's things and of nothing, {TRIES} interleaved tries by the owner of another team")
    made = _made(bench, MAKE_TEAM)
    for name, (there, nowhere) in PAIRS.items():
        paths = [path.replace("ID", made["session"]) for path in (there, nowhere)]
        sent = {"Cookie": f"sessionid={made['cookie']}"}
        if there.startswith("/v1/"):  # knows no cookies
            sent = {"Authorization": f"Bearer {made['token']}"}
        one, other = _medians(bench.arena.url, paths, sent)
        print_row(name, f"{one:.2f} and {other:.2f} ms", f"difference {one - other:+.2f} ms, bar ±{BAR_MS:g}")


def _medians(
    url: str, paths: list[str], headers: dict[str, str], *, status: int = 404, tries: int = TRIES
) -> list[float]:
    """Return the median of each path, in milliseconds; the paths take turns."""
    milliseconds: dict[str, list[float]] = {path: [] for path in paths}
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    for number in range(tries):
        for path in paths if number % 2 else paths[::-1]:
            began = time.perf_counter()
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            answer.read()
            milliseconds[path].append((time.perf_counter() - began) * 1000)
            assert answer.status == status, (path, answer.status)
    connection.close()
    return [median(milliseconds[path]) for path in paths]
