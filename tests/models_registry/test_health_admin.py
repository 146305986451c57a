from decimal import Decimal

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import AuditEntry
from battles.admin.call_statistics import CallStatistics, get_call_statistics
from battles.calls.values import CallResult
from battles.models import Call
from battles.worker import turn_store
from models_registry.health import outcomes
from models_registry.models import Charge, LanguageModel, PaidCallsHalt
from models_registry.models.ledger import are_paid_calls_halted, today
from models_registry.providers import Completion, FailureCode
from models_registry.versions import set_price
from tests import make
from tests.turn_steps import claim_turn, store_answer

pytestmark = pytest.mark.django_db

MODELS = "/admin/models_registry/languagemodel/"
SPENDING = "/admin/models_registry/charge/"
A_CENT_A_TOKEN = Decimal(10_000)


@pytest.fixture
def admin(client: Client) -> Client:
    client.force_login(make.user(is_staff=True, is_superuser=True))
    return client


@pytest.fixture
def moderator(client: Client) -> Client:
    client.force_login(make.user(is_staff=True))
    return client


def broken_model() -> LanguageModel:
    model = make.model()
    for _ in range(3):
        with transaction.atomic():
            outcomes.record_outcome(model, FailureCode.PROVIDER_ERROR, status=503)
    return model


def answer(model: LanguageModel, result: CallResult) -> None:
    claimed = claim_turn(make.battle(model, make.model()).turns.get().pk)
    store_answer(claimed, turn_store.begin_calls(claimed)[0], result)


def test_statistics_summarize_calls_of_a_model():
    model = make.model()
    for milliseconds in (100, 200, 300):
        finish = Completion("length" if milliseconds == 300 else "stop", 1, 1)
        answer(model, CallResult(["hello"], completion=finish, first_token_ms=milliseconds, total_ms=milliseconds * 10))
    answer(model, CallResult(error=FailureCode.EMPTY, total_ms=5))
    answer(model, CallResult(error=FailureCode.FILTERED, total_ms=5))
    assert get_call_statistics([model.pk])[model.pk] == CallStatistics(
        calls=5, errors=2, empty=1, truncated=1, refused=1,
        first_p50=200, first_p95=290, total_p50=2000, total_p95=2900,
    )  # fmt: skip
    assert get_call_statistics([model.pk])[model.pk].error_rate == "40 %"


@pytest.mark.slow
def test_model_page_shows_and_closes_breaker(admin: Client):
    model = broken_model()
    answer(model, CallResult(["hello"], completion=Completion("stop", 1, 1), first_token_ms=120, total_ms=1))
    page = admin.get(f"{MODELS}{model.pk}/change/").content.decode()
    assert "It failed repeatedly (provider_error)" in page
    assert "120, 120" in page
    admin.post(f"{MODELS}{model.pk}/close-breaker/")
    assert "It is healthy." in admin.get(f"{MODELS}{model.pk}/change/").content.decode()
    type(model.provider).objects.update(needs_key=True)
    page = admin.get(f"{MODELS}{model.pk}/change/").content.decode()
    assert ("Its key is missing." in page, "It is healthy." in page) == (True, False)
    assert AuditEntry.objects.get().action == "close breaker"


@pytest.mark.slow
def test_model_page_activates_and_pauses(admin: Client):
    model = make.model(status="draft")
    for verb, status, offered in (("activate", "active", "pause"), ("pause", "paused", "activate")):
        assert f"/{model.pk}/{verb}/" in admin.get(f"{MODELS}{model.pk}/change/").content.decode()
        page = admin.post(f"{MODELS}{model.pk}/{verb}/", follow=True).content.decode()
        assert f"/{model.pk}/{offered}/" in page
        model.refresh_from_db()
        assert (model.status, AuditEntry.objects.latest("pk").action) == (status, f"set status {status}")


def test_staff_without_permission_cannot_change_health(moderator: Client):
    model = broken_model()
    assert moderator.post(f"{MODELS}{model.pk}/close-breaker/").status_code == 403
    assert moderator.post(f"{MODELS}{model.pk}/pause/").status_code == 403
    assert moderator.post(f"{MODELS}{model.pk}/activate/").status_code == 403
    assert moderator.post(f"{SPENDING}paid-calls/", {"halt": "1"}).status_code == 403
    assert model.unavailable_reason
    assert not PaidCallsHalt.objects.exists()


@pytest.mark.slow
def test_list_of_models_has_fixed_query_count(admin: Client):
    broken_model()
    with CaptureQueriesContext(connection) as few:
        admin.get(MODELS)
    for _ in range(10):
        set_price(broken_model(), Decimal(0), A_CENT_A_TOKEN)
    with CaptureQueriesContext(connection) as many:
        page = admin.get(MODELS).content.decode()
    assert page.count("It failed repeatedly") == 11
    assert len(many) <= len(few) + 1  # one more asks whether paid calls are halted


def test_spending_page_uses_prices_of_the_calls(admin: Client):
    model = make.model(parameters={"max_tokens": 9})
    set_price(model, Decimal(0), A_CENT_A_TOKEN)
    answer(model, CallResult(["a"], completion=Completion("stop", 1, 4)))
    set_price(model, Decimal(0), A_CENT_A_TOKEN * 5)
    answer(model, CallResult(["a"], completion=Completion("stop", 1, 4)))
    turn_store.begin_calls(claim_turn(make.battle(model, make.model()).turns.get().pk))
    [row] = Charge.objects.totals(today(), "model__name")
    assert (row["name"], row["calls"], row["spent"], row["reserved"]) == (
        model.name, 3, Decimal("0.24"), Decimal("0.45"),
    )  # fmt: skip
    assert "0.24000000" in admin.get(SPENDING).content.decode()
    assert "$0.24" in admin.get("/admin/models_registry/provider/").content.decode()
    assert {call.cost for call in Call.objects.exclude(cost=None)} == {Decimal("0.04"), Decimal("0.20")}


def test_kill_switch_button_is_audited(admin: Client):
    assert "Halt every call to a paid model" in admin.get(SPENDING).content.decode()
    admin.post(f"{SPENDING}paid-calls/", {"halt": "1"})
    admin.post(f"{SPENDING}paid-calls/", {"halt": "1"})
    assert "Calls to paid models are halted." in admin.get(SPENDING).content.decode()
    admin.post(f"{SPENDING}paid-calls/", {"allow": "1"})
    assert not PaidCallsHalt.objects.exists()
    assert list(AuditEntry.objects.order_by("pk").values_list("action", flat=True)) == [
        "halt paid calls",
        "allow paid calls",
    ]


def test_provider_form_saves_budget_and_call_limit(admin: Client):
    provider = make.provider("http://127.0.0.1:9/v1")
    form = {
        "name": "Fake", "base_url": provider.base_url, "kind": "", "calls_at_once": "4", "daily_budget": "12.50",
    }  # fmt: skip
    admin.post(f"/admin/models_registry/provider/{provider.pk}/change/", form)
    provider.refresh_from_db()
    assert (provider.calls_at_once, provider.daily_budget) == (4, Decimal("12.50"))


def test_kill_switch_refuses_get(admin: Client):
    assert admin.get(f"{SPENDING}paid-calls/").status_code == 405
    assert not are_paid_calls_halted()
