from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from django.utils.html import escape

from accounts.models import AuditEntry
from models_registry.catalogue import discovery
from models_registry.catalogue.presets import PRESETS
from models_registry.models import Breaker, Catalogue, CatalogueChange, LanguageModel, Provider
from models_registry.providers.kinds import ProviderKind, guess_kind
from models_registry.validators import validate_endpoint
from tests import make
from tests.fake_provider import FakeProvider

pytestmark = pytest.mark.django_db
ADD = "/admin/models_registry/provider/add/"


@pytest.fixture
def admin(client: Client) -> Client:
    client.force_login(make.user("admin@example.org", is_staff=True, is_superuser=True))
    return client


def discover_page(provider: Provider) -> str:
    return f"/admin/models_registry/provider/{provider.pk}/discover/"


def offers(*names: str) -> dict[str, Any]:
    return {"data": [{"id": name, "context_length": 4096} for name in names]}


def messages_of(response: Any) -> list[str]:
    return [str(message) for message in response.context["messages"]]


def test_every_kind_has_preset_with_matching_address():
    assert {preset.kind for preset in PRESETS.values()} == set(ProviderKind)
    for preset in PRESETS.values():
        if preset.base_url:
            validate_endpoint(preset.base_url)
            assert guess_kind(preset.base_url) in (preset.kind, ProviderKind.OTHER)


def test_adding_a_provider_starts_with_presets(admin: Client):
    make.provider("https://api.groq.com/openai/v1", name="Our Groq")
    page = admin.get(ADD).content.decode()
    for key, preset in PRESETS.items():
        assert f'href="?preset={key}"' in page
        assert str(preset.label) in page
    assert page.count("You have it:") == 1
    assert "Our Groq" in page


@pytest.mark.parametrize("key", PRESETS)
def test_preset_fills_the_form(key: str, admin: Client):
    preset = PRESETS[key]
    response = admin.get(ADD, {"preset": key})
    initial = response.context["adminform"].form.initial
    assert (initial["name"], initial["base_url"], initial["needs_key"], initial["api_key_env"]) == (
        preset.name, preset.base_url, preset.needs_key, preset.api_key_env,
    )  # fmt: skip
    assert escape(str(preset.hint)) in response.content.decode()


def test_unknown_preset_shows_the_presets(admin: Client):
    assert 'href="?preset=ollama"' in admin.get(ADD, {"preset": "<script>"}).content.decode()


@pytest.mark.slow
def test_preset_leads_to_a_model_in_three_forms(admin: Client, fake_provider: FakeProvider):
    fake_provider.serves = offers("maker/one", "maker/two")
    form = {"name": "Mine", "base_url": fake_provider.base_url, "kind": "vllm"}
    added = admin.post(f"{ADD}?preset=vllm", form, follow=True)
    provider = Provider.objects.get()
    assert messages_of(added) == ["“Mine” was added. Now get its list of models."]
    assert added.request["PATH_INFO"] == discover_page(provider)
    listed = admin.post(discover_page(provider), {"ask": "1"}, follow=True)
    assert messages_of(listed) == ["The provider serves 2 models."]
    assert listed.text.count('<td data-label="context, tokens">') == 2  # on a phone a row is a block
    assert Provider.objects.get().is_answering
    chosen = admin.post(discover_page(provider), {"add": "1", "names": ["maker/two"], "status": "active"}, follow=True)
    assert messages_of(chosen) == ["1 model was added. Test it and complete its entry here."]
    assert (
        chosen.request["PATH_INFO"] == f"/admin/models_registry/languagemodel/{LanguageModel.objects.get().pk}/change/"
    )
    assert [model.slug for model in LanguageModel.objects.drawable()] == ["two"]
    actions = AuditEntry.objects.order_by("pk").values_list("action", "user__email")
    assert list(actions) == [
        ("add provider", "admin@example.org"),
        ("discover models", "admin@example.org"),
        ("add language model", "admin@example.org"),
    ]
    page = admin.get(discover_page(provider)).content.decode()
    assert 'value="maker/one"' in page
    assert 'value="maker/two"' not in page


