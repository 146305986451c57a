"""Lists of the administration do not tell values that they do not show."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib import admin
from django.db.models import ForeignObjectRel, Model
from django.http import HttpRequest
from django.test import Client, RequestFactory

from accounts.models import Ban, User, Visitor
from tests import make

pytestmark = pytest.mark.django_db
LOOKUPS = ["", "__exact", "__startswith", "__contains", "__regex", "__gt", "__in", "__isnull"]
SECRETS = {
    "accounts.User.password", "accounts.Visitor.key", "accounts.ApiToken.digest", "accounts.Invitation.digest",
    "accounts.SignIn.session", "accounts.SignIn.issuer_session", "accounts.IdempotencyKey.body",
    "accounts.OutgoingEmail.message", "sessions.Session.session_key", "sessions.Session.session_data",
    "mfa.Authenticator.data", "socialaccount.SocialAccount.extra_data", "models_registry.Provider.key_encrypted",
    "battles.Vote.prompt_digest", "battles.VoteNetwork.network", "gateway.Exchange.session_digest",
    "gateway.Exchange.texts", "uploads.Upload.stored_as",
}  # fmt: skip


@pytest.fixture
def request_of_administrator(rf: RequestFactory, administrator: User) -> HttpRequest:
    request = rf.get("/admin/")
    request.user = administrator
    return request


def windows() -> Iterator[tuple[type[Model], Any]]:
    yield from admin.site._registry.items()


def label(field: Any) -> str:
    return f"{field.model._meta.label}.{field.name}"


def paths(model: type[Model], depth: int = 2) -> Iterator[str]:
    """Yield the names of fields, and those over up to `depth` relations, also backwards."""
    for field in model._meta.get_fields(include_hidden=True):
        if isinstance(field, ForeignObjectRel) and field.hidden:
            continue
        yield field.name
        if field.related_model is not None and depth:
            yield from (f"{field.name}__{rest}" for rest in paths(field.related_model, depth - 1))


def last_field(model: type[Model], path: str) -> Any:
    field: Any = None
    for part in path.lstrip("=^@").split("__"):
        next_field = (
            model._meta.pk if part == "pk" else next((f for f in model._meta.get_fields() if f.name == part), None)
        )
        if next_field is None:  # a lookup
            return field
        field, model = next_field, next_field.related_model or model
    return field


def declared(window: Any, request: HttpRequest) -> set[str]:
    items = [item if isinstance(item, str | type) else item[0] for item in window.get_list_filter(request)]
    fields = {item for item in items if isinstance(item, str)}
    names = {name for item in items if isinstance(item, type) for name in getattr(item, "labels", [])}
    names |= {item.parameter_name for item in items if isinstance(item, type) and hasattr(item, "parameter_name")}
    related = {path: last_field(window.model, path).related_model for path in fields}
    return fields | names | {f"{path}__{to._meta.pk.name}" for path, to in related.items() if to is not None}


@pytest.mark.slow
def test_lists_are_filtered_by_declared_fields_only(request_of_administrator: HttpRequest):
    lookup_count, is_open = 0, {}
    for model, window in windows():
        known = declared(window, request_of_administrator)
        for path in paths(model):
            lookups = [f"{path}{lookup}" for lookup in LOOKUPS]
            lookup_count += len(lookups)
            allowed = {lookup for lookup in lookups if window.lookup_allowed(lookup, "a", request_of_administrator)}
            plain = {path, f"{path}__exact", f"{path}__isnull"}
            if allowed - (plain if path in known else set()):
                is_open.setdefault(model._meta.label, allowed)
    assert lookup_count > 10_000
    assert is_open == {}


@pytest.mark.slow
def test_declared_filters_work(at_work: Client, administrator: User):
    client = Client()
    client.force_login(administrator)
    for query in ("user/?is_staff__exact=1", "ban/?lifted_at__isnull=True", "user/?groups__id__exact=1"):
        assert client.get(f"/admin/accounts/{query}").status_code == 200
    calls = "/admin/battles/call/?since=2026-01-01&mode=blind&person=user:1&error=any"
    catalogue = "/admin/models_registry/cataloguechange/?state__exact=proposed&model__provider__id__exact=1"
    for address in (
        calls,
        catalogue,
        "/admin/battles/vote/?created_at__gte=2026-01-01T00:00Z&created_at__lt=2026-02-01T00:00Z",
    ):
        assert client.get(address).status_code == 200


def test_no_search_reads_a_secret_column(request_of_administrator: HttpRequest):
    searched = {
        label(last_field(model, str(path)))
        for model, window in windows()
        for path in window.get_search_fields(request_of_administrator)
    }
    assert "accounts.User.email" in searched
    assert searched & SECRETS == set()


def test_no_list_is_ordered_by_a_secret_column(request_of_administrator: HttpRequest):
    for model, window in windows():
        for name in window.get_list_display(request_of_administrator):
            order = getattr(getattr(window, str(name), None), "admin_order_field", name)
            field = last_field(model, str(order))
            assert field is None or label(field) not in SECRETS


def test_no_list_is_referred_to_by_a_secret_column(request_of_administrator: HttpRequest):
    for model, window in windows():
        for field in model._meta.concrete_fields:
            if not field.primary_key:
                assert not window.to_field_allowed(request_of_administrator, field.name), label(field)


def test_secrets_exist():
    from django.apps import apps

    for name in SECRETS:
        app, model, field = name.split(".")
        apps.get_model(app, model)._meta.get_field(field)


@pytest.mark.parametrize(
    "query",
    [
        "battles/vote/?prompt_digest__startswith=a", "accounts/visitor/?key__startswith=a",
        "accounts/visitor/?key__regex=^a", "accounts/user/?password__startswith=pbkdf2",
        "accounts/user/?api_tokens__digest__startswith=a", "accounts/user/?sign_ins__session__session_key__gt=a",
        "accounts/ban/?user__password__contains=a", "accounts/ban/?created_by__password__contains=a",
        "accounts/visitor/?_to_field=key", "battles/vote/?battle__turns__prompt__contains=a",
        "battles/battle/?sides__model__slug=a",
    ],
)  # fmt: skip
def test_moderators_cannot_spell_a_secret_out(at_work: Client, query: str):
    make.visitor()
    assert at_work.get(f"/admin/{query}").status_code == 400


def test_autocomplete_finds_no_secrets(at_work: Client):
    key = make.visitor().visitor.key
    parameters = {"app_label": "accounts", "model_name": "ban", "field_name": "visitor", "term": key}
    response = at_work.get("/admin/autocomplete/", parameters)
    assert (response.status_code, response.json()["results"]) == (200, [])
    assert Visitor.objects.filter(key=key).exists()
    assert at_work.get("/admin/autocomplete/", {**parameters, "field_name": "reason"}).status_code == 403
    assert not Ban.objects.exists()
