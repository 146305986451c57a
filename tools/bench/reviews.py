"""The next battle of a review: 10,000 pairs, 100 people at once."""

import json

from tools.bench.arena import Bench
from tools.bench.large_run import CREATE
from tools.bench.load import percentile
from tools.bench.scenarios import print_row

# 222 cases of ten models make 9,990 pairs.
CASES, ENTRANTS, PEOPLE, OPINIONS = 222, 10, 100, 5
OPEN = """
from accounts.models import User
from benchmarks.models import Entrant, RenderedPrompt, Run
from models_registry.models import LanguageModel
from reviews import actions
run = Run.objects.get(pk={run})
provider = LanguageModel.objects.order_by("slug")[0].provider
for entrant in run.entrants.select_related("prompt"):
    model = LanguageModel.objects.create(
        provider=provider, slug=f"reviewed-{{entrant.position}}", name=f"Reviewed {{entrant.position}}",
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
User.objects.bulk_create(User(email=f"reviewer{{n}}@example.org") for n in range({people}))
made = actions.create_review(owner=run.owner, run=run, opinions_per_item={opinions})
review = actions.open_review(made)
print(review.pk, review.item_count)
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
        began = time.perf_counter()
        battle = actions.next_battle(actor, Review.objects.get(pk={review}))
        took.append(time.perf_counter() - began)
        connections.close_all()  # as at the end of a request, for others of the pool
        time.sleep(random.uniform(*{reading}))
        cast_vote(actor=actor, battle=battle, choice="left")
        connections.close_all()
    return took

people = list(User.objects.filter(email__startswith="reviewer"))
with ThreadPoolExecutor(len(people)) as threads:
    took = [seconds for each in threads.map(vote_for, people) for seconds in each]
pairs = list(ReviewBattle.objects.filter(review={review}, repeats=None).values_list("review_item", "person"))
items = ReviewItem.objects.filter(review={review})
most = max(item.opinions + item.leases for item in items)
print(json.dumps({{"took": took, "twice": len(pairs) - len(set(pairs)), "most": most}}))
"""


def reviews(bench: Bench) -> None:
    run = int(bench.arena.shell(CREATE.format(cases=CASES, entrants=ENTRANTS)))
    review, pairs = map(int, bench.arena.shell(OPEN.format(run=run, people=PEOPLE, opinions=OPINIONS)).split())
    print(f"a review of {pairs:,} pairs, {PEOPLE} people at once, {OPINIONS} opinions a pair")
    result = json.loads(bench.arena.shell(REVIEW.format(review=review, reading=READING_S)))
    print_row("next battle, p50", f"{1000 * percentile(result['took'], 0.5):.0f} ms")
    print_row("next battle, p95", f"{1000 * percentile(result['took'], 0.95):.0f} ms", "bar 40")
    print_row("most opinions and leases of a pair", str(result["most"]), f"bar {OPINIONS + PEOPLE}")
    print_row("pairs that a person got twice", str(result["twice"]), "bar 0")
