"""Reviews: the next of 10,000 pairs, agreement with a judge of 4,000 pairs, and 100 people at once on few pairs."""

import asyncio
import json
import time

import aiohttp

from tools.bench.arena import Bench
from tools.bench.benchmark_runs import wait_for_run
from tools.bench.large_run import CREATE
from tools.bench.load import percentile
from tools.bench.scenarios import print_row

# 222 cases of ten models make 9,990 pairs.
CASES, ENTRANTS, PEOPLE, OPINIONS = 222, 10, 100, 5
# 20 cases of three models make 60 pairs: people vote without reading, and the last pairs have few places.
BURST_CASES, BURST_ENTRANTS = 20, 3
OPEN = """
from accounts.models import User
from benchmarks.models import Entrant, RenderedPrompt, Run
from models_registry.models import LanguageModel
from reviews import actions
run = Run.objects.get(pk={run})
provider = LanguageModel.objects.order_by("slug")[0].provider
for entrant in run.entrants.select_related("prompt"):
    model = LanguageModel.objects.create(
        provider=provider, slug=f"{name}-{{entrant.position}}", name=f"{name} {{entrant.position}}",
        upstream_name="words", status="active",
    )
    Entrant.objects.filter(pk=entrant.pk).update(model=model, parameters={{}})
RenderedPrompt.objects.bulk_create(
    RenderedPrompt(
        prompt=entrant.prompt, case=case, messages=[{{"role": "user", "content": f"About {{case.key}}."}}],
        digest="0" * 64, characters=20,
    )
    for case in run.version.cases.all()
)
User.objects.bulk_create(User(email=f"{name}{{n}}@example.org") for n in range({people}))
made = actions.create_review(owner=run.owner, run=run, opinions_per_item={opinions}, **{terms})
review = actions.open_review(made)
print(review.pk, review.public_id, review.item_count)
"""
# People read two answers in 15 to 35 seconds, so that four of them ask for the next battle each second.
READING_S = (15, 35)
REVIEW = """
import json, random, time
from concurrent.futures import ThreadPoolExecutor
from django.db import connections
from accounts.actor import Actor
from accounts.models import User
from battles.actions import cast_vote
from reviews import actions
from reviews.models import Review, ReviewBattle, ReviewItem

def vote_for(user, seconds=90):
    actor, took, until = Actor(user=user), [], time.monotonic() + seconds
    time.sleep(random.uniform(0, {reading[1]}))
    while time.monotonic() < until:
        review = Review.objects.select_related("run", "team").get(pk={review})
        began = time.perf_counter()
        battle = actions.next_battle(actor, review)
        took.append(time.perf_counter() - began)
        connections.close_all()  # as at the end of a request, for others of the pool
        time.sleep(random.uniform(*{reading}))
        cast_vote(actor=actor, battle=battle, choice="left")
        connections.close_all()
    return took

people = list(User.objects.filter(email__startswith="reviewed"))
with ThreadPoolExecutor(len(people)) as threads:
    took = [seconds for each in threads.map(vote_for, people) for seconds in each]
pairs = list(ReviewBattle.objects.filter(review={review}, repeats=None).values_list("review_item", "person"))
items = ReviewItem.objects.filter(review={review})
most = max(item.opinions + item.leases for item in items)
print(json.dumps({{"took": took, "twice": len(pairs) - len(set(pairs)), "most": most}}))
"""

# The verdicts are inserted: a worker would take minutes for them.
JUDGED_PAIRS_PER_CASE = 18
JUDGE = """
from benchmarks.judges.actions import JudgeContent, JudgingRequest, create_judge, start_judging
from benchmarks.judging.rubrics import Kind, Rubric
from reviews.models import Review
subject = Review.objects.get(pk={review}).run
model = subject.entrants.earliest("position").model
judge = create_judge(
    owner=subject.owner, content=JudgeContent("Bench", model, Rubric(kind=Kind.PAIRWISE), {{}}, "allow")
)
request = JudgingRequest(judge, subject, plan="regular", pairs_per_case={pairs}, orders="random", with_card=False)
print(start_judging(request, owner=subject.owner, starts_at_once=False).run_id)
"""
AGREEMENT = """
import json, time
from statistics import median
from django.db import connection
from benchmarks.models import Run
from benchmarks.reports.store import compute_report, store_report
from reviews.agreement.results import read_agreement
from reviews.models import Review
with connection.cursor() as cursor:
    cursor.execute(
        "UPDATE benchmarks_runitem SET state = 'scored', score = floor(3 * random()) / 2 WHERE run_id = %s", [{judging}]
    )
    judged = cursor.rowcount
    cursor.execute("ANALYZE")
Run.objects.filter(pk={judging}).update(state="done")
review, took = Review.objects.select_related("run").get(pk={review}), []
store_report(review.run, compute_report(review.run))  # as at the end of a run that was made by calls
for _ in range(10):
    began = time.perf_counter()
    found = read_agreement(review)
    took.append(time.perf_counter() - began)
[judge] = found.judges
has_board = judge.board is not None and judge.board.is_calibrated
print(json.dumps({{"took": median(took[1:]), "judged": judged, "opinions": found.opinions, "has_board": has_board}}))
"""
TOKENS = """
from accounts.models import ApiToken, Scope, User
for user in User.objects.filter(email__startswith="burst"):
    print(ApiToken.issue(user=user, name="bench", scopes=[Scope.READ, Scope.VOTE])[1])
"""
BURST_COUNTS = """
import json
from reviews.models import Review, ReviewBattle
review = Review.objects.get(pk={review})
shown = list(ReviewBattle.objects.filter(review=review, repeats=None).values_list("review_item", "person"))
counts = list(review.items.values_list("opinions", "leases"))
print(json.dumps({{
    "opinions": sum(n for n, _leases in counts), "most": max(map(sum, counts)), "twice": len(shown) - len(set(shown)),
    "short": sum(n < {opinions} for n, _leases in counts), "end": review.ended_by or review.state,
}}))
"""


