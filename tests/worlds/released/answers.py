"""`python -m tests.worlds.released.answers`: print what the API of a restored arena answers, as JSON.

Runs on the code of any release: only what all of them have is imported.
"""

import json
import os
import re
import sys
from collections.abc import Iterator

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena_site.settings.test")
django.setup()

from django.conf import settings  # noqa: E402
from django.db import connection, transaction  # noqa: E402
from django.test import Client  # noqa: E402

from accounts.actor import VISITOR_COOKIE, visitor_cookie_value  # noqa: E402
from accounts.models import User, Visitor  # noqa: E402
from battles.models import Answer, Battle, Session  # noqa: E402
from leaderboard.models import AggregationRun  # noqa: E402
from models_registry.models import LanguageModel  # noqa: E402
from tests.site_urls import addresses  # noqa: E402

TOKENS = {"reading token": "arena_" + "r" * 43, "token of all scopes": "arena_" + "a" * 43}
# Rows of a member, in the columns of the first release: the backup has visitors only.
ROWS = """
INSERT INTO accounts_user (id, password, is_superuser, first_name, last_name, is_staff, is_active, date_joined, email)
VALUES (1, '!', false, 'Ada', '', false, true, '2026-11-29T12:00Z', 'ada@example.org');
INSERT INTO accounts_apitoken (
    id, public_id, user_id, name, digest, last_four, scopes, keeps_texts, caches_answers, created_at, last_used_at
) VALUES
    (1, 'reading', 1, 'reading', encode(sha256(convert_to('arena_' || repeat('r', 43), 'UTF8')), 'hex'), 'rrrr',
     '{read}', false, false, '2026-11-29T12:00Z', now()),
    (2, 'all', 1, 'all', encode(sha256(convert_to('arena_' || repeat('a', 43), 'UTF8')), 'hex'), 'aaaa',
     '{read,battle,vote,benchmark,export,gateway}', false, false, '2026-11-29T12:00Z', now());
UPDATE battles_session SET owner_visitor_id = NULL, owner_user_id = 1 WHERE id <= 4;
"""
TIMES = "exported_at|published_at|next_due_at|last_used_at|signed_in_at|last_seen_at|last_signed_in_at"
BATTLES = ["", "vote/", "stop/", "messages/", "regenerate/", "publish/", "feedback/", "report/", "stream/"]
SESSIONS = ["", "battles/", "export/?as=json", "export/?as=markdown"]


def readers() -> dict[str, Client]:
    member, visitor = Client(), Client()
    member.force_login(User.objects.get(pk=1))
    visitor.cookies[VISITOR_COOKIE] = visitor_cookie_value(Visitor.objects.get(pk=7))
    tokens = {name: Client(headers={"Authorization": f"Bearer {token}"}) for name, token in TOKENS.items()}
    return {"visitor": Client(), "visitor with battles": visitor, "member": member, **tokens}


def paths() -> Iterator[str]:
    api = [path for path in addresses() if path.startswith(("/api/v1/", "/v1/")) and "{" not in path]
    yield from (path for path in api if not path.startswith(("/api/v1/schema/", "/api/v1/docs/")))
    boards = sorted(set(AggregationRun.objects.filter(state="done").values_list("scope", flat=True)))
    for board in boards:
        yield from (f"/api/v1/leaderboard/{name}?board={board}" for name in ("", "matrix/", "history/", "snapshots/"))
    models = sorted(LanguageModel.objects.values_list("slug", flat=True))
    yield f"/api/v1/leaderboard/head-to-head/?a={models[0]}&b={models[1]}"
    for slug in models:
        yield from (f"/api/v1/models/{slug}/", f"/api/v1/leaderboard/models/{slug}/", f"/v1/models/{slug}")
    for snapshot in AggregationRun.objects.filter(state="done").order_by("pk"):
        yield f"/api/v1/leaderboard/snapshots/{snapshot.public_id}/"
        yield f"/api/v1/exports/votes.jsonl?snapshot={snapshot.public_id}"
    yield from (f"/api/v1/exports/{name}" for name in ("votes.csv", "votes.jsonl", "stars.csv", "stars.jsonl"))
    for session in Session.objects.filter(pk__in=[1, 5, 7]):
        yield from (f"/api/v1/sessions/{session.public_id}/{rest}" for rest in SESSIONS)
    for battle in Battle.objects.filter(pk__in=[1, 5, 7]):
        yield from (f"/api/v1/battles/{battle.public_id}/{rest}" for rest in BATTLES)
        yield f"/api/v1/leaderboard/battles/{battle.public_id}/"
    yield f"/api/v1/answers/{Answer.objects.get(pk=1).public_id}/rating/"


def steady(path: str, text: str) -> str:
    """Number what is drawn anew in each response (pseudonyms, ids of requests, browsers and shares); mask its time."""
    text = re.sub(rf'("(?:{TIMES})": ?)"[^"]+"', r'\1"NOW"', text)
    drawn = r"\b[0-9a-f]{24}\b" + (r"|(?<=[\"/])[\w-]{22}(?=[\"/])" if "publish" in path or "browsers" in path else "")
    numbers: dict[str, str] = {}
    return re.sub(drawn, lambda found: numbers.setdefault(found[0], f"drawn {len(numbers)}"), text)


def ask(client: Client, method: str, path: str) -> list[object]:
    with transaction.atomic():
        response = client.generic(method, path, "{}", "application/json")
        content = b"".join(response) if response.streaming else response.content
        transaction.set_rollback(True)
    return [response.status_code, steady(path, content.decode(errors="replace"))]


def main() -> None:
    settings.ARENA_LIMITS = dict.fromkeys(settings.ARENA_LIMITS, "off")
    settings.ARENA_PUBLISH_VOTES, settings.ALLOWED_HOSTS = True, ["testserver"]
    with connection.cursor() as cursor:
        cursor.execute(ROWS)
    # No method but these: a probe or an answer would need workers.
    answers = {
        f"{who}: {method} {path}": ask(client, method, path)
        for who, client in readers().items()
        for path in paths()
        for method in ("GET", "POST")
    }
    snapshots = AggregationRun.objects.filter(state="done").order_by("pk")
    hashes = {run.public_id: [run.tallies_checksum, run.votes_counted, run.last_order] for run in snapshots}
    sys.stdout.write(json.dumps({"answers": answers, "snapshots": hashes, "addresses": sorted(addresses())}))


if __name__ == "__main__":
    main()
