from datetime import datetime
from decimal import Decimal

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test import Client
from django.test.utils import CaptureQueriesContext

from common.cache import reset_all
from models_registry import versions
from models_registry.models import Breaker, LanguageModel
from models_registry.profiles import Profile, change_profile
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
        "size_b": None,
        "icon": None,
        "energy": None,
        "provider": "Fake",
        "retired_at": None,
        "prices": [{"input": "0.1", "output": "10", "valid_from": described_time(model.prices.get().valid_from)}],
        "setup": {"model": "honest", "system_prompt": "", "parameters": {}},
        "versions": [
            {
                "id": "gpt", "name": "GPT", "version": 1, "status": "active", "retired_at": None, "changes": [],
                "created_at": described_time(model.created_at),
            }
        ],
    }  # fmt: skip
    assert client.get("/api/v1/models/gpt/").json() == described
    page = client.get("/api/v1/models/").json()
    assert page == {"count": 1, "next": None, "previous": None, "results": [described]}


def described_time(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def test_versions_say_what_changed_unless_hidden(client: Client):
    first = make.model(slug="gpt", has_votes=True, parameters={"temperature": 0.5, "seed": 1})
    set_price(first, Decimal(1), Decimal(2))
    set_price(first, Decimal(3), Decimal(4))
    second = versions.revise(first.pk, {"system_prompt": "Be brief.", "parameters": {"temperature": 1, "seed": 1}})
    LanguageModel.objects.filter(pk=second.pk).update(has_votes=True)
    third = versions.revise(second.pk, {"upstream_name": "secret-model"})
    change_profile(third.pk, Profile(hides_setup=True))
    make.model(slug="gpt-draft", family="gpt", version=4, status="draft")
    changes = ["system_prompt", "parameters.temperature"]
    for slug, prompt in (("gpt", ""), ("gpt-v2", "Be brief."), ("gpt-v3", None)):
        card = client.get(f"/api/v1/models/{slug}/").json()
        assert [price["input"] for price in card["prices"]] == ["3", "1"]
        listed = [(version["id"], version["changes"]) for version in card["versions"]]
        assert listed == [("gpt-v3", None), ("gpt-v2", changes), ("gpt", [])]
        assert (card["setup"] and card["setup"]["system_prompt"]) == prompt
    page = client.get("/models/").content.decode()
    assert page.count("<article") == 1
    assert "secret-model" not in page
    assert "Changed: system prompt, temperature" in " ".join(page.split())
    assert "The operator does not publish what changed." in page
    assert "Be brief." in client.get("/leaderboard/models/gpt-v2/").content.decode()


@pytest.mark.slow
def test_model_list_is_searched_paged_and_has_fixed_queries(client: Client):
    def queries(address: str) -> int:
        reset_all()
        with CaptureQueriesContext(connection) as captured:
            assert client.get(address).status_code == 200
        return len(captured)

    make.model(slug="only", name="Only One", organization="Mint")
    pages, lists = queries("/models/"), queries("/api/v1/models/")
    for number in range(60):
        set_price(make.model(slug=f"m{number}", name=f"Other {number:02}"), Decimal(number), Decimal(1))
    assert (queries("/models/"), queries("/api/v1/models/")) == (pages, lists)
    first, second, one_match, no_match = (
        client.get(f"/models/{query}").content.decode()
        for query in ("", "?page=2", "?search=mint+only", "?search=mint+other")
    )
    assert [page.count("<article") for page in (first, second, one_match, no_match)] == [50, 11, 1, 0]
    assert "No model matches" in no_match


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
    client.get("/api/v1/models/")  # reads the limits
    with django_assert_num_queries(5):  # count, models and versions with prices
        client.get("/api/v1/models/")
    for _ in range(10):
        priced()
    client.get("/api/v1/models/")  # reads the limits
    with django_assert_num_queries(5):
        client.get("/api/v1/models/", {"limit": 200})


def test_models_api_is_read_only(client: Client):
    make.model(slug="gpt")
    assert client.post("/api/v1/models/", {}).status_code == 405
    assert client.delete("/api/v1/models/gpt/").json()["code"] == "method_not_allowed"
