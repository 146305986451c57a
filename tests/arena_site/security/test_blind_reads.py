"""Before the vote on a blind battle no page and no API response reveals its models.

Strangers read the same as before the battle; its owner reads the same for any pair of models.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from decimal import Decimal
from difflib import unified_diff
from functools import partial
from itertools import combinations
from random import Random
from typing import Any

import pytest
from django.db import connections, transaction
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from accounts.actor import Actor
from accounts.models import ApiToken, SignIn
from battles import actions
from battles.calls.values import CallResult
from battles.models import Battle, Call, Session, Turn, Vote
from battles.worker import turn_store
from benchmarks.actions import EntrantRequest, create_run, publish_run
from benchmarks.exports import responses
from benchmarks.models import Reply, Run, RunItem
from common.valkey import heartbeat
from common.valkey.connections import connection
from leaderboard.boards import live_figures
from leaderboard.exports import api
from leaderboard.models import OVERALL, AggregationRun
from models_registry import breaker_rule
from models_registry.models import LanguageModel
from models_registry.providers import Completion, FailureCode
from models_registry.versions import set_price
from reviews import actions as review_actions
from reviews.drawing import draw_cell
from reviews.models import Review, Reviewer
from tests import make
from tests.arena_site.security.read_requests import Arena, paths
from tests.leaderboard import vote_factory
from tests.leaderboard.tally_checks import aggregate
from tests.turn_steps import store_answer
from tests.worlds.benchmarks import samples

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

NAMES = ("ada", "bob", "cyd", "dee")
PAIRS = (("ada", "bob"), ("dee", "cyd"))
COMPARED = ("eve", "fay")  # in a review
# Pages and operations that may show figures of votes.
WITH_FIGURES = (
    "/review", "/leaderboard", "/benchmarks", "/models", "/metrics", "/votes", "/api/v1/reviews", "/api/v1/leaderboard",
    "/api/v1/boards", "/api/v1/benchmarks", "/api/v1/exports", "/api/v1/models", "/api/v1/battles",
)  # fmt: skip
ELSEWHERE = "203.0.113.7"  # /metrics is open to this machine
A_CENT = Decimal("0.01")
TOKENS = 3  # as many as an answer may have; each costs a cent
# Pages with secrets that change at each request.
RANDOM_PAGES = ("/accounts/2fa/totp/", "/accounts/2fa/webauthn/")
RANDOM_HEADERS = {"X-Request-ID", "Content-Security-Policy", "Set-Cookie", "Content-Length", "Expires"}
RANDOM_WORDS = [
    (r'(csrfmiddlewaretoken" value|nonce)="[^"]+"', r"\1"),
    (r'(X-CSRFToken[^:]*:\s*)[^}]+}', r"\1"),
    (r"(Computed|Next run:) [^<]*", r"\1"),
    (r'("(?:joined_at|request_id|voter)":\s*)"[^"]+"', r"\1"),
    (r"""/benchmarks/stream/[^"']+""", r"/benchmarks/stream/"),
]  # fmt: skip

Read = dict[str, tuple[object, ...]]


def models() -> dict[str, LanguageModel]:
    return {model.slug: model for model in LanguageModel.objects.filter(slug__in=NAMES).select_related("provider")}


def add_models() -> None:
    for number, name in enumerate(NAMES):
        model = make.model(
            slug=name, name=name.title(), at=f"http://127.0.0.1:9/{name}/v1", parameters={"max_tokens": TOKENS},
            license_kind="open", size_b=number + 1, abilities=["images"],
        )  # fmt: skip
        set_price(model, Decimal(0), A_CENT * 1_000_000 * (number + 1))


def done(call: Any) -> CallResult:
    number = NAMES.index(call.row.model.slug) + 1
    usage = Completion(prompt_tokens=5, completion_tokens=TOKENS, finish_reason="length" if number % 2 else "stop")
    return CallResult(texts=["An answer."], completion=usage, first_token_ms=100 * number, total_ms=1000 * number)


def refused(call: Any) -> CallResult:
    """Return a failure that opens the model's breaker at once."""
    return CallResult(error=FailureCode.RATE_LIMITED, retry_after=600, total_ms=5)


def unreachable(call: Any) -> CallResult:
    """Return a failure that opens the provider's breaker (FAILURES_IN_A_ROW is 1)."""
    return CallResult(error=FailureCode.UNREACHABLE, total_ms=5)


