from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.test import Client

from accounts.models import AuditEntry
from models_registry.models import LanguageModel, Price, Provider, budgets
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(client: Client) -> Client:
    client.force_login(make.user("admin@example.org", is_staff=True, is_superuser=True))
    return client


def provider_form(**fields: Any) -> dict[str, Any]:
    return {"name": "Example", "base_url": "https://api.example.com/v1", "needs_key": "on", **fields}


def model_form(
    model: LanguageModel | None = None, *, price: tuple[str, str] | None = None, **fields: Any
) -> dict[str, Any]:
    """Return the model's form data with `fields` changed."""
    form = {
        "name": "GPT", "slug": "gpt", "status": "active", "weight": "1", "upstream_name": "gpt-6",
        "parameters": "{}", "license_kind": "open",
        "prices-TOTAL_FORMS": "1" if price else "0", "prices-INITIAL_FORMS": "0",
    }  # fmt: skip
    if model is not None:
        form |= {
            "name": model.name, "status": model.status, "provider": model.provider_id,
            "upstream_name": model.upstream_name, "license_kind": model.license_kind,
        }  # fmt: skip
    if price:
        form |= {"prices-0-input_per_million": price[0], "prices-0-output_per_million": price[1]}
    return {**form, **fields}


def page_of(row: LanguageModel | Provider) -> str:
    return f"/admin/models_registry/{row._meta.model_name}/{row.pk}/change/"


def messages_after(admin: Client, path: str, form: dict[str, Any]) -> list[str]:
    response = admin.post(path, form, follow=True)
    return [str(message) for message in response.context["messages"]]


def test_provider_and_model_are_created_in_two_forms(admin: Client):
    admin.post("/admin/models_registry/provider/add/", provider_form(base_url="https://api.example.com/v1/"))
    provider = Provider.objects.get()
    assert (provider.base_url, provider.key_encrypted) == ("https://api.example.com/v1", None)
    form = model_form(
        provider=provider.pk, price=("0.1", "2"), aliases="chatty, gepetto", abilities=["images"],
        parameters='{"temperature": 0.5}',
    )  # fmt: skip
    admin.post("/admin/models_registry/languagemodel/add/", form)
    model = LanguageModel.objects.get()
    assert (model.slug, model.family, model.aliases) == ("gpt", "gpt", ["chatty", "gepetto"])
    assert (model.abilities, model.parameters) == (["images"], {"temperature": 0.5})
    assert str(model.price) == "$0.1 in, $2 out"
    actions = list(AuditEntry.objects.order_by("pk").values_list("action", "subject", "user__email"))
    assert actions == [
        ("add provider", "Example", "admin@example.org"),
        ("add language model", "GPT", "admin@example.org"),
        ("add price", "GPT", "admin@example.org"),
    ]


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("parameters", '{"temprature": 1}', "is not a sampling parameter"),
        ("parameters", "{", "Enter a valid JSON"),
        ("weight", "-1", "greater than or equal to 0"),
        ("slug", "G P T", "Use lower-case letters"),
        ("slug", "g" * 101, "at most 100 characters"),
        ("abilities", "telepathy", "is not one of the available choices"),
    ],
)
def test_invalid_field_is_explained(admin: Client, field: str, value: str, sentence: str):
    provider = make.provider("http://127.0.0.1:9/v1")
    response = admin.post(
        "/admin/models_registry/languagemodel/add/", model_form(provider=provider.pk, **{field: value})
    )
    assert response.status_code == 200
    assert sentence in response.content.decode()
    assert not LanguageModel.objects.exists()


def test_changed_behaviour_of_voted_model_makes_new_version(admin: Client):
    old = make.model(slug="gpt", name="GPT", has_votes=True)
    assert "Make version 2 of it" in admin.get(page_of(old)).content.decode()
    form = model_form(old, system_prompt="Be brief.", make_version="on", price=("1", "2"))
    messages = messages_after(admin, page_of(old), form)
    assert "The model has votes, so this is a new version: “GPT (v2)”." in messages
    old.refresh_from_db()
    new = LanguageModel.objects.get(version=2)
    assert (old.status, old.system_prompt) == ("retired", "")
    assert (new.slug, new.status, new.system_prompt) == ("gpt-v2", "active", "Be brief.")
    assert Price.objects.get().model == new
    changed, priced = AuditEntry.objects.order_by("pk")
    assert (changed.action, changed.subject) == ("change language model", "GPT (v2)")
    assert changed.details == {"changed": {"system_prompt": ["", "Be brief."]}}
    assert (priced.action, priced.subject, priced.details) == ("add price", "GPT (v2)", {"price": "$1 in, $2 out"})


