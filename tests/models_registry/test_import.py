from pathlib import Path

import pytest
from django.conf import settings

from accounts.models import AuditEntry
from models_registry.config.models_file import export_models, import_models
from models_registry.models import LanguageModel, Price, Provider
from tests.models_registry.models_file import EXTRA, MODEL, import_file

pytestmark = pytest.mark.django_db


def test_import_creates_model_and_provider():
    import_models(MODEL)
    model = LanguageModel.objects.get()
    assert (model.slug, model.family, model.version, model.name) == ("gpt", "gpt", 1, "GPT")
    assert (model.upstream_name, model.status, model.license_kind) == ("gpt-6", "active", "proprietary")
    provider = model.provider
    assert (provider.name, provider.base_url) == ("api.example.com", "https://api.example.com/v1")
    assert (provider.api_key_env, provider.needs_key) == ("EXAMPLE_KEY", True)


@pytest.mark.parametrize("before", ["models:", "# ours\nmodels:\n", "---\nmodels:"])
def test_list_below_the_key_models_is_read(before: str):
    assert import_models(before + MODEL) == ["added the provider api.example.com", "added gpt"]
    assert import_models(MODEL) == []


def test_empty_list_below_models_changes_nothing():
    assert import_models("models:\n") == []


def test_import_sets_every_optional_key():
    import_models(MODEL + EXTRA)
    model = LanguageModel.objects.get()
    assert (model.provider.name, model.provider.needs_key) == ("The Example", False)
    assert (model.provider.kind, model.provider.first_s, model.provider.idle_s) == ("vllm", 120, 2.5)
    assert model.system_prompt == "Be brief."
    assert model.parameters == {"temperature": 0.5, "max_tokens": 100, "stop": ["END"]}
    assert (model.aliases, model.weight, model.abilities) == (["chatty", "gepetto"], 0.5, ["images"])
    assert (model.context_length, str(model.size_b)) == (8192, "0.135")
    assert str(model.price) == "$0.1 in, $2 out"


@pytest.mark.parametrize(
    ("license", "kind", "name"),
    [
        ("license: open-source", "open", ""),
        ("license: proprietary", "proprietary", ""),
        ("license: Apache-2.0", "open", "Apache-2.0"),
        ("license: open-source\n  license_name: MIT", "open", "MIT"),
        ("license: proprietary\n  license_name: Terms of Example", "proprietary", "Terms of Example"),
        ("license: unknown", "unknown", ""),
        ("size_b: 1", "unknown", ""),
    ],
)
def test_licence_keys_set_kind_and_name(license: str, kind: str, name: str):
    import_models(MODEL.replace("license: proprietary", license))
    model = LanguageModel.objects.get()
    assert (model.license_kind, model.license) == (kind, name)


def test_models_with_same_address_and_key_share_provider():
    other = MODEL.replace("id: gpt", "id: other").replace("/v1", "/v1/")
    third = MODEL.replace("id: gpt", "id: third").replace("EXAMPLE_KEY", "SECOND_KEY")
    import_models(MODEL + other + third)
    assert Provider.objects.count() == 2
    assert LanguageModel.objects.get(slug="gpt").provider == LanguageModel.objects.get(slug="other").provider


def test_provider_keys_apply_to_all_its_models():
    import_models(MODEL + EXTRA + MODEL.replace("id: gpt", "id: other"))
    assert Provider.objects.get().deadlines == {"connect": 5, "first": 120, "idle": 2.5, "total": 180}
    assert import_models(export_models()) == []


def test_second_import_changes_nothing():
    assert import_models(MODEL) == ["added the provider api.example.com", "added gpt"]
    assert import_models(MODEL) == []


def test_model_missing_in_file_is_not_changed():
    import_models(MODEL)
    import_models(MODEL.replace("id: gpt", "id: other"))
    assert set(LanguageModel.objects.values_list("slug", "status")) == {("gpt", "active"), ("other", "active")}


def test_model_without_votes_is_updated_in_place():
    import_models(MODEL)
    assert import_models(MODEL.replace("gpt-6", "gpt-7")) == ["changed gpt: upstream_name"]
    assert LanguageModel.objects.get().upstream_name == "gpt-7"


def test_model_with_votes_gets_version_for_new_behaviour():
    import_models(MODEL)
    LanguageModel.objects.update(has_votes=True)
    assert import_models(MODEL.replace("name: GPT", "name: G.P.T.")) == ["changed gpt: name"]
    changes = import_models(MODEL.replace("gpt-6", "gpt-7"))
    assert changes == ["gpt: version 2, a new contestant (name, upstream_name)"]
    old, new = LanguageModel.objects.order_by("version")
    assert (old.slug, old.status, old.upstream_name, old.has_votes) == ("gpt", "retired", "gpt-6", True)
    assert old.retired_at is not None
    assert (new.slug, new.family, new.version) == ("gpt-v2", "gpt", 2)
    assert (new.status, new.upstream_name, new.has_votes, new.retired_at) == ("active", "gpt-7", False, None)
    assert import_models(MODEL.replace("gpt-6", "gpt-7")) == []


def test_changed_price_is_added_to_the_history():
    import_models(MODEL + "  price: {input: 1, output: 2}\n")
    import_models(MODEL + "  price: {input: 1.0, output: 2.00}\n")
    import_models(MODEL + "  price: {input: 1, output: 3}\n")
    assert [str(price.output_per_million) for price in Price.objects.order_by("pk")] == ["2.000000", "3.000000"]
    assert import_models(MODEL) == [], "no price in the file leaves the price as it is"


def test_command_reports_changes_or_none(tmp_path: Path):
    file = tmp_path / "models.yaml"
    file.write_text(MODEL)
    assert "models.yaml: added gpt\n" in import_file(file)
    assert import_file(file) == "models.yaml: nothing to change\n"
    assert AuditEntry.objects.count() == 1


def test_unchanged_file_keeps_changes_of_the_admin(tmp_path: Path):
    file = tmp_path / "models.yaml"
    file.write_text(MODEL)
    import_file(file, "--if-changed")
    LanguageModel.objects.update(status="paused")
    assert "as it was" in import_file(file, "--if-changed")
    assert LanguageModel.objects.get().status == "paused"
    file.write_text(MODEL + "  weight: 2\n")
    import_file(file, "--if-changed")
    assert LanguageModel.objects.get().status == "active"


def test_shipped_file_is_valid_and_contains_no_key():
    text = (settings.BASE_DIR / "config" / "models.yaml").read_text()
    import_models(text)
    local = LanguageModel.objects.filter(provider__base_url="${ARENA_LOCAL_MODEL_URL}")
    assert local.count() == 3
    assert not local.filter(provider__needs_key=True).exists()
    assert Provider.objects.filter(needs_key=True).exclude(api_key_env="").count() == 6
    assert "sk-" not in text


@pytest.mark.slow
def test_import_of_export_changes_nothing():
    import_models((settings.BASE_DIR / "config" / "models.yaml").read_text())
    first = LanguageModel.objects.get(slug="gpt-6-luna")
    first.has_votes = True
    first.save()
    import_models(export_models().replace("reasoning_effort: low", "reasoning_effort: high"))
    exported = export_models()
    assert exported.count("id: gpt-6-luna") == 1
    assert "reasoning_effort: high" in exported
    assert import_models(exported) == []
    before = export_models()
    LanguageModel.objects.all().delete()
    Provider.objects.all().delete()
    import_models(before)
    assert export_models() == before
