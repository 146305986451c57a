from decimal import Decimal

import pytest
from django.db.models.functions import Now
from django.test import Client

from models_registry.models import Breaker
from models_registry.spending import halt_paid_calls
from models_registry.versions import set_price
from tests import make

pytestmark = pytest.mark.django_db


def test_model_payload_has_documented_fields(client: Client):
    model = make.model(
        slug="gpt", name="GPT", organization="Example", license="MIT", license_kind="open", context_length=8192,
        abilities=["images"],
    )  # fmt: skip
    set_price(model, Decimal("0.10"), Decimal(10))
    described = {
        "id": "gpt",
        "name": "GPT",
        "organization": "Example",
        "license": "MIT",
        "license_kind": "open",
        "context_length": 8192,
        "abilities": ["images"],
        "status": "active",
        "price_input": "0.1",
        "price_output": "10",
        "version": 1,
    }
    assert client.get("/api/v1/models/gpt/").json() == described
    page = client.get("/api/v1/models/").json()
    assert page == {"count": 1, "next": None, "previous": None, "results": [described]}


def test_unknown_values_are_null(client: Client):
    make.model(slug="gpt-4.5-mini")
    described = client.get("/api/v1/models/gpt-4.5-mini/").json()
    assert (described["price_input"], described["price_output"], described["context_length"]) == (None, None, None)


def test_newest_price_is_shown(client: Client):
    model = make.model(slug="gpt")
    set_price(model, Decimal(5), Decimal(10))
    set_price(model, Decimal(1), Decimal(2))
    assert client.get("/api/v1/models/gpt/").json()["price_input"] == "1"


def test_drafts_are_hidden(client: Client):
    make.model(slug="secret", status="draft")
    assert client.get("/api/v1/models/").json()["results"] == []
    response = client.get("/api/v1/models/secret/")
    assert (response.status_code, response.json()["code"]) == (404, "not_found")


def test_drawable_filter_ignores_breakers(client: Client):
    """A model with an open breaker stays listed: omitting it would reveal a model of a blind battle."""
    make.model(slug="active")
    make.model(slug="paused", status="paused")
    failing = make.model(slug="failing")
    Breaker.objects.create(model=failing, opened_at=Now(), probe_at=Now())
    listed = client.get("/api/v1/models/?drawable=true").json()
    assert [model["id"] for model in listed["results"]] == ["active", "failing"]
    assert client.get("/api/v1/models/?drawable=false").json()["count"] == 3


def test_halted_paid_models_are_not_drawable(client: Client):
    make.model(slug="free")
    set_price(make.model(slug="paid"), Decimal(1), Decimal(1))
    halt_paid_calls(by=make.user())
    listed = client.get("/api/v1/models/?drawable=true").json()
    assert [model["id"] for model in listed["results"]] == ["free"]


def test_paused_and_retired_models_stay_listed(client: Client):
    make.model(slug="paused", name="A", status="paused")
    make.model(slug="retired", name="B", status="retired")
    assert [model["status"] for model in client.get("/api/v1/models/").json()["results"]] == ["paused", "retired"]


def test_list_is_paginated_by_name(client: Client):
    for name in "CABED":
        make.model(name=name)
    page = client.get("/api/v1/models/", {"limit": 2}).json()
    assert (page["count"], [model["name"] for model in page["results"]]) == (5, ["A", "B"])
    second = client.get(page["next"]).json()
    assert [model["name"] for model in second["results"]] == ["C", "D"]


def test_list_has_fixed_query_count(client: Client, django_assert_num_queries):
    def priced() -> None:
        model = make.model()
        for price in (1, 2):
            set_price(model, Decimal(price), Decimal(price))

    priced()
    with django_assert_num_queries(3):  # count, models, prices
        client.get("/api/v1/models/")
    for _ in range(10):
        priced()
    with django_assert_num_queries(3):
        client.get("/api/v1/models/", {"limit": 200})


def test_models_api_is_read_only(client: Client):
    make.model(slug="gpt")
    assert client.post("/api/v1/models/", {}).status_code == 405
    assert client.delete("/api/v1/models/gpt/").json()["code"] == "method_not_allowed"
