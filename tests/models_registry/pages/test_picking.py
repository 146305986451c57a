"""The picker of models, which every page that chooses one has."""

import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.test import Client
from django.utils import timezone

from models_registry import picking
from models_registry.models import Breaker, LanguageModel
from models_registry.picking import read_picker
from models_registry.spending import allow_paid_calls, halt_paid_calls
from models_registry.versions import set_price
from tests import make

pytestmark = pytest.mark.django_db

PAUSED, NO_KEY, NO_SERVER, HALTED = (str(gap) for gap in picking.GAPS.values())


@pytest.fixture
def models() -> dict[str, LanguageModel]:
    """Three models that can be chosen and one for each reason against it."""
    ready = [
        make.model(slug="ant", name="Ant", organization="Mint"),
        make.model(slug="bee", name="Bee", organization="Mint", abilities=["images"]),
        make.model(slug="cat", name="Cat", organization="Hive"),
    ]
    set_price(ready[0], Decimal("0.5"), Decimal(2))
    make.model(slug="resting", name="Resting", status="paused")
    make.model(slug="gone", name="Gone", status="retired")
    for slug, fields in (("keyless", {"needs_key": True}), ("silent", {"is_answering": False})):
        provider = make.provider(f"http://127.0.0.1:9/{slug}/v1", **fields)
        LanguageModel.objects.create(provider=provider, slug=slug, name=slug.title(), status="active")
    return {model.slug: model for model in ready}


def test_models_not_set_up_are_last_with_their_reason(models):
    rows = read_picker("several").rows
    assert [(row.model.slug, row.gap) for row in rows] == [
        ("ant", ""), ("bee", ""), ("cat", ""), ("keyless", NO_KEY), ("resting", PAUSED), ("silent", NO_SERVER),
    ]  # fmt: skip


def test_open_breaker_and_full_budget_change_no_picker(models, settings):
    before = read_picker("several")
    Breaker.objects.create(model=models["ant"], opened_at=timezone.now(), probe_at=timezone.now() + timedelta(hours=1))
    models["ant"].provider.daily_budget = Decimal(0)
    models["ant"].provider.save()
    assert read_picker("several") == before


def test_halt_of_paid_calls_marks_paid_models(models, client: Client):
    halt_paid_calls(by=make.user())
    rows = read_picker("one", chosen=["ant"]).rows
    marks = [(row.model.slug, row.gap) for row in rows if row.gap in ("", HALTED)]
    assert marks == [("bee", ""), ("cat", ""), ("ant", HALTED)]
    assert [row.model.slug for row in rows if row.is_chosen] == ["bee"]
    assert client.get("/models/").text.count(HALTED) == 1
    allow_paid_calls(by=make.user("another"))
    assert HALTED not in {row.gap for row in read_picker("one").rows}


def test_search_finds_names_organizations_and_pictures(models):
    def found(search: str) -> list[str]:
        return [row.model.slug for row in read_picker("several", search=search).rows]

    assert (found("CAT"), found("mint"), found("mint images"), found("a\x00b")) == (
        ["cat"],
        ["ant", "bee"],
        ["bee"],
        [],
    )


def test_chosen_models_stay_while_others_are_searched(models):
    picker = read_picker("several", search="cat", chosen=["bee", "resting", "none"])
    assert [(row.model.slug, row.is_chosen) for row in picker.rows] == [("bee", True), ("cat", False)]


def test_picker_of_one_has_a_choice_from_the_start(models):
    assert read_picker("one").chosen == read_picker("one", chosen=["keyless"]).chosen == models["ant"]
    assert read_picker("one", chosen=["cat"]).chosen == models["cat"]
    assert read_picker("right").chosen is None


def test_large_arena_has_few_rows_and_a_page_with_all(models, monkeypatch, client: Client):
    monkeypatch.setattr(picking, "MAX_ROWS", 2)
    picker = read_picker("several", chosen=["cat"])
    assert ([row.model.slug for row in picker.rows], picker.found) == (["cat", "ant", "bee"], 6)
    assert len(read_picker("several", shows_all=True).rows) == 6
    assert 'href="/?all=1&amp;mode=compare"' in client.get("/?mode=compare").text
    every = client.get("/?mode=compare&all=1").text
    assert len(re.findall('name="models"', every)) == 6
    assert len(re.findall('name="a"', client.get("/leaderboard/compare/").text)) == 2


def test_rows_show_facts_and_cannot_be_chosen_without_a_key(models, client: Client):
    rows = " ".join(client.get("/models/choices/?picker=several&find=t&models=ant").text.split())
    assert 'name="models" value="ant" checked' in rows
    assert "<bdi>Mint</bdi> · <bdi>$0.50 / $2</bdi>" in rows
    assert re.search(r'value="silent" disabled> .*?not set up: its server has not answered yet', rows)
    assert [client.get(f"/models/choices/?picker={key}").status_code for key in ("", "none", "ids")] == [404, 404, 200]


def test_head_to_head_offers_retired_models(models):
    assert [row.model.slug for row in read_picker("first", chosen=["ant"], search="gone").rows] == ["ant", "gone"]


def test_model_page_marks_models_without_a_key(models, client: Client):
    cards = " ".join(client.get("/models/").text.split())
    marks = re.findall(r'<bdi>(\w+)</bdi></a> <span class="badge">([^<]+)</span>', cards)
    assert marks == [("Gone", "retired"), ("Keyless", NO_KEY), ("Resting", PAUSED), ("Silent", NO_SERVER)]