def reviews(bench: Bench) -> None:
    review, _, pairs = _open(bench, CASES, ENTRANTS, "reviewed")
    print(f"a review of {pairs:,} pairs, {PEOPLE} people at once, {OPINIONS} opinions a pair")
    result = json.loads(bench.arena.shell(REVIEW.format(review=review, reading=READING_S)))
    print_row("next battle, p50", f"{1000 * percentile(result['took'], 0.5):.0f} ms")
    print_row("next battle, p95", f"{1000 * percentile(result['took'], 0.95):.0f} ms", "bar 40")
    print_row("most opinions and leases of a pair", str(result["most"]), f"bar {OPINIONS + PEOPLE}")
    print_row("pairs that a person got twice", str(result["twice"]), "bar 0")
    _agreement(bench, review)
    _burst(bench)


def _open(bench: Bench, cases: int, entrants: int, name: str, **terms: int) -> tuple[int, str, int]:
    """Return the review's id, its public id and its number of pairs."""
    run = int(bench.arena.shell(CREATE.format(cases=cases, entrants=entrants)))
    code = OPEN.format(run=run, people=PEOPLE, opinions=OPINIONS, name=name, terms=terms)
    review, public_id, pairs = bench.arena.shell(code).split()
    return int(review), public_id, int(pairs)


def _agreement(bench: Bench, review: int) -> None:
    """Time the page's figures and their queries, of the opinions that people gave before."""
    judging = int(bench.arena.shell(JUDGE.format(review=review, pairs=JUDGED_PAIRS_PER_CASE)))
    wait_for_run(bench, judging, "queued")
    result = json.loads(bench.arena.shell(AGREEMENT.format(judging=judging, review=review)))
    print(f"a judge of {result['judged']:,} pairs, {result['opinions']} opinions, {ENTRANTS} entrants")
    print_row("agreement and calibrated board, with their queries", f"{1000 * result['took']:.0f} ms", "bar 300")
    print_row("calibrated boards missing", str(int(not result["has_board"])), "bar 0")


def _burst(bench: Bench) -> None:
    review, public_id, pairs = _open(bench, BURST_CASES, BURST_ENTRANTS, "burst", repeats_percent=0, least_seconds=0)
    print(
        f"a review of {pairs} pairs, {OPINIONS} opinions a pair; {PEOPLE} people vote through the API without reading"
    )
    tokens = bench.arena.shell(TOKENS).split()
    began = time.perf_counter()
    votes = asyncio.run(_vote_at_once(bench.arena.url, public_id, tokens))
    seconds = time.perf_counter() - began
    counts = json.loads(bench.arena.shell(BURST_COUNTS.format(review=review, opinions=OPINIONS)))
    print_row("votes a second", f"{votes / seconds:.1f}")
    print_row("votes, and opinions counted", f"{votes}, {counts['opinions']}", f"bar {pairs * OPINIONS} twice")
    print_row("most opinions and leases of a pair", str(counts["most"]), f"bar {OPINIONS}")
    print_row("pairs that a person got twice", str(counts["twice"]), "bar 0")
    print_row("pairs short of opinions, and the end", f"{counts['short']}, {counts['end']}", "bar 0, quota")


async def _vote_at_once(site: str, review: str, tokens: list[str]) -> int:
    """Let each member vote until there is no further battle; return the number of votes."""
    timeout, connector = aiohttp.ClientTimeout(total=300), aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(site, timeout=timeout, connector=connector) as client:

        async def vote(token: str) -> int:
            headers, votes = {"Authorization": f"Bearer {token}"}, 0
            while True:
                async with client.post(f"/api/v1/reviews/{review}/next/", headers=headers) as response:
                    if response.status != 200:
                        return votes  # 204: no pair is left for the person; 409: the review has closed
                    battle = (await response.json())["id"]
                address = f"/api/v1/battles/{battle}/vote/"
                async with client.post(address, headers=headers, json={"choice": "left"}) as response:
                    votes += response.status == 201

        return sum(await asyncio.gather(*map(vote, tokens)))
