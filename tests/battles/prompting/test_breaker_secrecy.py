"""Refusals do not reveal whose breaker is open: it would identify a model that failed in a blind battle."""

from decimal import Decimal

import pytest
from django.db import transaction
from django.test import Client

from battles.models import Battle, Side
from models_registry.health import outcomes
from models_registry.models import LanguageModel
from models_registry.providers import FailureCode
from models_registry.versions import set_price
from tests import make
from tests.uploads import pictures
from uploads.actions import keep_upload
from uploads.extraction import read_upload

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _no_limits(settings) -> None:
    settings.ARENA_LIMITS = dict.fromkeys(settings.ARENA_LIMITS, "off")


@pytest.fixture
def models() -> list[LanguageModel]:
    """Return models of different sizes that accept images; the first has an open breaker."""
    models = [
        make.model(slug=f"m{number}", at=f"http://127.0.0.1:9/{number}/v1", size_b=number + 1, abilities=["images"])
        for number in range(4)
    ]
    with transaction.atomic():
        outcomes.record_outcome(models[0], FailureCode.RATE_LIMITED, retry_after=600)
    assert LanguageModel.objects.drawable() == models[1:]
    return models


def start(client: Client, **body: object) -> int:
    response = client.post("/api/v1/sessions/", {"prompt": "hello", **body}, content_type="application/json")
    return response.status_code


@pytest.mark.parametrize(
    ("mode", "others"), [("direct", []), ("side_by_side", ["m1"]), ("side_by_side", []), ("compare", ["m1", "m2"])]
)
def test_model_with_open_breaker_can_be_chosen(client: Client, models, mode: str, others: list[str]):
    assert start(client, mode=mode, models=["m0", *others]) == 201


def test_narrowed_draw_is_not_refused_for_an_open_breaker(client: Client, models):
    for _ in range(8):
        assert start(client, filters={"max_size_b": 3}) == 201
    assert {side.model.slug for side in Side.objects.select_related("model")} == {"m0", "m1", "m2"}


def test_wide_draw_leaves_model_with_open_breaker_out(client: Client, models):
    for _ in range(8):
        assert start(client, filters={"max_size_b": 4}) == 201
        assert start(client) == 201
    assert {side.model.slug for side in Side.objects.select_related("model")} == {"m1", "m2", "m3"}


def test_picture_is_not_refused_for_an_open_breaker(models):
    LanguageModel.objects.filter(slug="m3").update(abilities=[])
    actor = make.visitor()
    picture = keep_upload(actor=actor, content=pictures.picture(), name="red.png")
    read_upload(picture.pk)
    assert start(make.browser(actor), attachments=[picture.public_id]) == 201


def test_budget_is_not_compared_with_healthy_models_alone(client: Client, models, settings):
    settings.ARENA_BUDGETS = {**settings.ARENA_BUDGETS, "visitor": 1}
    for _ in range(2):
        expensive = make.model()
        set_price(expensive, Decimal(0), Decimal(999_999))
        with transaction.atomic():
            outcomes.record_outcome(expensive, FailureCode.RATE_LIMITED, retry_after=600)
    assert start(client) == 429
    assert not Battle.objects.exists()