def test_changed_behaviour_without_new_version_is_refused(admin: Client):
    old = make.model(slug="gpt", name="GPT", has_votes=True)
    page = admin.post(page_of(old), model_form(old, system_prompt="Be brief.")).content.decode()
    assert "Tick this to save the change as a new version" in page
    assert "Be brief." in page
    old.refresh_from_db()
    assert (old.system_prompt, LanguageModel.objects.count()) == ("", 1)


def test_model_without_votes_is_changed_in_place(admin: Client):
    model = make.model()
    assert "Make version" not in admin.get(page_of(model)).content.decode()
    admin.post(page_of(model), model_form(model, system_prompt="Be brief."))
    model.refresh_from_db()
    assert (model.system_prompt, LanguageModel.objects.count()) == ("Be brief.", 1)


def test_continue_button_opens_page_of_new_version(admin: Client):
    old = make.model(has_votes=True)
    response = admin.post(
        page_of(old), model_form(old, system_prompt="Be brief.", make_version="on", _continue="1"), follow=True
    )
    assert response.request["PATH_INFO"] == page_of(LanguageModel.objects.get(version=2))


def test_other_changes_of_voted_model_make_no_version(admin: Client):
    model = make.model(has_votes=True)
    messages_after(admin, page_of(model), model_form(model, name="A better name", weight="0.5"))
    model.refresh_from_db()
    assert (model.name, model.weight, LanguageModel.objects.count()) == ("A better name", 0.5, 1)


def test_behaviour_of_older_version_cannot_be_edited(admin: Client):
    old = make.model(has_votes=True)
    admin.post(page_of(old), model_form(old, system_prompt="two", make_version="on"))
    assert "A newer version exists" in admin.get(page_of(old)).content.decode()
    old.refresh_from_db()
    admin.post(page_of(old), model_form(old, system_prompt="three"))
    old.refresh_from_db()
    assert (old.system_prompt, LanguageModel.objects.count()) == ("", 2)


def test_slug_cannot_be_edited(admin: Client):
    model = make.model(slug="gpt")
    admin.post(page_of(model), model_form(model, slug="other"))
    model.refresh_from_db()
    assert model.slug == "gpt"


def test_new_price_keeps_the_old_one(admin: Client):
    model = make.model()
    admin.post(page_of(model), model_form(model, price=("1", "2")))
    price = Price.objects.get()
    form = model_form(model, price=("3", "4")) | {
        "prices-INITIAL_FORMS": "1", "prices-0-id": price.pk, "prices-0-DELETE": "on",
    }  # fmt: skip
    admin.post(page_of(model), form)
    price.refresh_from_db()
    assert price.input_per_million == 1
    admin.post(page_of(model), model_form(model, price=("5", "6")))
    assert model.price.input_per_million == 5


@pytest.mark.parametrize(("action", "status"), [("activate", "active"), ("pause", "paused"), ("retire", "retired")])
def test_bulk_action_sets_status(admin: Client, action: str, status: str):
    models = [make.model(status="draft"), make.model(status="draft")]
    form = {"action": action, "_selected_action": [model.pk for model in models]}
    messages = messages_after(admin, "/admin/models_registry/languagemodel/", form)
    assert messages == [f"2 models are {status} now."]
    assert set(LanguageModel.objects.values_list("status", flat=True)) == {status}
    assert AuditEntry.objects.filter(action=f"set status {status}").count() == 2
    retired = LanguageModel.objects.filter(retired_at__isnull=False).count()
    assert retired == (2 if status == "retired" else 0)


