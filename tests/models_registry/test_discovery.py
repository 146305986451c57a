from datetime import timedelta
from decimal import Decimal
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts.models import AuditEntry
from models_registry.catalogue import changes, discovery
from models_registry.models import Catalogue, CatalogueChange, LanguageModel, Price, Provider
from models_registry.providers.catalogue import CatalogueRefused
from models_registry.tasks import refresh_catalogues
from tests import make
from tests.fake_provider import FakeProvider

pytestmark = pytest.mark.django_db


def offer(name: str = "maker/one", *, prompt: str = "0.000001", completion: str = "0.000002", **more: Any) -> Any:
    pricing = {"prompt": prompt, "completion": completion}
    return {"id": name, "name": "Maker: One", "context_length": 8192, "pricing": pricing, **more}


def serve(fake_provider: FakeProvider, *offers: Any) -> Provider:
    fake_provider.serves = {"data": list(offers)}
    return make.provider(fake_provider.base_url, name="Router")


def discover(*arguments: str) -> str:
    out = StringIO()
    call_command("discover_models", *arguments, stdout=out)
    return out.getvalue()


def make_lists_outdated() -> None:
    long_ago = timezone.now() - timedelta(hours=25)
    Catalogue.objects.update(asked_at=long_ago, fetched_at=long_ago)


def proposals() -> list[tuple[str, str]]:
    waiting = CatalogueChange.objects.filter(state="proposed").order_by("pk")
    return [(change.kind, change.summary) for change in waiting]


def test_command_lists_offers(fake_provider: FakeProvider):
    provider = serve(fake_provider, offer(supported_parameters=["tools"]), {"id": "plain"})
    make.model("plain", at=provider.base_url, slug="mine")
    assert discover("router").splitlines() == [
        "maker/one  8192 tokens  $1 in, $2 out  tools",
        "plain  registered as mine",
        "Router serves 2 models. Add some with --add NAME …",
    ]


def test_list_is_cached_for_a_day(fake_provider: FakeProvider):
    serve(fake_provider, offer())
    discover("Router")
    discover("Router")
    assert len(fake_provider.list_requests) == 1
    discover("Router", "--refresh")
    assert len(fake_provider.list_requests) == 2
    make_lists_outdated()
    discover("Router")
    assert len(fake_provider.list_requests) == 3


def test_added_model_has_the_offers_details(fake_provider: FakeProvider):
    architecture = {"input_modalities": ["text", "image"], "output_modalities": ["text"]}
    serve(fake_provider, offer(architecture=architecture, hugging_face_id="maker/One"), offer("maker/two"))
    assert discover("Router", "--add", "maker/one", "--active") == "added one (active)\n"
    model = LanguageModel.objects.get()
    assert (model.name, model.organization, model.slug) == ("One", "Maker", "one")
    assert (model.status, model.context_length, model.abilities) == ("active", 8192, ["images"])
    assert (model.license_kind, str(model.price)) == ("open", "$1 in, $2 out")
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.subject, entry.user) == ("add language model", "One", None)
    discover("Router", "--add", "maker/two")
    assert LanguageModel.objects.get(upstream_name="maker/two").license_kind == "unknown"


def test_adding_again_adds_nothing(fake_provider: FakeProvider):
    serve(fake_provider, offer())
    assert discover("Router", "--add", "maker/one") == "added one (draft)\n"
    assert discover("Router", "--add", "maker/one") == ""
    assert LanguageModel.objects.count() == 1


def test_taken_slug_gets_a_suffix(fake_provider: FakeProvider):
    make.model("x", slug="one")
    make.model("x", slug="one-other")
    serve(fake_provider, offer("Maker/ONE!"))
    assert discover("Router", "--add", "Maker/ONE!") == "added one-other-2 (draft)\n"


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("ГигаЧат-2 Ещё", "gigachat-2-eshche"), ("Μέλισσα 7B", "melissa-7b"), ("ひらがな", "hiragana"),
        ("하이퍼", "haipeo"), ("Grüße à la Łódź", "grusse-a-la-lodz"), ("通义千问", "model"),
    ],
)  # fmt: skip
def test_names_in_other_scripts_give_latin_ids(fake_provider: FakeProvider, name: str, slug: str):
    serve(fake_provider, offer(name))
    discover("Router", "--add", name)
    assert LanguageModel.objects.get().slug == slug


def test_command_explains_invalid_arguments(fake_provider: FakeProvider):
    serve(fake_provider, offer())
    make.provider(fake_provider.base_url.replace("/v1", "/html/v1"), name="Page")
    for arguments, sentence in [
        (["Missing"], "There is no provider “Missing”. Known: Page, Router."),
        (["Router", "--add", "maker/one", "other"], "Router does not serve other. Nothing was added."),
        (["Page"], "The server answered with a web page. Is this the address of its API?"),
    ]:
        with pytest.raises(CommandError) as refused:
            discover(*arguments)
        assert str(refused.value) == sentence
    assert not LanguageModel.objects.exists()


def test_command_finds_provider_by_number_and_address(fake_provider: FakeProvider):
    provider = serve(fake_provider, offer())
    assert discover(str(provider.pk)) == discover(provider.base_url + "/") == discover("ROUTER")
    Provider.objects.create(name="Router", base_url="http://127.0.0.1:9/v1")
    with pytest.raises(CommandError, match="Several providers are called “Router”"):
        discover("Router")


