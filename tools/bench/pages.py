"""Response times of all pages: `make bench BENCH="--only pages"`."""

import json
import sys
import time
from statistics import median
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from tools.bench.arena import Bench
from tools.bench.boards import cast_and_count
from tools.bench.scenarios import print_row

SESSIONS = 10_000
MAX_SHOWN = 12
MAKE_BATTLES = """
from battles.models import *
from accounts.models import User, Visitor
from models_registry.models import LanguageModel
left, right = LanguageModel.objects.order_by("pk")[:2]
owners = [dict(owner_user=User.objects.get(email="everything@example.org"))]
owners += [dict(owner_visitor=visitor) for visitor in Visitor.objects.order_by("pk")[:1]]
sessions = Session.objects.bulk_create(
    [Session(title=f"Question {{n}}", **owners[n % len(owners)]) for n in range({sessions})], batch_size=1000
)
battles = Battle.objects.bulk_create([Battle(session=session, propensity=1) for session in sessions], 1000)
beside = (("left", left), ("right", right))
sides = Side.objects.bulk_create(
    [Side(battle=battle, position=place, model=model) for battle in battles for place, model in beside], 1000
)
turns = {{turn.battle_id: turn for turn in Turn.objects.bulk_create(
    [Turn(battle=battle, index=0, prompt="What is it?", state="done") for battle in battles], 1000
)}}
Answer.objects.bulk_create(
    [Answer(turn=turns[side.battle_id], side=side, state="done", text="an answer") for side in sides], 1000
)
"""


def pages(bench: Bench) -> None:
    votes = f"{bench.votes:,} votes of {bench.days:g} days and 300 models"
    print(f"Every page with {SESSIONS:,} sessions and {votes}, one reader")
    cast_and_count(bench)
    _run(bench, "-m", "tests.browser.helpers.votes")
    everything = json.loads(_run(bench, "-m", "tests.browser.helpers.everything"))
    _run(bench, "manage.py", "shell", "-c", MAKE_BATTLES.format(sessions=SESSIONS))
    milliseconds = {}
    for role, paths in everything["pages"].items():
        for path in paths:
            try:
                milliseconds[f"{role}: {path}"] = page_milliseconds(
                    bench.arena.url + path, everything["cookies"].get(role, "")
                )
            except HTTPError as error:
                print_row(f"{role}: {path}"[:66], f"answers {error.code}", "bar 200")
    slowest = sorted(milliseconds, key=lambda page: -milliseconds[page])
    print_row("pages", str(len(milliseconds)))
    print_row("median page", f"{median(milliseconds.values()):.0f} ms")
    print_row("pages over 200 ms", str(sum(ms > 200 for ms in milliseconds.values())), "bar 0")
    for page in slowest[:MAX_SHOWN]:
        print_row(page[:66], f"{milliseconds[page]:.0f} ms")


def _run(bench: Bench, *arguments: str) -> str:
    done = bench.arena.run(sys.executable, *arguments, within=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def page_milliseconds(url: str, cookie: str) -> float:
    """Return the median of five requests, after one that is not counted."""
    return median(request_milliseconds(url, cookie, 6)[1:])


def request_milliseconds(url: str, cookie: str, times: int) -> list[float]:
    request, milliseconds = Request(url, headers={"Cookie": f"sessionid={cookie}"} if cookie else {}), []
    for _ in range(times):
        began = time.perf_counter()
        with urlopen(request, timeout=60) as answer:
            answer.read()
        milliseconds.append((time.perf_counter() - began) * 1000)
    return milliseconds
