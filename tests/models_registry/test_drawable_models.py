import pytest

from models_registry.models import LanguageModel
from tests import make

pytestmark = pytest.mark.django_db


def with_key_variable(name: str) -> LanguageModel:
    model = make.model()
    provider = make.provider(f"http://127.0.0.1:9/{name}", needs_key=True)
    provider.api_key_env = name
    provider.save()
    model.provider = provider
    model.save()
    return model


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, ""),
        ({"status": "draft"}, "It is a draft: activate it."),
        ({"status": "paused"}, "It is paused."),
        ({"status": "retired"}, "It is retired."),
        ({"weight": 0}, "Its sampling weight is 0."),
    ],
)
def test_only_active_models_with_weight_are_drawn(fields: dict[str, object], reason: str):
    model = make.model(**fields)
    assert model.unavailable_reason == reason
    assert LanguageModel.objects.drawable() == ([model] if not reason else [])


def test_model_is_drawn_once_its_key_variable_is_set(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("ARENA_TEST_KEY", raising=False)
    model = with_key_variable("ARENA_TEST_KEY")
    assert LanguageModel.objects.drawable() == []
    assert model.unavailable_reason == "ARENA_TEST_KEY is not set, and no key is stored."
    monkeypatch.setenv("ARENA_TEST_KEY", "a-key")
    assert LanguageModel.objects.drawable() == [model]
    assert model.provider.read_key() == "a-key"


def test_stored_key_takes_precedence_over_variable(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ARENA_TEST_KEY", "from-the-environment")
    provider = with_key_variable("ARENA_TEST_KEY").provider
    provider.store_key("from-the-admin")
    assert provider.read_key() == "from-the-admin"
    provider.clear_key()
    assert provider.read_key() == "from-the-environment"


def test_silent_server_is_the_unavailable_reason():
    model = make.model(at="http://127.0.0.1:11/v1")
    model.provider.is_answering = False
    assert model.unavailable_reason == "Its server does not answer."
