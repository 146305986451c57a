"""The page “What your servers send”: from it alone, wrongly set-up servers are put right."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from battles.models import Call
from battles.worker.runner import Engine
from models_registry.health import oddities
from models_registry.models import LanguageModel, Provider, RequestRepair
from models_registry.providers.oddities import Oddity
from tests import make
from tests.fake_provider import FakeProvider

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = "/admin/models_registry/languagemodel/servers/"
WELL = "Nothing is wrong with its set-up."


def shown(client: Client, model: LanguageModel) -> list[tuple[str, str]]:
    """Return the problems on the model's page: sentence and link."""
    page = client.get(PAGE, {"model": model.pk}).content.decode()
    items = re.findall(
        r'<li>\s*([^<]+?)\s*<a href="([^"]+)">', page.partition('class="problems"')[2].partition("</ul>")[0]
    )
    assert bool(items) is (WELL not in page)
    return [(" ".join(unescape(sentence).split()), unescape(url)) for sentence, url in items]


def press_test_now(client: Client, engine: Engine, model: LanguageModel) -> None:
    """Press the page's button, as a worker answers it."""
    page = client.get(PAGE, {"model": model.pk}).content.decode()
    [prompt] = re.findall(r'name="prompt" value="([^"]+)"', page)
    sent = client.post(f"/admin/models_registry/languagemodel/{model.pk}/test/", {"prompt": prompt})
    engine.test_model(sent["Location"].rstrip("/").rpartition("/")[2])


def fill_in(client: Client, url: str, **changes: object) -> None:
    """Change fields of the form that a link leads to."""
    address, _, anchor = url.partition("#")
    page = client.get(address)
    form = page.context["adminform"].form
    assert f'id="{anchor}"' in page.content.decode()
    data = {}
    for formset in page.context["inline_admin_formsets"]:
        data |= {
            f"{formset.formset.prefix}-{name}": formset.formset.management_form[name].value()
            for name in ("TOTAL_FORMS", "INITIAL_FORMS", "MIN_NUM_FORMS", "MAX_NUM_FORMS")
        }
    data |= {field.html_name: field.value() for field in form if field.value() not in (None, False)}
    saved = client.post(address, data | changes)
    assert saved.status_code == 302, saved.context["adminform"].form.errors


def provider_at(url: str, **fields: object) -> Provider:
    return Provider.objects.create(
        name=f"Provider {Provider.objects.count()}", base_url=url, needs_key=False, is_answering=True,
        probed_at=timezone.now(), **fields,
    )  # fmt: skip


def test_six_wrong_servers_are_put_right_from_the_page(
    admin_client: Client, engine: Engine, fake_provider: FakeProvider
):
    at = fake_provider.base_url
    root = at.removesuffix("/v1")

    def model(name: str, provider: Provider, **fields: object) -> LanguageModel:
        made = make.model(name, at=at, parameters={"max_tokens": 400}, **fields)
        LanguageModel.objects.filter(pk=made.pk).update(provider=provider)
        return LanguageModel.objects.get(pk=made.pk)

    fake_provider.serves = {"data": [{"id": "honest-short", "max_model_len": 4096}]}
    short = provider_at(f"{root}/v1", kind="vllm", api_key_env="SHORT")
    wrong: list[tuple[LanguageModel, str, dict[str, object]]] = [
        (model("thinks-aloud", provider_at(f"{root}/a/v1", kind="vllm")), "start it with a reasoning parser",
         {"parameters": '{"max_tokens": 400, "chat_template_kwargs": {"enable_thinking": false}}'}),
        (model("picky-max_tokens", provider_at(f"{root}/b/v1")), "write “max_completion_tokens”",
         {"parameters": '{"max_completion_tokens": 400}'}),
        (model("honest", provider_at(root)), "most servers need “/v1”", {"base_url": f"{root}/e/v1"}),
        (model("honest-short", short, context_length=100_000), "names 4096 tokens", {"context_length": "4096"}),
        (model("buffered", provider_at(f"{root}/c/v1")), "turn streaming on", {"base_url": f"{root}/direct/v1"}),
        (model("picky-max_tokens", provider_at(f"{root}/d/v1", kind="vllm")), "such as OpenAI", {"kind": "openai"}),
    ]  # fmt: skip
    admin_client.post(f"/admin/models_registry/provider/{short.pk}/discover/", {"ask": "1"})
    for set_up, words, changes in wrong:
        press_test_now(admin_client, engine, set_up)
        [(sentence, url)] = shown(admin_client, set_up)
        assert words in sentence
        fill_in(admin_client, url, **changes)
        press_test_now(admin_client, engine, LanguageModel.objects.get(pk=set_up.pk))
        assert shown(admin_client, set_up) == [], set_up


