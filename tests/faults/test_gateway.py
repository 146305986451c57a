"""Programs killed during answers to other software leave no call unsettled."""

import json
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import httpx2
import pytest

from arena_site.supervisor.leftovers import Process, wait_for_end
from tests.fake_provider import FakeProvider
from tests.faults.battling import HALTED
from tests.waiting import wait_for
from tests.worlds.arena import POSTGRES, VALKEY, WEB, Arena

pytestmark = pytest.mark.faults

PAID_MODEL = """
from decimal import Decimal
from accounts.models import ApiToken, Scope, User
from models_registry.models import LanguageModel, Price
free = LanguageModel.objects.get(slug="left-one")
facts = {"provider": free.provider, "upstream_name": "steady", "name": "Paid one", "status": "active"}
paid, is_new = LanguageModel.objects.update_or_create(slug="paid-one", defaults=facts)
if is_new:
    Price.objects.create(model=paid, input_per_million=Decimal(1), output_per_million=Decimal(1))
owner, _ = User.objects.get_or_create(email="software@example.org")
print(ApiToken.issue(user=owner, name="software", scopes=[Scope.GATEWAY])[1])
"""
CALLS = """
SELECT call.state, call.cost = charge.most, charge.cost = charge.most
FROM battles_call AS call JOIN models_registry_charge AS charge ON charge.id = call.charge_id
WHERE call.purpose = 'gateway'
"""
TOKENS = "SELECT completion_tokens FROM battles_call WHERE purpose = 'gateway'"


@pytest.fixture
def client(arena: Arena) -> Iterator[httpx2.Client]:
    """Client of the gateway in an arena with a paid model and without calls of the gateway.

    It has one connection, and thus one web process: each caches the models.
    """
    headers = {"Authorization": f"Bearer {arena.shell(PAID_MODEL).strip()}"}
    with httpx2.Client(base_url=arena.url, headers=headers, timeout=120) as client:
        wait_for(lambda: client.get("/v1/models/paid-one").status_code == 200)
        yield client
    arena.query("DELETE FROM gateway_exchange RETURNING id")
    arena.query("DELETE FROM battles_call WHERE purpose = 'gateway' RETURNING id")
    arena.query("UPDATE models_registry_languagemodel SET status = 'retired' WHERE slug = 'paid-one' RETURNING id")


def ask(client: httpx2.Client, at_pause: Callable[[], object]) -> str:
    """Stream HALTED, call `at_pause` where it pauses, and return the text; raise a TransportError if it is cut."""
    body = {"model": "paid-one", "messages": [{"role": "user", "content": HALTED}], "stream": True}
    text, has_paused = "", False
    with client.stream("POST", "/v1/chat/completions", json=body) as stream:
        assert stream.status_code == 200, stream.read()
        for line in stream.iter_lines():
            if not line.startswith("data: {"):
                continue
            text += json.loads(line[6:])["choices"][0]["delta"].get("content", "")
            if "word99 " in text and not has_paused:
                has_paused = True
                at_pause()
    return text


def signal_web(arena: Arena, number: int) -> list[Process]:
    processes = [process for command, process in arena.processes().items() if f"{WEB} " in command]
    for process in processes:
        process.send(number)
    return processes


def test_killed_web_process_leaves_call_charged_in_full(
    arena: Arena, client: httpx2.Client, steady_provider: FakeProvider
):
    with pytest.raises(httpx2.TransportError):
        ask(client, lambda: signal_web(arena, signal.SIGKILL))
    steady_provider.go_on()
    assert arena.query(CALLS) == [("running", None, None)]
    arena.query("UPDATE battles_call SET lease_until = now() WHERE purpose = 'gateway' RETURNING id")
    wait_for(lambda: arena.query(CALLS) == [("lost", True, True)])
    assert arena.query("SELECT count(*) FROM gateway_exchange") == [(0,)]
    wait_for(arena.is_ready)


def test_ended_web_process_settles_what_was_answered(
    arena: Arena, client: httpx2.Client, steady_provider: FakeProvider
):
    ended: list[Process] = []
    with pytest.raises(httpx2.TransportError):
        ask(client, lambda: ended.extend(signal_web(arena, signal.SIGTERM)))
    assert wait_for_end(ended, within=120)  # in ten seconds: test_goodbyes
    steady_provider.go_on()
    wait_for(arena.is_ready)
    assert arena.query(CALLS) == [("stopped", False, False)]
    assert arena.query(TOKENS) == [(100,)]


@pytest.mark.parametrize("program", [VALKEY, POSTGRES])
def test_stream_survives_killed_service(
    arena: Arena, client: httpx2.Client, steady_provider: FakeProvider, program: str
):
    def kill() -> None:
        arena.signal(program)
        steady_provider.go_on()

    assert ask(client, kill) == f"{HALTED} "
    wait_for(arena.is_ready)
    wait_for(lambda: arena.query(CALLS) == [("done", False, False)])
    assert arena.query("SELECT count(*) FROM models_registry_spendingday WHERE reserved > 0") == [(0,)]


def test_stream_outlives_hung_valkey_and_is_settled_without_it(
    arena: Arena, client: httpx2.Client, steady_provider: FakeProvider
):
    with ExitStack() as hanging:

        def hang() -> None:
            hanging.enter_context(arena.hung(VALKEY))
            steady_provider.go_on()

        assert ask(client, hang) == f"{HALTED} "
        wait_for(lambda: arena.query(CALLS) == [("done", False, False)])
        assert arena.query("SELECT count(*) FROM models_registry_spendingday WHERE reserved > 0") == [(0,)]
        assert ask(client, lambda: None) == f"{HALTED} "  # limits let members pass, and nothing waits for Valkey
        wait_for(lambda: arena.query(CALLS) == [("done", False, False)] * 2)
    wait_for(arena.is_ready)
