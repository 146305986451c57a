from pathlib import Path

import pytest
from django.core.management import CommandError

from models_registry.config.models_file import import_models
from models_registry.config.yaml_lines import ConfigRefused
from models_registry.models import LanguageModel
from tests.models_registry.models_file import MODEL, import_file, problems_of

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("line", "sentence_has"),
    [
        ("statsu: active", "Did you mean “status”?"),
        ("api_key: sk-live-1234567890", "Did you mean “api_key_env”?"),
        ("weight: heavy", "weight: Expected a number, got text."),
        ("weight: -1", "weight: Ensure this value is greater than or equal to 0"),
        ("weight: .nan", "weight: Expected a number that can be stored."),
        ("weight: true", "weight: Expected a number, got true or false."),
        ("context_length: 8.5", "context_length: Expected a whole number, got a number."),
        ("context_length: -5", "context_length:"),
        ("size_b: big", "size_b: Expected a number"),
        ("active_b: 0", "active_b: Ensure this value is greater than or equal to 0.001."),
        ("active_b: .inf", "active_b: Expected a number that can be stored."),
        ("energy_name: enigma-1", "energy_name: The size of no model of this name is known."),
        ("needs_key: maybe", "needs_key: Expected true or false"),
        ("aliases: gpt", "aliases: Expected a list of texts"),
        ("aliases: [1]", "aliases[0]: Expected text"),
        (
            "abilities: [imags]",
            "abilities[0]: Invalid enum value “imags”. Known: images, tools. Did you mean “images”?",
        ),
        ("system_prompt: 12", "Expected text, got a whole number"),
        ('system_prompt: "nul \\0"', "Expected text that can be stored"),
        ('system_prompt: "half \\ud800"', "Expected text that can be stored"),
        ("system_prompt: 2026-99-99", "Put it in quotes"),
        ("parameters: [1]", "parameters: Expected a table"),
        ("parameters: {1: 2}", "parameters: Keys must be text."),
        ("parameters: {temprature: 1}", "“temprature” is not a sampling parameter"),
        ("parameters: {temperature: hot}", "wrong type"),
        ("parameters: {temperature: .inf}", "cannot be sent"),
        ("parameters: {stop: [1]}", "cannot be sent"),
        ("kind: opnai", "Did you mean “openai”?"),
        ("deadlines: 30", "deadlines: Expected a table"),
        ("deadlines: {frist: 30}", "“frist”. Known: connect, first, idle, total. Did you mean “first”?"),
        ("deadlines: {first: soon}", "deadlines.first: Expected a number"),
        ("deadlines: {first: 0}", "deadlines.first: Ensure this value is greater than or equal to 0.1"),
        ("price: 3", "price: Expected a table"),
        ("price: {input: 1}", "missing required field “output”. (US dollars per million tokens)"),
        ("price: {1: 2, input: 1}", "price: Keys must be text."),
        ("system_prompt: 2026-01-01", "got a date (put it in quotes)"),
        ("aliases: [null]", "aliases[0]: Expected text, got nothing."),
        ('kind: "it\'s"', "Invalid enum value “it's”. Known: "),
        ("price: {input: 1, output: cheap}", "price.output: Expected a number"),
        ("price: {input: -1, output: 1}", "price.input: Ensure this value"),
        ("price: {input: 1, output: 1, cached: 1}", "unknown field “cached”. Known: input, output."),
        ("name: Twice", "“name” is said twice (first on line 3)"),
        ("? [a]\n  : 1", "A key must be a word"),
    ],
)
def test_invalid_line_is_reported(line: str, sentence_has: str):
    [(number, sentence)] = problems_of(MODEL + f"  {line}\n")
    assert number == 10
    assert sentence_has in sentence


@pytest.mark.parametrize(
    ("text", "replacement", "line", "sentence_has"),
    [
        ("id: gpt", "id: GPT 6", 2, "lower-case"),
        ("id: gpt", f"id: {'g' * 101}", 2, "at most 100 characters"),
        ("id: gpt", "id: 6", 2, "Expected text"),
        ("name: GPT", "name: ''", 3, "name: This key is missing"),
        ("model: gpt-6", "", 2, "model: This key is missing"),
        ("status: active", "status: activ", 9, "Did you mean “active”?"),
        ("https://api.example.com/v1", "api.example.com", 5, "begins with http"),
        ("https://api.example.com/v1", "https://me:secret@api.example.com/v1", 5, "may not contain a user"),
        ("https://api.example.com/v1", "https://api.example.com/v1?key=secret", 5, "a query"),
        ("https://api.example.com/v1", "https://api.example.com:port/v1", 5, "begins with http"),
        ("EXAMPLE_KEY", "sk-live-secret", 6, "name of an environment variable"),
        ("EXAMPLE_KEY", "example_key", 6, "name of an environment variable"),
    ],
)
def test_invalid_value_is_reported_without_secrets(text: str, replacement: str, line: int, sentence_has: str):
    [(number, sentence)] = problems_of(MODEL.replace(text, replacement))
    assert number == line
    assert sentence_has in sentence
    assert "secret" not in sentence


def test_all_problems_are_reported_and_nothing_is_imported():
    wrong = "- id: GPT\n  name: Wrong\n  model: x\n  base_url: nowhere\n- 5\n"
    problems = problems_of(MODEL.lstrip() + wrong + MODEL.lstrip())
    assert [line for line, _ in problems] == [9, 12, 13, 14]
    assert "The id “gpt” is used twice (first on line 1)." in problems[-1][1]


def test_key_beside_models_is_reported():
    text = "providers: []\nmodels:" + MODEL
    assert problems_of(text) == [(1, "“providers” is unknown here: only “models” is read.")]


def test_conflicting_provider_names_are_refused():
    problems = problems_of(MODEL + "  provider: One\n" + MODEL.replace("id: gpt", "id: b") + "  provider: Two\n")
    assert problems == [(12, "provider: the same provider is described differently on line 2.")]


def test_id_of_later_version_is_explained():
    import_models(MODEL)
    LanguageModel.objects.update(has_votes=True)
    import_models(MODEL.replace("gpt-6", "gpt-7"))
    with pytest.raises(ConfigRefused, match="“gpt-v2” is version 2 of “gpt”: write that id"):
        import_models(MODEL.replace("id: gpt", "id: gpt-v2"))


@pytest.mark.parametrize(
    ("content", "line", "sentence_has"),
    [
        (b"- id: a\n  name: [\n", 3, "not YAML"),
        (b"- id: a\n\tname: b\n", 2, "not YAML"),
        (b"- id: a\n--- \n- id: b\n", 2, "not YAML"),
        (b"- id: a\n  name: \x01\n", 2, "not YAML"),
        (b"- id: a\n  name: caf\xe9\n", 2, "not UTF-8"),
        (b"model:\n  - id: a\n", 1, "must be a list"),
        (b"models: {id: a}\n", 1, "must be a list"),
        (b"- id: !!python/name:os.system\n", 1, "not YAML"),
    ],
)
def test_file_without_yaml_list_is_refused(content: bytes, line: int, sentence_has: str, tmp_path: Path):
    file = tmp_path / "models.yaml"
    file.write_bytes(content)
    with pytest.raises(CommandError) as refusal:
        import_file(file)
    first, last = str(refusal.value).splitlines()
    assert first.startswith(f"{file}:{line}: ")
    assert sentence_has in first
    assert last == "Nothing was imported."


def test_missing_file_is_reported(tmp_path: Path):
    with pytest.raises(CommandError, match="No such file"):
        import_file(tmp_path / "models.yaml")