def answer(turn: Turn, *, right: Callable[[Any], CallResult] = done) -> None:
    [(claimed, calls)] = turn_store.claim_and_start([turn.pk])
    assert calls is not None
    for call in calls:
        result = right(call) if call.side == "right" else done(call)
        store_answer(claimed, call, result)


def both_answered(battle: Battle) -> None:
    answer(battle.turns.get())


def one_failed_in_the_follow_up(battle: Battle) -> None:
    answer(battle.turns.get())
    answer(make.turn(battle), right=refused)


def one_provider_failed_in_the_follow_up(battle: Battle) -> None:
    answer(battle.turns.get())
    answer(make.turn(battle), right=unreachable)


def one_failed_at_once(battle: Battle) -> None:
    """Fail one side of the first turn: the battle takes no vote, but its models stay hidden."""
    answer(battle.turns.get(), right=refused)


def both_answering(battle: Battle) -> None:
    turn_store.claim_and_start([battle.turns.get().pk])


def both_waiting(battle: Battle) -> None:
    both_answering(battle)
    Call.objects.filter(answer__turn__battle=battle).update(state=Call.State.WAITING)


OUTCOMES = [both_answered, one_failed_in_the_follow_up, one_provider_failed_in_the_follow_up, one_failed_at_once]
UNDER_WAY = [both_answering, both_waiting]


@pytest.fixture(autouse=True)
def _no_limits(settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.ARENA_LIMITS = dict.fromkeys(settings.ARENA_LIMITS, "off")
    monkeypatch.setattr(breaker_rule, "FAILURES_IN_A_ROW", 1)
    settings.ARENA_PUBLISH_VOTES = True


@pytest.fixture
def _frozen_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    now: datetime = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)


@pytest.fixture(autouse=True)
def _exports_are_sent_from_this_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another connection would not see the test's uncommitted rows."""
    for module in (api, responses):
        monkeypatch.setattr(module, "stream_chunks", lambda chunks: chunks)


@pytest.fixture
def owner() -> Actor:
    return make.member()


@pytest.fixture
def arena(owner: Actor, _frozen_clock: None) -> Arena:
    """Boards, and counted calls of every model. One more answer uses up a provider's budget."""
    for process in heartbeat.EXPECTED:  # /readyz counts models when all processes are alive
        connection().set(f"heartbeat:{process}", "alive")
    add_models()
    known = models()
    for left, right in combinations(NAMES, 2):
        vote_factory.cast_many(known[left], known[right], left=4, right=3, tie=1)
    for left, right in PAIRS:
        voted = make.battle(known[left], known[right], actor=owner)
        both_answered(voted)
        actions.cast_vote(actor=owner, battle=voted, choice=Vote.Choice.LEFT)
    share = actions.publish(battle=voted)
    aggregate()
    for number, name in enumerate(NAMES):
        provider = known[name].provider
        provider.daily_budget = 2 * TOKENS * A_CENT * (number + 1)
        provider.save()
    snapshot = AggregationRun.objects.snapshots(OVERALL)[0]
    item = item_of_a_waiting_run(owner)
    return Arena(
        list(NAMES), [sorted(pair) for pair in PAIRS], snapshot.public_id, share.public_id,
        run=item.run.public_id, item=item.pk, case=item.case_id,
    )  # fmt: skip


def item_of_a_waiting_run(owner: Actor) -> RunItem:
    """Return an item of the owner's run, which has waiting items at every provider."""
    entrants = [EntrantRequest(model) for model in models().values()]
    version = samples.template(owner.user).versions.get()
    run = create_run(owner=owner.user, version=version, entrants=entrants, budget=Decimal(1))
    samples.prepare(run)
    Run.objects.filter(pk=run.pk).update(started_at=timezone.now() - timedelta(minutes=1))
    return run.items.select_related("run").order_by("pk")[0]


def program(actor: Actor) -> Client:
    return make.api(actor.user, REMOTE_ADDR=ELSEWHERE)


