"""Web processes killed during answers to other software leave no call unsettled."""

import signal
from collections.abc import Iterator

import httpx2
import pytest

from tests.fake_provider import FakeProvider
from tests.faults.battling import HALTED
from tests.faults.running import WEB, Arena
from tests.waiting import wait_for

pytestmark = pytest.mark.faults

PAID_MODEL = """
from decimal import Decimal
from accounts.models import ApiToken, Scope, User
from models_registry.models import LanguageModel, Price
free = LanguageModel.objects.get(slug="left-one")
paid = LanguageModel.objects.create(
    provider=free.provider, upstream_name="steady", slug="paid-one", name="Paid one", status="active"
)
Price.objects.create(model=paid, input_per_million=Decimal(1), output_per_million=Decimal(1))
owner = User.objects.create_user("software@example.org")
print(ApiToken.issue(user=owner, name="software", scopes=[Scope.GATEWAY])[1])
"""
CALLS = """
SELECT call.state, call.cost = charge.most, charge.cost = charge.most
FROM battles_call AS call JOIN models_registry_charge AS charge ON charge.id = call.charge_id
WHERE call.purpose = 'gateway'
"""


@pytest.fixture
def token(arena: Arena) -> Iterator[str]:
    """Token of the gateway in an arena with a paid model."""
    yield arena.shell(PAID_MODEL).strip()
    arena.query("UPDATE models_registry_languagemodel SET status = 'retired' WHERE slug = 'paid-one' RETURNING id")


def ask_and_kill(arena: Arena, token: str) -> None:
    """Kill the web processes once the answer has begun, and read on."""
    body = {"model": "paid-one", "messages": [{"role": "user", "content": HALTED}], "stream": True}
    headers = {"Authorization": f"Bearer {token}"}
    address = f"{arena.url}/v1/chat/completions"
    with httpx2.stream("POST", address, json=body, headers=headers, timeout=120) as stream:
        for line in stream.iter_lines():
            if "word9" in line:
                for command, process in arena.processes().items():
                    if WEB in command:
                        process.send(signal.SIGKILL)


def test_killed_web_process_leaves_call_charged_in_full(arena: Arena, token: str, steady_provider: FakeProvider):
    with pytest.raises(httpx2.TransportError):
        ask_and_kill(arena, token)
    steady_provider.go_on()
    assert arena.query(CALLS) == [("running", None, None)]
    arena.query("UPDATE battles_call SET lease_until = now() WHERE purpose = 'gateway' RETURNING id")
    wait_for(lambda: arena.query(CALLS) == [("lost", True, True)])
    assert arena.query("SELECT count(*) FROM gateway_exchange") == [(0,)]
    wait_for(arena.is_ready)