def test_tick_all_ticks_what_the_search_shows(admin: Client, fake_provider: FakeProvider):
    fake_provider.serves = offers("maker/one", "maker/two", "other/three")
    provider = make.provider(fake_provider.base_url)
    discovery.get_catalogue(provider)
    ticked = admin.get(discover_page(provider), {"all": "1", "q": "maker"}).text
    assert (ticked.count('name="names"'), ticked.count(" checked>")) == (2, 3)  # beside the status
    assert admin.get(discover_page(provider)).text.count(" checked>") == 1


def test_discover_page_sends_no_request(admin: Client, fake_provider: FakeProvider):
    page = admin.get(discover_page(make.provider(fake_provider.base_url))).content.decode()
    assert "Get the list of models" in page
    assert not fake_provider.list_requests
    assert not Catalogue.objects.exists()


def test_list_failure_is_shown_until_next_success(admin: Client, fake_provider: FakeProvider):
    provider = make.provider(fake_provider.base_url.replace("/v1", "/status-401/v1"))
    sentence = "The provider refused the key (HTTP 401). Enter it again on the provider's page."
    assert messages_of(admin.post(discover_page(provider), {"ask": "1"}, follow=True)) == [sentence]
    assert "The provider refused the key (HTTP 401)" in admin.get(discover_page(provider)).content.decode()


@pytest.mark.parametrize("form", [{"names": []}, {"names": ["maker/unknown"]}, {"names": ["maker/one"], "status": "x"}])
def test_invalid_choice_of_offers_returns_422(form: dict[str, Any], admin: Client, fake_provider: FakeProvider):
    fake_provider.serves = offers("maker/one")
    provider = make.provider(fake_provider.base_url)
    discovery.get_catalogue(provider)
    assert admin.post(discover_page(provider), {"status": "draft", **form, "add": "1"}).status_code == 422
    assert not LanguageModel.objects.exists()


def test_long_list_is_searched_with_fixed_query_count(
    admin: Client, fake_provider: FakeProvider, django_assert_max_num_queries
):
    fake_provider.serves = offers(*(f"maker/model-{number}" for number in range(400)))
    provider = make.provider(fake_provider.base_url)
    discovery.get_catalogue(provider)
    for number in range(20):
        make.model(f"maker/model-{number}", at=provider.base_url)
    with django_assert_max_num_queries(8):
        page = admin.get(discover_page(provider)).content.decode()
    assert page.count('type="checkbox"') == 380
    matches = admin.get(discover_page(provider), {"q": "MODEL-39 maker"}).content.decode()
    assert matches.count('type="checkbox"') == 11  # 39 and 390 to 399


def test_names_from_provider_are_escaped(admin: Client, fake_provider: FakeProvider):
    fake_provider.serves = {"data": [{"id": "<script>alert(1)</script>", "name": "<img src=x onerror=alert(1)>"}]}
    provider = make.provider(fake_provider.base_url)
    discovery.get_catalogue(provider)
    page = admin.get(discover_page(provider)).content.decode()
    assert "<script>alert" not in page
    assert "<img src=x" not in page


def test_proposed_changes_are_decided_in_admin(admin: Client, fake_provider: FakeProvider):
    fake_provider.serves = offers("one", "two")
    provider = make.provider(fake_provider.base_url)
    one, _, gone = (make.model(name, at=provider.base_url) for name in ("one", "two", "gone"))
    discovery.get_catalogue(provider)
    changes = "/admin/models_registry/cataloguechange/"
    assert (
        "3 changes in its list of models wait"
        in admin.get(f"/admin/models_registry/provider/{provider.pk}/change/").content.decode()
    )
    page = admin.get(changes).content.decode()
    assert "not known → 4096" in page
    by_model = {change.model_id: change.pk for change in CatalogueChange.objects.all()}
    accept = {"action": "accept", "_selected_action": [by_model[one.pk], by_model[gone.pk]]}
    assert messages_of(admin.post(changes, accept, follow=True)) == ["2 changes were made."]
    dismiss = {"action": "dismiss", "_selected_action": list(by_model.values())}
    assert messages_of(admin.post(changes, dismiss, follow=True)) == ["1 change was dismissed."]
    contexts = LanguageModel.objects.order_by("pk").values_list("upstream_name", "context_length", "status")
    assert list(contexts) == [("one", 4096, "active"), ("two", None, "active"), ("gone", None, "retired")]
    assert AuditEntry.objects.filter(action__endswith="catalogue change").count() == 3


