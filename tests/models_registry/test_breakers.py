from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import transaction
from django.utils import timezone

from accounts.models import AuditEntry
from battles.calls import store as call_store
from battles.models import Battle, Call, Side
from battles.sweep import sweep
from battles.worker import probes
from battles.worker.runner import Engine
from common.valkey.connections import connection
from models_registry import breaker_rule
from models_registry.health import outcomes
from models_registry.models import Breaker, LanguageModel, SpendingDay
from models_registry.models.ledger import SITE
from models_registry.providers import FailureCode
from models_registry.spending import allow_paid_calls, halt_paid_calls
from models_registry.versions import set_price
from tests import make
from tests.fake_provider import FakeProvider

pytestmark = pytest.mark.django_db(transaction=True)

RATE_LIMITED, PROVIDER_ERROR = FailureCode.RATE_LIMITED, FailureCode.PROVIDER_ERROR


def fail(model: LanguageModel, *codes: FailureCode | None, retry_after: float | None = None) -> None:
    """Let calls fail by an outage, which no question has to confirm."""
    for code in codes:
        with transaction.atomic():
            outcomes.record_outcome(model, code, retry_after=retry_after, status=503)


def seconds_until_probe(breaker: Breaker) -> float:
    breaker.refresh_from_db()
    return (breaker.probe_at - timezone.now()).total_seconds()


def make_due() -> Breaker:
    Breaker.objects.open().update(probe_at=timezone.now())
    return Breaker.objects.get()


@pytest.mark.parametrize(
    ("recent", "opens"),
    [
        ("xx", False),
        ("xxx", True),
        ("xx.x", False),
        ("x.x.x.x.x", False),  # not ten calls yet
        ("x.x.x.x.x.", True),
        (".........x", False),
        ("rrrr", False),
        ("rrrrr", True),
        ("rr.rr", False),
        ("xdx", True),
        ("ddd", True),
        ("xcdcd", True),  # failures that count only among people do not part others
        ("xxccccccc", False),
    ],
)
def test_breaker_opens_by_its_rule(recent: str, opens: bool):
    assert breaker_rule.should_open(recent) is opens


def test_failing_model_is_not_drawn():
    model, other = make.model(), make.model()
    fail(model, *[PROVIDER_ERROR] * 2)
    assert LanguageModel.objects.drawable() == [model, other]
    fail(model, PROVIDER_ERROR)
    assert LanguageModel.objects.drawable() == [other]
    assert "failed repeatedly (provider_error)" in model.unavailable_reason


def test_answer_between_failures_keeps_model_drawable():
    model = make.model()
    fail(model, PROVIDER_ERROR, PROVIDER_ERROR, None, PROVIDER_ERROR, PROVIDER_ERROR)
    assert LanguageModel.objects.drawable() == [model]


def test_neutral_failures_open_no_breaker():
    model = make.model()
    for code in (FailureCode.PROMPT_TOO_LONG, FailureCode.FILTERED, FailureCode.INTERRUPTED, FailureCode.OVER_BUDGET):
        fail(model, *[code] * 12)
    assert not Breaker.objects.exists()


def test_refused_key_opens_providers_breaker():
    first, second, elsewhere = make.model(), make.model(), make.model(at="http://127.0.0.1:9/elsewhere")
    fail(first, FailureCode.REFUSED_KEY)
    fail(second, FailureCode.REFUSED_KEY, FailureCode.REFUSED_KEY)
    assert LanguageModel.objects.drawable() == [elsewhere]


def test_long_retry_after_opens_breaker_for_that_time():
    model = make.model()
    fail(model, RATE_LIMITED, retry_after=600)
    assert 590 < seconds_until_probe(Breaker.objects.get()) <= 600


def test_repeated_openings_double_the_cooldown():
    began = timezone.now()
    fail(make.model(), *[PROVIDER_ERROR] * 3)
    for seconds in (30, 60, 120, 240, 480, 960, 1920, 3600, 3600):
        breaker = Breaker.objects.get()
        assert began <= breaker.probe_at - timedelta(seconds=seconds) <= timezone.now()
        make_due()
        began = timezone.now()
        outcomes.record_probe(breaker.pk, PROVIDER_ERROR)


def test_late_calls_do_not_change_open_breaker():
    model = make.model()
    fail(model, *[PROVIDER_ERROR] * 3)
    before = Breaker.objects.values("probe_at", "openings").get()
    fail(model, None, PROVIDER_ERROR)
    assert Breaker.objects.values("probe_at", "openings").get() == before


