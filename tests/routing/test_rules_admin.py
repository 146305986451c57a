from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.db import IntegrityError, connection, transaction
from django.test import Client

from accounts.models import AuditEntry, User
from battles.models import Call, RoutingDecision
from routing.models import RoutingThresholds, Rule
from tests import make

pytestmark = pytest.mark.django_db
RULES, TRY = "/admin/routing/rule/", "/admin/routing/rule/try/"


@pytest.fixture
def client(client: Client, administrator: User) -> Client:
    client.force_login(administrator)
    return client


@pytest.fixture
def examples(db: None) -> None:
    """Add the shipped rules again: a test that empties tables deletes them."""
    Rule.objects.all().delete()
    migration = import_module("routing.migrations.0001_first_release")
    migration.add_examples(apps, SimpleNamespace(connection=connection))


def form(**values: Any) -> dict[str, Any]:
    return {"order": 5, "note": "Ours", "target": "arena", "is_active": "on", **values}


def errors(response: Any) -> dict[str, list[str]]:
    return dict(response.context["adminform"].errors)


def test_shipped_examples_are_inactive(examples: None):
    rules = list(Rule.objects.values_list("order", "needs_tools", "data_loaded", "target", "model", "is_active"))
    assert rules == [
        (10, "yes", "", "model", None, False), (20, "", "yes", "model", None, False),
        (1000, "", "", "arena", None, False),
    ]  # fmt: skip


def test_active_rule_for_one_model_names_it(client: Client, examples: None):
    example = Rule.objects.get(order=10)
    page = client.post(f"{RULES}{example.pk}/change/", form(target="model", needs_tools="yes"))
    assert errors(page) == {"__all__": ["Choose the model."]}
    with pytest.raises(IntegrityError, match="an_active_rule_for_one_model_names_it"), transaction.atomic():
        Rule.objects.filter(pk=example.pk).update(is_active=True)
    model = make.model()
    values = form(target="model", needs_tools="yes", model=model.pk)
    assert client.post(f"{RULES}{example.pk}/change/", values).status_code == 302
    example.refresh_from_db()
    assert (example.is_active, example.model) == (True, model)
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.details["target"], entry.details["model"]) == ("change rule", "model", str(model))


@pytest.mark.slow
def test_rule_with_pool_and_conditions_is_stored_and_audited(client: Client):
    one, two = make.model(slug="one"), make.model(slug="two")
    values = form(
        target="pool", pool=["one", "two"], category="coding", language="fr", min_characters=10, max_characters=90,
        dial="0.2", max_cost="0.01",
    )  # fmt: skip
    assert client.post(f"{RULES}add/", values).status_code == 302
    rule = Rule.objects.get(note="Ours")
    assert (rule.pool, rule.category, rule.language) == ([one.slug, two.slug], "coding", "fr")
    assert "category: coding, language: fr" in client.get(RULES).text
    page = client.get(f"{RULES}{rule.pk}/change/").text
    assert page.count(" selected>") >= 3
    assert AuditEntry.objects.get().details["pool"] == ["one", "two"]
    client.post(f"{RULES}{rule.pk}/delete/", {"post": "yes"})
    assert [entry.action for entry in AuditEntry.objects.order_by("pk")] == ["add rule", "delete rule"]


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"target": "pool"}, "__all__"), ({"category": "unknown"}, "category"), ({"language": "FRENCH"}, "language"),
        ({"min_characters": 9, "max_characters": 3}, "max_characters"), ({"dial": "1.5"}, "dial"),
        ({"max_cost": "-1"}, "max_cost"), ({"target": "pool", "pool": ["no-model"]}, "pool"),
    ],
)  # fmt: skip
def test_impossible_rule_is_refused(client: Client, values: dict[str, Any], field: str):
    page = client.post(f"{RULES}add/", form(**values))
    assert field in errors(page)
    assert not Rule.objects.filter(note="Ours").exists()


def test_trial_shows_decision_and_stores_nothing(client: Client, settings: Any):
    settings.ARENA_ROUTER = "battles.auto.port.heaviest_weight"
    for name, weight in (("light", 1), ("heavy", 5)):
        make.model(slug=name, name=name.title(), weight=weight)
    assert client.get(TRY).status_code == 200
    page = client.post(TRY, {"text": "Write a Python function", "dial": "0.5", "allow_battle": "on", "tools": "on"})
    trial = page.context["trial"]
    assert (trial.target, [str(model) for model in trial.routed.models]) == ("one model", ["Heavy"])
    assert "the largest weight" in page.text
    assert '<th scope="row">Light</th>' in page.text
    assert (RoutingDecision.objects.count(), Call.objects.count()) == (0, 0)


@pytest.mark.parametrize(
    ("values", "field"),
    [({"text": ""}, "text"), ({"dial": "1e400"}, "dial"), ({"dial": "nan"}, "dial"), ({"text": "x" * 20_001}, "text")],
)
def test_bad_trial_is_refused_with_422(client: Client, values: dict[str, str], field: str):
    page = client.post(TRY, {"text": "Hello", "dial": "0.5", **values})
    assert (page.status_code, list(page.context["form"].errors)) == (422, [field])


def test_trial_without_models_says_so(client: Client, settings: Any):
    settings.ARENA_ROUTER = "battles.auto.port.heaviest_weight"
    page = client.post(TRY, {"text": "Hello", "dial": "0.5"})
    assert page.status_code == 422
    assert page.context["form"].non_field_errors()


def test_trial_needs_permission(client: Client):
    client.force_login(make.user("staff@example.org", is_staff=True))
    assert client.get(TRY).status_code == 403


def test_thresholds_are_one_row_and_audited(client: Client):
    address = "/admin/routing/routingthresholds/"
    values = {"min_confidence": "0.7", "max_explored_share": "0.1", "stay_margin": "0.2"}
    assert client.post(f"{address}add/", values).status_code == 302
    assert RoutingThresholds.objects.get().max_explored_share == 0.1
    assert client.get(f"{address}add/").url == f"{address}1/change/"
    assert "max_explored_share" in errors(client.post(f"{address}1/change/", {**values, "max_explored_share": "2"}))
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.details["min_confidence"]) == ("add routing thresholds", 0.7)