@contextmanager
def battles_of(arena: Arena, owner: Actor, pair: tuple[str, str]) -> Iterator[None]:
    """Create unvoted blind battles: the owner's of OUTCOMES, another's of UNDER_WAY; roll them back at the end."""
    known = models()
    with transaction.atomic():
        arena.battles = [make.battle(known[pair[0]], known[pair[1]], actor=owner) for _ in OUTCOMES]
        for battle, bring_about in zip(arena.battles, OUTCOMES, strict=True):
            bring_about(battle)
        for bring_about in UNDER_WAY:
            bring_about(make.battle(known[pair[0]], known[pair[1]], actor=make.member()))
        for number, battle in enumerate(arena.battles):
            began = timezone.now() - timedelta(minutes=number)
            Battle.objects.filter(pk=battle.pk).update(created_at=began)
            Session.objects.filter(pk=battle.session_id).update(created_at=began, last_active_at=began)
        yield
        transaction.set_rollback(True)
    arena.battles = []


def everything(client: Client, arena: Arena, *, only: str | tuple[str, ...] = "/") -> Read:
    """Return responses by client and URL."""
    asks = "a program: " if "HTTP_AUTHORIZATION" in client.defaults else ""
    wanted = [path for path in paths(arena) if path.startswith(only)]
    return {asks + _neutral(path, arena): _read(client, path, arena) for path in wanted}


def _read(client: Client, path: str, arena: Arena) -> tuple[object, ...]:
    response: Any = client.get(path)
    headers = sorted((name, value) for name, value in response.items() if name not in RANDOM_HEADERS)
    head = response.status_code, _neutral(_without_random(str(headers)), arena)
    return head if path.startswith(RANDOM_PAGES) else (*head, _neutral(_text(response), arena))


def _text(response: HttpResponse) -> str:
    body: Any = response
    content = b"".join(body.streaming_content) if response.streaming else response.content
    return _without_random(content.decode(errors="replace"))


def _without_random(text: str) -> str:
    for pattern, instead in RANDOM_WORDS:
        text = re.sub(pattern, instead, text)
    return text


def _neutral(text: str, arena: Arena) -> str:
    for number, ids in enumerate(zip(arena.battle_ids, arena.session_ids, strict=True)):
        for public_id, name in zip(ids, ("battle", "session"), strict=True):
            text = text.replace(public_id, f"{name}-{number}")
    return text


def differences(one: Read, other: Read) -> dict[str, list[str]]:
    """Return the differing lines by URL."""
    assert one.keys() == other.keys()
    changed = {path: (_lines(one[path]), _lines(other[path])) for path in one if one[path] != other[path]}
    return {path: list(unified_diff(*lines, n=0, lineterm="")) for path, lines in changed.items()}


def _lines(read: tuple[object, ...]) -> list[str]:
    return [line for part in read for line in str(part).splitlines()]


def test_strangers_read_the_same_before_and_after_answers(arena: Arena, owner: Actor):
    stranger, others_program = Client(REMOTE_ADDR=ELSEWHERE), program(make.member())
    with battles_of(arena, owner, PAIRS[0]):
        after = everything(stranger, arena) | everything(others_program, arena, only="/api/")
        live_after = live_figures.cached_figures()
    before = everything(stranger, arena) | everything(others_program, arena, only="/api/")
    assert live_figures.cached_figures() == live_after
    assert len(before) > 100
    assert differences(before, {address: after[address] for address in before}) == {}


def test_strangers_vote_moves_boards_alike_for_any_open_pair(arena: Arena, owner: Actor):
    stranger, read, moved = Client(REMOTE_ADDR=ELSEWHERE), [], []
    for pair in PAIRS:
        with battles_of(arena, owner, pair):
            known, other = models(), make.member()
            voted = make.answered_battle(known["ada"], known["cyd"], actor=other)
            actions.cast_vote(actor=other, battle=voted, choice=Vote.Choice.LEFT)
            shown = everything(stranger, arena)
            del shown["/api/v1/exports/votes.jsonl"]  # it has the time of the vote
            read.append(shown)
            last = live_figures.cached_figures().new.last
            moved.append(live_figures.cached_figures().moved(OVERALL, after=last - 1))
    assert differences(*read) == {}
    assert moved[0] == moved[1]
    assert moved[0].keys() == {"ada", "cyd"}