def test_answered_probe_closes_breaker_of_failed_calls(fake_provider: FakeProvider, engine: Engine):
    make.model("honest", at=fake_provider.base_url)
    failing = make.model("html", at=fake_provider.base_url)
    healthy = LanguageModel.objects.get(upstream_name="honest")
    for _ in range(3):
        engine.answer(make.battle(healthy, failing).turns.get().pk)
    engine.probe(Breaker.objects.get().pk)  # the neutral question
    engine.probe(make_due().pk)
    assert LanguageModel.objects.drawable() == [healthy]  # the probe failed, too
    LanguageModel.objects.filter(pk=failing.pk).update(upstream_name="honest")
    engine.probe(make_due().pk)
    assert LanguageModel.objects.drawable() == [healthy, failing]
    probes = Call.objects.filter(answer=None).order_by("pk")
    assert list(probes.values_list("state", "error")) == [*[("failed", "not_a_stream")] * 2, ("done", "")]
    assert fake_provider.requests[-1]["max_tokens"] == 16
    assert Battle.objects.count() == 3


def test_due_probe_is_sent_once(fake_provider: FakeProvider, engine: Engine):
    fail(make.model("honest", at=fake_provider.base_url), *[PROVIDER_ERROR] * 3)
    breaker = make_due()
    for _ in range(5):
        engine.probe(breaker.pk)
    assert fake_provider.calls == {"honest": 1}


def test_early_probe_is_not_sent(fake_provider: FakeProvider, engine: Engine):
    fail(make.model("honest", at=fake_provider.base_url), *[PROVIDER_ERROR] * 3)
    engine.probe(Breaker.objects.get().pk)
    assert fake_provider.calls == {}


def test_sweep_wakes_due_probes_of_active_models():
    fail(make.model(), *[PROVIDER_ERROR] * 3)
    sweep()
    assert connection().llen("answers") == 0
    breaker = make_due()
    sweep()
    assert connection().llen("answers") == 1
    LanguageModel.objects.filter(pk=breaker.model_id).update(status="paused")
    sweep()
    assert connection().llen("answers") == 1


def test_probe_is_charged_and_waits_for_money(fake_provider: FakeProvider, engine: Engine):
    model = make.model("honest", at=fake_provider.base_url)
    set_price(model, Decimal(0), Decimal(10_000))
    fail(model, *[PROVIDER_ERROR] * 3)
    halt_paid_calls(by=make.user())
    engine.probe(make_due().pk)
    assert (fake_provider.calls, Call.objects.count()) == ({}, 0)
    assert 0 < seconds_until_probe(Breaker.objects.get()) <= 30
    allow_paid_calls(by=make.user())
    engine.probe(make_due().pk)
    assert SpendingDay.objects.get(account=SITE).spent == Decimal("0.03")


def test_abandoned_probe_frees_slot_and_is_charged():
    model = make.model()
    set_price(model, Decimal(0), Decimal(10_000))
    fail(model, *[PROVIDER_ERROR] * 3)
    outcomes.take_probe(make_due().pk)
    with transaction.atomic():
        call_store.create_calls([probes.plan(model)])
    assert Call.objects.holding_slots().exists()
    Call.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert not Call.objects.holding_slots().exists()
    sweep()
    day = SpendingDay.objects.get(account=SITE)
    assert (day.reserved, day.spent) == (0, Decimal("0.16"))
    assert Call.objects.get().state == "lost"


def test_answer_of_healthy_model_creates_no_breaker():
    model = make.model()
    fail(model, None, None)
    assert not Breaker.objects.exists()


def test_redraw_skips_model_with_open_breaker(fake_provider: FakeProvider, engine: Engine):
    failing = make.model("html", at=fake_provider.base_url)
    healthy, paused, fit = (make.model(f"honest-{name}", at=fake_provider.base_url) for name in "abc")
    fail(paused, *[PROVIDER_ERROR] * 3)
    battle = make.battle(healthy, failing)
    engine.answer(battle.turns.get().pk)
    assert Side.objects.get(battle=battle, position="right").model == fit


def test_open_breaker_keeps_side_of_running_battle(fake_provider: FakeProvider, engine: Engine):
    failing = make.model("html", at=fake_provider.base_url)
    staying, fit = (make.model(f"honest-{name}", at=fake_provider.base_url) for name in "ab")
    battle = make.battle(staying, failing)
    fail(staying, *[PROVIDER_ERROR] * 3)
    engine.answer(battle.turns.get().pk)
    assert list(battle.sides.order_by("position").values_list("model", flat=True)) == [staying.pk, fit.pk]


def test_closed_breaker_is_audited_and_model_drawable():
    model, administrator = make.model(), make.user()
    fail(model, *[PROVIDER_ERROR] * 3)
    assert outcomes.close(model, by=administrator)
    assert not outcomes.close(model, by=administrator)
    assert LanguageModel.objects.drawable() == [model]
    assert list(AuditEntry.objects.values_list("action", flat=True)) == ["close breaker"]
