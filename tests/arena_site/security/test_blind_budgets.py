"""The rest of a person's budget is the same after battles of a cheap or a dear pair (docs/adr/0063)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from openai import OpenAI, RateLimitError

from accounts.actor import Actor
from accounts.models import Role, Team
from battles import actions
from battles.auto.options import AutoOptions
from battles.auto.port import Routed, RoutingRequest, Target, heaviest_weight
from battles.calls.values import CallResult, PreparedCall
from battles.models import Battle, Turn, Vote
from battles.prompting.lineup import BattleRequest
from battles.prompting.messages import CHARACTERS_PER_TOKEN
from battles.prompting.pairing import Candidate
from battles.worker import turn_store
from common.db import execution
from models_registry.models import Budget, LanguageModel
from models_registry.models.ledger import SITE, person_account
from models_registry.providers import Completion, FailureCode
from models_registry.versions import set_price
from tests import make
from tests.fake_provider import FakeProvider
from tests.gateway.software import ASKED, issue_token, openai_client, settled
from tests.models_registry.paid_models import accounts, cents
from tests.site import serve
from tests.turn_steps import store_answer
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)

PAIRS = (("cheap-a", "cheap-b"), ("dear-a", "dear-b"))
A_CENT = Decimal(10_000)  # a token, in dollars per million
BUDGET = cents(200)
drawn: list[str] = []


def drawn_pair(candidates: Sequence[Candidate]) -> list[tuple[int, int, float]]:
    left, right = (LanguageModel.objects.get(slug=slug).pk for slug in drawn)
    return [(left, right, 1.0)]


@pytest.fixture
def address() -> Iterator[str]:
    with serve() as address:
        yield address


@pytest.fixture(autouse=True)
def _arena(settings: Any, fake_provider: FakeProvider) -> None:
    settings.ARENA_LIMITS = dict.fromkeys(settings.ARENA_LIMITS, "off")
    settings.ARENA_BUDGETS = {"visitor": None, "member": BUDGET, "site": None}
    settings.ARENA_PAIR_WEIGHTS = f"{__name__}.drawn_pair"
    for slug in (*PAIRS[0], *PAIRS[1]):
        make.model("honest", slug=slug, at=fake_provider.base_url, parameters={"max_tokens": 3})
    # Their reservations measure the rest of a budget: by a prompt's length, and by max_tokens.
    reader = make.model("honest", slug="reader", at=fake_provider.base_url, parameters={"max_tokens": 1})
    set_price(reader, A_CENT / 50, Decimal(0))
    writer = make.model("honest", slug="writer", at=fake_provider.base_url, parameters={"max_tokens": 5_000})
    set_price(writer, Decimal(0), A_CENT / 100)


def set_prices(times: int = 1) -> None:
    for model in LanguageModel.objects.filter(slug__in=[*PAIRS[0], *PAIRS[1]]):
        price = A_CENT * times * (4 if "dear" in model.slug else 1) / 10
        set_price(model, price / 100, price)


def start(actor: Actor, pair: tuple[str, str], place: Team | None = None) -> Battle:
    drawn[:] = pair
    set_prices()
    return actions.start_session(actor=actor, prompt="one two three", place=place)


def result(call: PreparedCall, text: str = "The same words.") -> CallResult:
    tokens = 3 if "dear" in call.row.model.slug else 1
    usage = Completion(finish_reason="stop", prompt_tokens=5 * tokens, completion_tokens=tokens, reasoning_tokens=1)
    return CallResult(texts=[text], reasonings=["Hm."] * tokens, completion=usage, total_ms=100 * tokens)


def answer(turn: Turn, *, right: Callable[[PreparedCall], CallResult] = result) -> None:
    [(claimed, calls)] = turn_store.claim_and_start([turn.pk])
    for call in turn_store.begin_calls(claimed) if calls is None else calls:
        store_answer(claimed, call, right(call) if call.side == "right" else result(call))


def refused(call: PreparedCall) -> CallResult:
    return CallResult(error=FailureCode.REJECTED, total_ms=5)


def cut(call: PreparedCall) -> CallResult:
    return CallResult(texts=["The same"], error=FailureCode.CUT, completion=result(call).completion)


def stopped(call: PreparedCall) -> CallResult:
    return CallResult(texts=["The same"], stopped=True, completion=Completion(pieces=2))


Story = Callable[[Actor, Battle], None]


def waits(actor: Actor, battle: Battle) -> None:
    pass


def both_answered(actor: Actor, battle: Battle) -> None:
    answer(battle.turns.get())


def one_side_is_answering(actor: Actor, battle: Battle) -> None:
    [(claimed, calls)] = turn_store.claim_and_start([battle.turns.get().pk])
    assert calls is not None
    store_answer(claimed, calls[0], result(calls[0]))


def one_failed_without_a_word(actor: Actor, battle: Battle) -> None:
    answer(battle.turns.get(), right=refused)


def one_was_cut(actor: Actor, battle: Battle) -> None:
    answer(battle.turns.get(), right=cut)


def one_was_stopped(actor: Actor, battle: Battle) -> None:
    answer(battle.turns.get(), right=stopped)


def its_worker_was_lost(actor: Actor, battle: Battle) -> None:
    [(claimed, calls)] = turn_store.claim_and_start([battle.turns.get().pk])
    assert calls is not None
    Turn.objects.filter(pk=claimed.turn_id).update(lease_until=battle.created_at)
    turn_store.fail_expired(claimed.turn_id)


def prices_changed_meanwhile(actor: Actor, battle: Battle) -> None:
    set_prices(times=5)
    answer(battle.turns.get())
    answer(actions.follow_up(actor=actor, battle=battle, prompt="and four?"))


def follow_up_failed_and_was_repeated(actor: Actor, battle: Battle) -> None:
    answer(battle.turns.get())
    answer(actions.follow_up(actor=actor, battle=battle, prompt="and four?"), right=cut)
    answer(actions.regenerate(actor=actor, battle=battle), right=result)


STORIES = [
    waits, both_answered, one_side_is_answering, one_failed_without_a_word, one_was_cut, one_was_stopped,
    its_worker_was_lost, prices_changed_meanwhile, follow_up_failed_and_was_repeated,
]  # fmt: skip


def program(actor: Actor) -> Client:
    token = make.token(actor.user, keeps_texts=True)
    return Client(headers={"Authorization": f"Bearer {token}"})


def stop_again(client: Client, response: Any) -> Any:
    if response.status_code == 201:
        client.post(f"/api/v1/battles/{response.json()['battles'][0]['id']}/stop/")
    return response


def session(client: Client, size: int, **wish: object) -> Any:
    body = {"prompt": "a" * size, **wish}
    return stop_again(client, client.post("/api/v1/sessions/", body, "application/json"))


# Each is asked with prompts of different sizes: a fiftieth of a cent for each character.
QUESTIONS: dict[str, Callable[[Client, int], Any]] = {
    "route": lambda client, size: client.post(
        "/api/v1/route/", {"prompt": "a" * size, "models": ["reader"]}, "application/json"
    ),
    "direct": lambda client, size: session(client, size, mode="direct", models=["reader"]),
    "side by side": lambda client, size: session(client, size, mode="side_by_side", models=["reader", "writer"]),
    "compare": lambda client, size: session(client, size, mode="compare", models=["reader", "cheap-a"]),
    "auto": lambda client, size: session(client, size, mode="auto", models=["reader"]),
    "battle": lambda client, size: session(client, size, mode="blind"),
}


def largest_granted(grants: Callable[[int], bool], *, maximum: int) -> int:
    low, high = 0, maximum
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if grants(middle) else (low, middle - 1)
    return low


def bisected(client: Client) -> dict[str, int]:
    return {
        name: largest_granted(lambda size, ask=ask: ask(client, size).status_code in (200, 201), maximum=16_384)
        for name, ask in QUESTIONS.items()
    }


def shown(actor: Actor, client: Client) -> list[object]:
    browser = make.browser(actor)
    exported, page = browser.get("/api/v1/me/export/").json(), browser.get("/accounts/limits/").text
    answers = [
        {name: value for name, value in answer.items() if name not in ("id",)}
        for session in exported["sessions"]
        for battle in session["battles"]
        for turn in battle["turns"]
        for answer in turn["answers"]
    ]
    today = client.get("/api/v1/me/").json()["today"]
    tokens = [token["usage"] for token in browser.get("/api/v1/me/tokens/").json()["results"]]
    return [today["spent"], page[page.index("<dl") : page.index("</dl>")], answers, tokens]


def in_both_worlds(story: Story, ask: Callable[[Actor], object]) -> tuple[object, object]:
    answers = []
    for pair in PAIRS:
        actor = make.member()
        story(actor, start(actor, pair))
        answers.append(ask(actor))
    return answers[0], answers[1]


@pytest.mark.parametrize("story", STORIES)
def test_own_account_is_the_same_for_any_pair(story: Story):
    def ask(actor: Actor) -> object:
        return accounts()[person_account(actor.key)], shown(actor, program(actor))

    one, other = in_both_worlds(story, ask)
    assert one == other


@pytest.mark.parametrize("story", STORIES)
def test_accounts_of_a_team_are_the_same_for_any_pair(story: Story):
    found = []
    for pair in PAIRS:
        actor = make.member()
        assert actor.user is not None
        place = make.team(members={Role.MEMBER: [actor.user]})
        Team.objects.filter(pk=place.pk).update(month_budget=10, member_month_budget=10)
        story(actor, start(actor, pair, place))
        balances = accounts()
        names = (f"team:{place.pk}", f"team:{place.pk}/month", f"team:{place.pk}/{actor.key}")
        found.append([balances[name] for name in names])
        assert set(found[-1]) == {balances[person_account(actor.key)]}
    assert found[0] == found[1]


@pytest.mark.slow
@pytest.mark.parametrize("story", [both_answered, one_side_is_answering])
def test_200_questions_find_the_same_rest_for_any_pair(story: Story):
    one, other = in_both_worlds(story, lambda actor: bisected(program(actor)))
    assert one == other
    assert isinstance(one, dict)
    assert {name for name, size in one.items() if 0 < size < 16_384} == QUESTIONS.keys()


def test_falling_max_tokens_find_the_same_rest_for_any_pair(address: str):
    def ask(actor: Actor) -> int:
        Budget.objects.update_or_create(whose="member", defaults={"dollars": cents(40)})
        with openai_client(address, issue_token(actor)) as client:
            largest = largest_granted(lambda tokens: is_granted(client, tokens), maximum=4_096)
        Budget.objects.all().delete()
        return largest

    def is_granted(client: OpenAI, tokens: int) -> bool:
        try:
            client.chat.completions.create(model="writer", messages=ASKED, max_tokens=tokens)
        except RateLimitError:
            return False
        finally:
            wait_for(settled)
        return True

    one, other = in_both_worlds(both_answered, ask)
    assert one == other
    assert isinstance(one, int)
    assert 0 < one < 4_096


def test_weight_stays_after_the_vote_and_others_pay_the_cost():
    actor = make.member()
    battle = start(actor, PAIRS[1])
    both_answered(actor, battle)
    before = accounts()
    actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice.LEFT)
    assert accounts() == before
    prompt, text = len("one two three"), len("The same words.")
    prices = [1, 1, 4, 4, 0, 0.1]  # tenths of a cent for a token of the answer
    inputs = [0.01, 0.01, 0.04, 0.04, 0.2, 0]
    weight = 2 * (prompt * sum(inputs) + text * sum(prices)) / len(prices) / CHARACTERS_PER_TOKEN / 10
    assert float(before[person_account(actor.key)][1]) == pytest.approx(weight, abs=1e-5)
    assert before[SITE] == (0, 2 * (cents(100) * Decimal("1.2") + cents(100) * Decimal("0.06")))
    assert shown(actor, program(actor))[0] == f"{before[person_account(actor.key)][1] / 100:f}".rstrip("0")


def test_retries_and_redraws_do_not_show(settings: Any):
    actors = [make.member() for _ in range(2)]
    for actor, is_unlucky in zip(actors, (False, True), strict=True):
        turn = start(actor, PAIRS[0]).turns.get()
        if is_unlucky:
            settings.ARENA_PAIR_WEIGHTS = "battles.prompting.pairing.uniform_pair_weights"
            [(claimed, calls)] = turn_store.claim_and_start([turn.pk])
            assert turn_store.redraw(claimed, calls[0], refused(calls[0])) is not None
            turn_store.release(claimed)
        answer(turn)
    one, other = (accounts()[person_account(actor.key)] for actor in actors)
    assert one == other


def test_pair_of_free_models_reserves_as_any_other():
    for slug in PAIRS[0]:
        set_price(LanguageModel.objects.get(slug=slug), Decimal(0), Decimal(0))
    balances = []
    for pair in PAIRS:
        actor = make.member()
        drawn[:] = pair
        battle = actions.start_session(actor=actor, prompt="one two three")
        reserved = accounts()[person_account(actor.key)]
        both_answered(actor, battle)
        balances.append((reserved, accounts()[person_account(actor.key)]))
    assert balances[0] == balances[1]
    assert balances[0][0][0] > 50


def test_battle_of_auto_mode_weighs_the_same(settings: Any):
    settings.ARENA_ROUTER = f"{__name__}.routed_pair"

    def ask(actor: Actor) -> object:
        return accounts()[person_account(actor.key)]

    balances = []
    for pair in PAIRS:
        actor = make.member()
        set_prices()
        drawn[:] = pair
        battle = actions.start_session(
            actor=actor, prompt="one two three", battle_request=BattleRequest(auto=AutoOptions())
        )
        assert battle.origin == Battle.Origin.ROUTER
        reserved = ask(actor)
        both_answered(actor, battle)
        balances.append((reserved, ask(actor)))
    assert balances[0] == balances[1]


def routed_pair(request: RoutingRequest, actor: Actor) -> Routed:
    first, second = (LanguageModel.objects.get(slug=slug) for slug in drawn)
    return replace(heaviest_weight(request, actor), target=Target.ARENA, models=(first, second))


def test_turns_after_the_vote_cost_what_they_cost():
    actor = make.member()
    battle = start(actor, PAIRS[0])
    both_answered(actor, battle)
    actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice.LEFT)
    before = accounts()
    answer(actions.follow_up(actor=actor, battle=battle, prompt="and four?"))
    after, person = accounts(), person_account(actor.key)
    assert after[person][1] - before[person][1] == after[SITE][1] - before[SITE][1] > 0


@pytest.mark.django_db(transaction=False)
def test_battle_before_the_migration_is_paid_as_before(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(execution, "_found_tables", set())
    with connection.cursor() as cursor:
        cursor.execute("DROP TRIGGER an_ended_turn_settles_its_blind_charges ON battles_turn")
        cursor.execute("DROP TABLE battles_blindcharge")
    actor = make.member()
    both_answered(actor, start(actor, PAIRS[0]))
    assert accounts()[person_account(actor.key)] == accounts()[SITE]