def test_owner_of_a_run_reads_the_same_before_and_after_answers(arena: Arena, owner: Actor):
    browser, owners_program = make.browser(owner, REMOTE_ADDR=ELSEWHERE), program(owner)
    page = f"/benchmarks/r/{arena.run}/"
    browser.defaults["HTTP_HX_REQUEST"] = "true"  # without the sidebar, which lists the owner's battles

    def read() -> Read:
        shown = everything(owners_program, arena, only="/api/v1/benchmarks/")
        return {page: _read(browser, page, arena), **shown}

    with battles_of(arena, owner, PAIRS[0]):
        after = read()
    before = read()
    assert "Your run waits for room." in str(before[page])
    assert differences(before, after) == {}


def test_owner_reads_the_same_whichever_models_answered(arena: Arena, owner: Actor):
    browser, owners_program = make.browser(owner, REMOTE_ADDR=ELSEWHERE), program(owner)
    arena.token, arena.browser = ApiToken.objects.get().public_id, SignIn.objects.get().public_id
    one, other = {}, {}
    for pair, read in zip(PAIRS, (one, other), strict=True):
        with battles_of(arena, owner, pair):
            read |= everything(browser, arena) | everything(owners_program, arena, only="/api/")
    assert differences(one, other) == {}


@pytest.fixture
def review(arena: Arena, owner: Actor) -> Review:
    """An open review of a published run, two models of which answered with the same words."""
    version = samples.template(owner.user, "Reviewed").versions.get()
    compared = [make.model(slug=name, name=name.title()) for name in COMPARED]
    run = samples.finished_run(owner.user, version, compared)
    Reply.objects.filter(items__item__run=run).update(text="It is there.")
    publish_run(run, with_names=True)
    made = review_actions.create_review(owner=owner.user, run=run, opinions_per_item=9, repeats_percent=0)
    arena.run, arena.review = run.public_id, made.public_id
    item = run.items.order_by("pk")[0]
    arena.item, arena.case = item.pk, item.case_id
    return review_actions.open_review(made)


@contextmanager
def shown_battle(arena: Arena, review: Review, person: Actor, left: LanguageModel) -> Iterator[Battle]:
    """Show the person a battle with the model on the left, always the same one."""
    with pytest.MonkeyPatch.context() as patch, connections["default"].cursor() as cursor:
        patch.setattr("reviews.actions.battles.left_model_of_repeat", lambda drawn: left)
        patch.setattr("reviews.actions.battles.draw_cell", partial(draw_cell, source=Random(0)))
        cursor.execute("SELECT setseed(0)")
        battle = review_actions.next_battle(person, review)
    assert battle is not None
    now = timezone.now()
    Battle.objects.filter(pk=battle.pk).update(created_at=now - timedelta(minutes=1))
    Session.objects.filter(pk=battle.session_id).update(created_at=now, last_active_at=now)
    arena.battles = [battle]
    yield battle
    arena.battles = []


def test_reviewer_reads_the_same_whichever_side_a_model_is_on(arena: Arena, review: Review):
    person, read = make.member(), []
    Reviewer.objects.create(review=review, person=person.key)  # has the time, which the person's own data show
    browser = make.browser(person, REMOTE_ADDR=ELSEWHERE)
    for left in LanguageModel.objects.filter(slug__in=COMPARED):
        with transaction.atomic(), shown_battle(arena, review, person, left):
            read.append(everything(browser, arena))
            transaction.set_rollback(True)
    assert "It is there." in str(read[0]["/api/v1/battles/battle-0/"])
    assert differences(*read) == {}


def test_review_reads_the_same_whichever_model_leads(arena: Arena, review: Review, owner: Actor):
    person, voters, read = make.member(), [make.member() for _n in range(3)], []
    compared = list(LanguageModel.objects.filter(slug__in=COMPARED))
    browsers = [make.browser(reader, REMOTE_ADDR=ELSEWHERE) for reader in (owner, person)]
    for leader in compared:
        with transaction.atomic():
            for voter in voters:
                with shown_battle(arena, review, voter, leader) as battle:
                    actions.cast_vote(actor=voter, battle=battle, choice=Vote.Choice.LEFT)
            with shown_battle(arena, review, person, compared[0]):
                read.append([everything(reader, arena, only=WITH_FIGURES) for reader in browsers])
            transaction.set_rollback(True)
    assert "3 people" in str(read[0][0][f"/review/{review.public_id}/settings/"])
    for one, other in zip(*read, strict=True):
        assert differences(one, other) == {}