def test_hosted_model_without_price_and_key_is_put_right(
    admin_client: Client, engine: Engine, fake_provider: FakeProvider
):
    model = make.model("honest", at=fake_provider.base_url)
    Provider.objects.update(needs_key=True, api_key_env="")
    (key, key_url), (price, price_url) = shown(admin_client, model)
    assert "enter it" in key
    assert "enter its price" in price
    fill_in(admin_client, key_url, key="sk-a-key-of-some-length")
    fill_in(
        admin_client, price_url,
        **{"prices-TOTAL_FORMS": "1", "prices-0-input_per_million": "1", "prices-0-output_per_million": "2"},
    )  # fmt: skip
    press_test_now(admin_client, engine, model)
    assert shown(admin_client, model) == []


def fail(model: LanguageModel, code: str, *, ago: timedelta, purpose: str = "answer", **fields: object) -> None:
    now = timezone.now()
    Call.objects.create(
        model=model, purpose=purpose, attempt=1, fence=1, state="failed" if code else "done", error=code,
        started_at=now - ago, lease_until=now, **fields,
    )  # fmt: skip


def test_failures_of_battles_are_shown_an_hour_late(admin_client: Client):
    model = make.model()
    fail(model, "unknown_model", ago=timedelta(minutes=50))
    assert "Nothing is known yet" in admin_client.get(PAGE, {"model": model.pk}).content.decode()
    fail(model, "unknown_model", ago=timedelta(hours=2, minutes=1))
    assert "does not serve this name" in admin_client.get(PAGE, {"model": model.pk}).content.decode()
    fail(model, "", ago=timedelta(hours=2), finish_reason="stop")
    assert WELL in admin_client.get(PAGE, {"model": model.pk}).content.decode()


def test_failure_of_a_gateway_call_is_shown_at_once(admin_client: Client):
    model = make.model()
    fail(model, "unknown_model", ago=timedelta(minutes=1), purpose="gateway")
    [(_, url)] = shown(admin_client, model)
    assert url.endswith(f"/{model.pk}/change/#id_upstream_name")


def test_answers_that_all_end_by_length_are_named(admin_client: Client):
    model = make.model()
    for _ in range(5):
        fail(model, "", ago=timedelta(hours=3), finish_reason="length")
    [(sentence, _)] = shown(admin_client, model)
    assert "raise “max_tokens”" in sentence


def test_refusal_below_the_context_is_named(admin_client: Client):
    model = make.model(context_length=32_000)
    fail(model, "prompt_too_long", ago=timedelta(hours=3), prompt_tokens=5_000)
    [(sentence, _)] = shown(admin_client, model)
    assert "about 5000 tokens as too long, though 32000 are entered" in sentence


def test_kept_repair_is_no_problem_any_more(admin_client: Client):
    model = make.model(parameters={"temperature": 0.5})
    repair = RequestRepair.objects.create(
        model=model, repair="-temperature", state="confirmed", expires_at=timezone.now() + timedelta(hours=3)
    )
    assert "refuses “temperature”" in shown(admin_client, model)[0][0]
    RequestRepair.objects.filter(pk=repair.pk).update(expires_at=None)
    page = admin_client.get(PAGE, {"model": model.pk}).content.decode()
    assert 'class="problems"' not in page
    assert "without it, this is another contestant" in page


def test_list_of_many_models_has_a_fixed_query_count(admin_client: Client):
    noisy = make.model(name="Zebra")
    oddities.record(noisy.pk, [Oddity.HEARTBEAT], is_late=False)
    oddities.flush()

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            page = admin_client.get(PAGE).content.decode()
        assert page.index("Zebra") < page.index("Model 1")
        return len(captured)

    make.model(name="Model 1")
    few = queries()
    for number in range(60):
        make.model(name=f"Model 1{number}")
    assert queries() == few
    assert "Page 1 of 2" in admin_client.get(PAGE).content.decode()
    assert "Zebra" not in admin_client.get(PAGE, {"page": 2}).content.decode()
    assert "Zebra" in admin_client.get(PAGE, {"q": "zeb"}).content.decode()


def test_page_without_models_says_what_to_do(admin_client: Client):
    assert "Add a provider" in admin_client.get(PAGE).content.decode()
    assert "No model is found." in admin_client.get(PAGE, {"model": 7}).content.decode()


def test_page_is_linked_from_list_model_and_dashboard(admin_client: Client):
    model = make.model()
    assert PAGE in admin_client.get("/admin/").content.decode()
    assert PAGE in admin_client.get("/admin/models_registry/languagemodel/").content.decode()
    page = admin_client.get(f"/admin/models_registry/languagemodel/{model.pk}/change/").content.decode()
    assert f"{PAGE}?model={model.pk}" in page


def test_page_needs_the_right_to_see_models(client: Client):
    client.force_login(make.user(is_staff=True))
    assert client.get(PAGE).status_code == 403