def test_list_of_models_shows_unavailable_reasons(admin: Client, django_assert_max_num_queries):
    make.model(name="Ready")
    make.model(name="Waiting", at="http://127.0.0.1:11/v1")
    Provider.objects.filter(base_url__contains=":11/").update(is_answering=False)
    for number in range(8):
        make.model(name=f"Draft {number}", status="draft", at=f"http://127.0.0.1:{100 + number}/v1")
    budgets.chosen()  # cached for seconds
    with django_assert_max_num_queries(13):
        page = admin.get("/admin/models_registry/languagemodel/").content.decode()
    assert 'class="field-drawn_now">yes' in page
    assert "Its server does not answer." in page
    assert page.count("It is a draft: activate it.") == 8
    assert "1 of 1" in page


def test_models_are_found_by_name_and_alias(admin: Client):
    make.model(name="Needle", aliases=["thimble"])
    make.model(name="Hay")
    for words in ("needle", "thimble"):
        page = admin.get("/admin/models_registry/languagemodel/", {"q": words}).content.decode()
        assert "Needle" in page
        assert ">Hay<" not in page


def test_model_with_battles_cannot_be_deleted(admin: Client):
    left, right = make.model(name="Left"), make.model()
    make.battle(left, right)
    path = page_of(left).replace("change", "delete")
    messages = messages_after(admin, path, {"post": "yes"})
    assert messages == ["“Left” is in use and cannot be deleted. Pause or retire it instead."]
    assert LanguageModel.objects.count() == 2


def test_model_with_votes_has_no_delete_button(admin: Client):
    model = make.model(has_votes=True)
    assert 'class="deletelink"' not in admin.get(page_of(model)).content.decode()


def test_unused_model_can_be_deleted(admin: Client):
    model = make.model(name="Mistake")
    admin.post(page_of(model), model_form(model, price=("1", "2")))
    admin.post(page_of(model).replace("change", "delete"), {"post": "yes"})
    assert not LanguageModel.objects.exists()
    assert AuditEntry.objects.filter(action="delete language model", subject="Mistake").exists()


def test_provider_with_models_cannot_be_deleted(admin: Client):
    provider = make.model().provider
    [message] = messages_after(admin, page_of(provider).replace("change", "delete"), {"post": "yes"})
    assert message == "“Fake” is in use and cannot be deleted. Pause or retire it instead."
    assert Provider.objects.exists()


def test_deletion_without_permission_reveals_no_name(client: Client):
    model = make.model(name="Hidden model")
    make.battle(model, make.model())
    client.force_login(make.user(is_staff=True))
    for row in (model, model.provider):
        refused = client.post(page_of(row).replace("change", "delete"), {"post": "yes"})
        assert (refused.status_code, list(get_messages(refused.wsgi_request))) == (403, [])


@pytest.mark.slow
def test_admin_pages_have_no_inline_script_or_style(admin: Client):
    model = make.model()
    paths = ["/admin/", page_of(model), page_of(model.provider), "/admin/accounts/user/", "/admin/accounts/user/add/"]
    for name in ("provider", "languagemodel"):
        paths += [f"/admin/models_registry/{name}/", f"/admin/models_registry/{name}/add/"]
    for path in [*paths, "/admin/accounts/apitoken/add/", "/admin/accounts/auditentry/"]:
        response = admin.get(path)
        page = response.content.decode()
        assert response.status_code == 200, path
        assert "script-src 'self'" in response.headers["Content-Security-Policy"]
        assert "<script>" not in page, path
        assert "<style" not in page, path
        assert " style=" not in page, path
        assert " onclick=" not in page, path


def test_unsent_parameters_are_shown_in_admin(admin: Client):
    model = make.model(at="http://127.0.0.1:11434/v1", parameters={"temperature": 0.5, "min_p": 0.1, "top_k": 40})
    sentence = "not sent, because this kind of provider does not take it"
    assert "min_p, top_k" in admin.get(page_of(model)).content.decode()
    admin.post(page_of(model.provider), provider_form(base_url=model.provider.base_url, kind="llamacpp"))
    assert sentence not in admin.get(page_of(model)).content.decode().lower()