def test_staff_without_permission_cannot_discover_or_decide(client: Client, fake_provider: FakeProvider):
    provider = make.provider(fake_provider.base_url)
    client.force_login(make.user("staff@example.org", is_staff=True))
    assert client.get(ADD).status_code == 403
    assert client.post(discover_page(provider), {"ask": "1"}).status_code == 403
    assert client.get("/admin/models_registry/cataloguechange/").status_code == 403
    assert not fake_provider.list_requests


def test_new_key_closes_providers_breaker(admin: Client):
    provider = make.provider("https://api.example.com/v1", needs_key=True)
    Breaker.objects.create(provider=provider, opened_at=timezone.now(), probe_at=timezone.now(), reason="refused_key")
    path = f"/admin/models_registry/provider/{provider.pk}/change/"
    form = {"name": "Example", "base_url": provider.base_url, "needs_key": "on"}
    admin.post(path, form)
    assert Breaker.objects.open().exists()
    admin.post(path, {**form, "key": "sk-another-key-0987"})
    assert not Breaker.objects.open().exists()


def test_provider_pages_have_no_inline_script_or_style(admin: Client, fake_provider: FakeProvider):
    fake_provider.serves = offers("one")
    provider = make.provider(fake_provider.base_url)
    model = make.model("two", at=provider.base_url)
    discovery.get_catalogue(provider)
    for path in (
        ADD, f"{ADD}?preset=openai", discover_page(provider), "/admin/models_registry/cataloguechange/",
        f"/admin/models_registry/languagemodel/{model.pk}/test/",
    ):  # fmt: skip
        page = admin.get(path).content.decode()
        for inline in ("<script>", "<style", " style=", " onclick="):
            assert inline not in page, path


@pytest.mark.slow
def test_form_stores_only_names_that_may_be_passed_on(admin: Client):
    provider = make.provider("https://models.example.org/v1")
    page = f"/admin/models_registry/provider/{provider.pk}/change/"
    form = {"name": "Fake", "base_url": provider.base_url, "kind": "", "fetches_media": "on"}
    hostile = (
        "base_url", "api_key", "models", "fallbacks", "provider", "plugins", "transforms", "service_tier", "file_id",
        "container", "previous_response_id", "background", "store", "extra_body", "web_search_options", "user",
        "max_new_tokens", "num_predict", "chat_template", "best_of", "metadata", "apiKey", "a b", "messages",
    )  # fmt: skip
    for name in hostile:
        response = admin.post(page, {**form, "passed_names": f"vendor_flag,{name}"})
        assert "is never passed on" in response.content.decode(), name
    for prices in ('["web_search"]', '{"web_search": 0}', '{"web_search": "dear"}', '{"web_search": true}'):
        response = admin.post(page, {**form, "server_tool_prices": prices})
        assert response.status_code == 200, prices
    stored = {"passed_names": "vendor_flag, sparkle", "server_tool_prices": '{"web_search": 0.03}'}
    assert admin.post(page, {**form, **stored}).status_code == 302
    provider.refresh_from_db()
    assert (provider.passed_names, provider.fetches_media) == (["vendor_flag", "sparkle"], True)
    assert provider.server_tool_prices == {"web_search": 0.03}


def test_server_of_the_own_network_cannot_fetch(admin: Client):
    provider = make.provider("http://127.0.0.1:9/v1")
    page = f"/admin/models_registry/provider/{provider.pk}/change/"
    form = {"name": "Fake", "base_url": provider.base_url, "kind": "", "fetches_media": "on"}
    assert "would fetch addresses there" in admin.post(page, form).content.decode()