def test_failed_refresh_keeps_the_last_list(fake_provider: FakeProvider):
    provider = serve(fake_provider, offer())
    discovery.get_catalogue(provider)
    Provider.objects.update(base_url=fake_provider.base_url.replace("/v1", "/status-503/v1"))
    provider.refresh_from_db()
    with pytest.raises(CatalogueRefused):
        discovery.get_catalogue(provider, refresh=True)
    catalogue = Catalogue.objects.get()
    assert [offer.upstream_name for offer in catalogue.offers] == ["maker/one"]
    assert catalogue.failure == "The provider reported an error (HTTP 503). Try again later."


def test_daily_refresh_proposes_differences(fake_provider: FakeProvider):
    provider = serve(fake_provider, offer())
    model = make.model("maker/one", at=provider.base_url, context_length=4096)
    make.model("maker/gone", at=provider.base_url)
    make.model("maker/retired", at=provider.base_url, status="retired")
    refresh_catalogues()
    assert proposals() == [
        ("price", "not known → $1 in, $2 out"),
        ("context", "4096 → 8192"),
        ("gone", "The provider no longer lists it. Consider retiring it."),
    ]
    model.refresh_from_db()
    assert (model.context_length, model.price) == (4096, None)


def test_repeated_refresh_sends_one_request(fake_provider: FakeProvider):
    make.model("maker/one", at=serve(fake_provider, offer()).base_url)
    refresh_catalogues()
    refresh_catalogues()
    assert len(fake_provider.list_requests) == 1
    make_lists_outdated()
    refresh_catalogues()
    assert len(fake_provider.list_requests) == 2
    assert len(proposals()) == 2


def test_refresh_skips_unavailable_and_unused_providers(fake_provider: FakeProvider):
    make.model("maker/one", at=serve(fake_provider, offer()).base_url)
    Provider.objects.update(is_answering=False)
    refresh_catalogues()
    LanguageModel.objects.update(status="retired")
    Provider.objects.update(is_answering=True)
    refresh_catalogues()
    assert not fake_provider.list_requests


def test_refresh_continues_after_a_failed_provider(fake_provider: FakeProvider):
    make.model("x", at=fake_provider.base_url.replace("/v1", "/html/v1"))
    make.model("maker/one", at=serve(fake_provider, offer()).base_url)
    refresh_catalogues()
    assert len(proposals()) == 2


def test_empty_list_proposes_nothing(fake_provider: FakeProvider):
    make.model("maker/one", at=serve(fake_provider).base_url)
    refresh_catalogues()
    assert proposals() == []


def test_accepted_price_is_added_to_the_history(fake_provider: FakeProvider):
    model = make.model("maker/one", at=serve(fake_provider, offer()).base_url, context_length=8192)
    Price.objects.create(model=model, input_per_million=Decimal("0.5"), output_per_million=2)
    refresh_catalogues()
    change = CatalogueChange.objects.get()
    assert change.summary == "$0.50 in, $2 out → $1 in, $2 out"
    administrator = make.user("admin@example.org")
    assert changes.accept(change, by=administrator)
    assert [str(price) for price in model.prices.order_by("pk")] == ["$0.5 in, $2 out", "$1 in, $2 out"]
    assert not changes.accept(change, by=administrator)
    assert not changes.dismiss(change, by=administrator)
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.user, entry.details["after"]) == (
        "accept catalogue change", administrator, {"input": "1", "output": "2"},
    )  # fmt: skip


def test_accepted_removal_retires_the_model(fake_provider: FakeProvider):
    model = make.model("maker/gone", at=serve(fake_provider, offer()).base_url, has_votes=True)
    refresh_catalogues()
    changes.accept(CatalogueChange.objects.get(), by=make.user())
    model.refresh_from_db()
    assert (model.status, model.retired_at is None) == ("retired", False)


def test_accepted_context_makes_no_new_version(fake_provider: FakeProvider):
    model = make.model("maker/one", at=serve(fake_provider, {"id": "maker/one", "context_length": 9}).base_url)
    LanguageModel.objects.update(has_votes=True)
    refresh_catalogues()
    changes.accept(CatalogueChange.objects.get(), by=make.user())
    model.refresh_from_db()
    assert (model.context_length, LanguageModel.objects.count()) == (9, 1)


def test_dismissed_change_is_proposed_again_if_different(fake_provider: FakeProvider):
    make.model("maker/one", at=serve(fake_provider, offer()).base_url, context_length=8192)
    refresh_catalogues()
    changes.dismiss(CatalogueChange.objects.get(), by=make.user())
    make_lists_outdated()
    refresh_catalogues()
    assert proposals() == []
    serve(fake_provider, offer(prompt="0.000003"))
    make_lists_outdated()
    refresh_catalogues()
    assert proposals() == [("price", "not known → $3 in, $2 out")]


def test_outdated_proposal_is_withdrawn(fake_provider: FakeProvider):
    make.model("maker/one", at=serve(fake_provider, offer("other")).base_url, context_length=8192)
    refresh_catalogues()
    assert [kind for kind, _ in proposals()] == ["gone"]
    serve(fake_provider, offer())
    make_lists_outdated()
    refresh_catalogues()
    assert [kind for kind, _ in proposals()] == ["price"]
