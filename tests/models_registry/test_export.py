from decimal import Decimal
from io import StringIO
from typing import Any

import pytest
import yaml
from django.core.management import call_command

from models_registry import versions
from models_registry.config.models_file import export_models, import_models
from models_registry.config.yaml_lines import ConfigRefused
from models_registry.models import LanguageModel, Provider
from models_registry.profiles import Profile, change_profile, profile_of

pytestmark = pytest.mark.django_db
KEY = "sk-live-4f9c-do-not-show-7Q2z"
# Fields that belong to one installation: keys, observations and history. Models of teams are not exported.
NOT_EXPORTED_OF_PROVIDERS = {
    "id", "team", "key_encrypted", "key_last_four", "key_fingerprint", "is_answering", "probed_at", "created_at",
}  # fmt: skip
NOT_EXPORTED_OF_MODELS = {"id", "team", "provider", "family", "version", "retired_at", "has_votes", "created_at"}


def make_everything() -> LanguageModel:
    """Create a model and a provider without any default value."""
    provider = Provider(
        name="Company server", base_url="https://llm.example.com/v1", kind="vllm", api_key_env="COMPANY_KEY",
        needs_key=True, connect_s=2, first_s=60.5, idle_s=20, total_s=600, finish_reason_required=False,
        calls_at_once=8, daily_budget=Decimal("12.5"), passed_names=["vendor_flag"], fetches_media=True,
        server_tool_prices={"web_search": 0.03}, sends_trace=True,
    )  # fmt: skip
    provider.store_key(KEY)
    provider.save()
    model = LanguageModel.objects.create(
        provider=provider, upstream_name="company/large", slug="company-large", name="Größe L", organization="Company",
        license="Apache-2.0", license_kind="open", size_b=Decimal("70.5"), context_length=32768,
        abilities=["images", "tools"], system_prompt="Be brief.\nBe kind.", weight=0.5, aliases=["company", "large"],
        parameters={"temperature": 0.5, "stop": ["END"]}, calls_at_once=3, status="paused",
    )  # fmt: skip
    change_profile(model.pk, Profile(hides_setup=True, active_b=Decimal("12.5"), energy_name="gpt-4o"))
    versions.set_price(model, Decimal("0.15"), Decimal("2"))
    return model


def state() -> list[Any]:
    def fields(row: Any, not_exported: set[str]) -> dict[str, Any]:
        return {field.name: getattr(row, field.name) for field in row._meta.fields if field.name not in not_exported}

    return [
        [fields(provider, NOT_EXPORTED_OF_PROVIDERS) for provider in Provider.objects.order_by("base_url")],
        [
            (fields(model, NOT_EXPORTED_OF_MODELS), model.provider.base_url, str(model.price), profile_of(model.pk))
            for model in LanguageModel.objects.order_by("slug")
        ],
    ]


def test_export_and_import_keep_every_field():
    make_everything()
    before, exported = state(), export_models()
    assert import_models(exported) == []
    LanguageModel.objects.all().delete()
    Provider.objects.all().delete()
    import_models(exported)
    assert state() == before
    assert export_models() == exported


def test_export_fixture_covers_every_field():
    """A new field must be exported, or be listed in NOT_EXPORTED_OF_…."""
    model = make_everything()
    for row, not_exported in ((model, NOT_EXPORTED_OF_MODELS), (model.provider, NOT_EXPORTED_OF_PROVIDERS)):
        for field in row._meta.fields:
            if field.name not in not_exported and field.name != "needs_key":
                assert getattr(row, field.name) != field.get_default(), field.name


def test_export_contains_no_stored_key():
    make_everything()
    out = StringIO()
    call_command("export_models", stdout=out)
    assert "COMPANY_KEY" in out.getvalue()
    assert KEY not in out.getvalue()
    assert KEY[-4:] not in out.getvalue()
    assert Provider.objects.get().key_fingerprint not in out.getvalue()


def test_import_keeps_stored_key():
    make_everything()
    import_models(export_models().replace("Company server", "The server"))
    provider = Provider.objects.get()
    assert (provider.name, provider.read_key()) == ("The server", KEY)


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("calls_at_once", "many", "calls_at_once: Expected a whole number, got text."),
        ("calls_at_once", 0, "calls_at_once: Ensure this value is greater than or equal to 1."),
        ("provider_calls_at_once", 2.5, "provider_calls_at_once: Expected a whole number, got a number."),
        ("provider_calls_at_once", 0, "provider_calls_at_once: Ensure this value is greater than or equal to 1."),
        ("daily_budget", -1, "daily_budget: Ensure this value is greater than or equal to 0."),
        ("daily_budget", "much", "daily_budget: Expected a number, got text."),
        ("finish_reason_required", "yes", "finish_reason_required: Expected true or false, got text."),
        ("base_url", "http://169.254.169.254/v1", "base_url: This address is not allowed for a provider."),
    ],
)
def test_invalid_limit_is_reported_with_its_line(key: str, value: Any, sentence: str):
    make_everything()
    [entry] = yaml.safe_load(export_models())
    lines = yaml.safe_dump([{**entry, key: value}], sort_keys=False)
    with pytest.raises(ConfigRefused) as refused:
        import_models(lines)
    [problem] = refused.value.problems
    assert problem.sentence.startswith(sentence)
    assert lines.splitlines()[problem.line - 1].lstrip("- ").startswith(key)


def test_conflicting_provider_limits_are_refused():
    make_everything()
    [entry] = yaml.safe_load(export_models())
    twice = yaml.safe_dump([entry, {**entry, "id": "company-small", "daily_budget": 3}], sort_keys=False)
    with pytest.raises(ConfigRefused, match="daily_budget: the same provider is described differently on line 1"):
        import_models(twice)
