"""Templates exported as YAML and imported again, and exported for promptfoo."""

import io
from pathlib import Path

import msgspec
import pytest
import yaml
from django.core.management import call_command
from django.test import Client

from benchmarks import actions
from benchmarks.actions.drafts import DraftContent
from benchmarks.actions.importing import create_draft, read_import
from benchmarks.built_in.reading import LANGUAGES, NAMES
from benchmarks.checks.check_set import raw_check
from benchmarks.exports.promptfoo import PromptfooExport
from benchmarks.exports.template_yaml import template_chunks
from benchmarks.imports.content import Request
from benchmarks.models import Check, Prompt, Template, TemplateVersion
from benchmarks.pasting import PastedCase
from benchmarks.scoring import check as scoring
from common.payload_types import JsonObject
from tests import make
from tests.worlds.benchmarks import samples

pytestmark = pytest.mark.django_db
HOSTILE = [
    "1e3", "0o7", "yes", "~", "null", "2020-01-01", "1:30", "- a", "a: b", "# a", " {{ x }} ", "file://x",
    "é🙂\u2028", "a\n b\n",
    "\tx", "'\"", "", "!x", "&a *a", "12", "1_000", "0x1f", ".5", "<<", "%", "@", "`",
]  # fmt: skip


def content(version: TemplateVersion) -> list[object]:
    """Return everything that an import must restore."""
    fields = ("errors_count", "threshold", "relevant_difference", "parameters", "variables", "case_count")
    of_case = ("key", "position", "variables", "expected", "messages", "cluster", "tags", "metadata", "weight",
        "threshold", "digest")  # fmt: skip
    return [
        version.template.name,
        {name: getattr(version, name) for name in fields},
        list(version.prompts.values_list("position", "label", "messages", "turns")),
        [raw_check(check) for check in version.checks.all()],
        list(version.cases.values_list(*of_case)),
        [_checks(checks) for checks in version.cases.values_list("checks", flat=True)],
    ]


def _checks(checks: list[JsonObject] | None) -> list[scoring.Check]:
    return msgspec.convert(checks or [], list[scoring.Check])


def imported_again(version: TemplateVersion) -> TemplateVersion:
    imported = read_import(b"".join(template_chunks(version)), Request("exported.yaml"))
    assert not imported.is_refused, [entry for entry in imported.entries if entry.action != "taken"]
    assert imported.format == "arena"
    assert [entry for entry in imported.entries if entry.action != "taken"] == []
    return create_draft(owner=make.user(), imported=imported)


@pytest.mark.slow
def test_built_in_templates_survive():
    actions.store_built_in_templates()
    versions = TemplateVersion.objects.filter(state="frozen", template__visibility="site")
    assert versions.count() == len(NAMES) * len(LANGUAGES)
    for version in versions:
        assert content(imported_again(version)) == content(version), version


@pytest.mark.processes
def test_everything_survives_and_the_rest_is_named():
    version = samples.template(make.user(), cases=False).versions.get()
    chat = [
        {"role": "system", "template": "Be brief.\n"},
        {"role": "user", "template": "{{ text }} {{ more | length }}"},
    ]
    prompts = [
        Prompt(label="", messages=chat, turns=["And {{ text }}?"]),
        Prompt(label="[1]", messages=[{"role": "user", "template": "[not a chat] {{ text }}"}]),
        Prompt(label="name", messages=[{"role": "user", "template": "notes.txt"}]),
    ]
    nested = [{"scorer": "contains", "target": ["a"]}, {"scorer": "is_json"}]
    checks = [
        Check(key="any", scorer="contains"),
        Check(key="number", scorer="number", settings={"absolute": 0.5}, weight=2, is_gate=True),
        Check(key="form", scorer="any_of", settings={"checks": nested}, metric="form", negate=False),
        Check(key="words", scorer="words", settings={"max": 9}, negate=True, extract=[{"step": "strip_reasoning"}]),
        Check(key="like", scorer="regex", target=["{{ text }}|b", 7], threshold=None),
        Check(key="last", scorer="equals", target=["x"], extract=[{"step": "last_line"}]),
    ]
    actions.save_draft(version, DraftContent(prompts, checks, {"temperature": 0, "stop": ["\n"]}, "wrong"))
    own = [{"key": "own", "scorer": "icontains", "target": ["{{ text }}"]}]
    cases = [
        PastedCase(
            key=f"case  {number}", variables={"text": text, "more": [text, {"a": [1.5, None]}]}, tags=["t"],
            expected=[text, "or this"], cluster="c", weight=0.5, metadata={"tags": ["kept"], text: text},
            messages=[{"role": "user", "content": text}], checks=own,
        )
        for number, text in enumerate(HOSTILE)
    ]  # fmt: skip
    actions.add_cases(version, cases)
    TemplateVersion.objects.update(threshold=0.75, relevant_difference=0.02)
    version.refresh_from_db()
    assert content(imported_again(version)) == content(version)
    heading, _, rest = b"".join(PromptfooExport(version).chunks()).decode().partition("description:")
    assert all(line.startswith("# ") for line in heading.splitlines())
    assert "Checks without an assertion: equals, number." in heading
    for sentence in ("Follow-ups", "must pass", "Weights", "Messages that cases", "Reasoning", '"temperature": 0'):
        assert sentence in heading
    document = yaml.safe_load(f"description:{rest}")
    assert [prompt["label"] for prompt in document["prompts"]] == ["prompt 1", "[1]", "name"]
    first = document["tests"][0]
    assert first["assert"][0] == {"type": "contains-any", "value": ["1e3", "or this"]}


def test_hostile_names_add_nothing_to_the_configuration():
    breaks = "a\nb: 1\r- c\x85d: 2\u2028- e\u2029f: 3\n---\n!!python/object:os.system {}"
    version = samples.template(make.user(), breaks[:80]).versions.get()
    harmless = yaml.safe_load(b"".join(PromptfooExport(version).chunks()))
    Template.objects.update(name=breaks, description=breaks, held_out=True)
    version.prompts.update(label=breaks)
    version.cases.filter(position=1).update(key=breaks, tags=[breaks], metadata={breaks: breaks})
    TemplateVersion.objects.update(parameters={breaks: breaks})
    version = TemplateVersion.objects.select_related("template").get(pk=version.pk)
    exported = b"".join(PromptfooExport(version).chunks())
    [document] = yaml.safe_load_all(exported)
    assert document.keys() == harmless.keys()
    [own] = yaml.safe_load_all(b"".join(template_chunks(version)))
    assert own["name"] == own["description"] == own["prompts"][0]["label"] == own["cases"][0]["key"] == breaks
    assert own["parameters"] == {breaks: breaks}
    assert document["description"] == document["prompts"][0]["label"] == document["tests"][0]["description"] == breaks
    heading = exported.decode().partition("\ndescription:")[0]
    assert {line[0] for line in heading.splitlines()} == {"#"}


@pytest.mark.processes
def test_wrong_parts_of_yaml_are_refused_with_their_lines():
    version = samples.template(make.user()).versions.get()
    document = yaml.safe_load(b"".join(template_chunks(version)))
    document["cases"][0]["weight"] = -1
    document["cases"][1]["keys"] = "b"
    changed = yaml.safe_dump(document, sort_keys=False).encode()
    refused = read_import(changed, Request("changed.yaml"))
    codes = {entry.code: entry for entry in refused.entries if entry.action in ("refused", "left_out")}
    assert codes.keys() == {"arena_part_not_understood", "field_not_used"}
    lines = changed.decode().splitlines()
    assert lines[codes["arena_part_not_understood"].line - 1].startswith("- key:")
    assert lines[codes["field_not_used"].line - 1].strip() == "keys: b"
    document["checks"] = [{"scorer": 1}]
    refused = read_import(yaml.safe_dump(document).encode(), Request("changed.yaml"))
    assert [entry.code for entry in refused.entries if entry.action == "refused"] == ["arena_part_not_understood"]


@pytest.mark.processes
def test_exported_configuration_is_a_file_of_promptfoo():
    version = samples.template(make.user()).versions.get()
    imported = read_import(b"".join(PromptfooExport(version).chunks()), Request("promptfoo.yaml"))
    assert (imported.format, imported.is_refused) == ("promptfoo", False)
    assert [case.key for case in imported.template.cases] == list(version.cases.values_list("key", flat=True))


@pytest.mark.processes
def test_imported_assertions_are_exported_as_they_were():
    schema = {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}
    assertions = [
        {"type": "contains-all", "value": ["a", "b"], "weight": 2},
        {"type": "not-icontains-all", "value": ["a"]},
        {"type": "bleu", "value": ["a b", "c d"], "threshold": 0.4},
        {"type": "rouge-n", "value": "a b", "threshold": 0.75},
        {"type": "word-count", "value": {"min": 1, "max": 3}},
        {"type": "is-xml", "value": ["a.b", "a.c"]},
        {"type": "is-xml"},
        {"type": "is-refusal", "metric": "form"},
        {"type": "contains-json", "value": schema},
        {"type": "finish-reason", "value": "stop"},
        {"type": "assert-set", "threshold": 1, "assert": [{"type": "contains", "value": "a"}] * 6},
    ]
    document = {"prompts": ["{{ x }}"], "tests": [{"vars": {"x": "1"}, "assert": assertions}]}
    imported = read_import(yaml.safe_dump(document).encode(), Request("all.yaml"))
    exported = PromptfooExport(create_draft(owner=make.user(), imported=imported))
    exported_assertions = yaml.safe_load(b"".join(exported.chunks()))["tests"][0]["assert"]
    assert exported_assertions == assertions
    assert exported.notes == []


@pytest.mark.django_db(transaction=True)
def test_command_page_and_download_give_the_same(tmp_path: Path):
    owner = make.member().user
    template = samples.template(owner)
    client, path = Client(), tmp_path / "t.yaml"
    client.force_login(owner)
    for name, option, query in (("", [], ""), (".promptfoo", ["--promptfoo"], "&for=promptfoo")):
        call_command("export_benchmark_template", template.public_id, str(path), *option, stderr=io.StringIO())
        response = client.get(f"/benchmarks/t/{template.public_id}/export.yaml?version=1{query}")
        assert response["Content-Disposition"].endswith(f'"template-{template.public_id}-1{name}.yaml"')
        assert samples.downloaded(response) == path.read_bytes()
    assert "Parameters belong to its providers" in client.get(f"/benchmarks/t/{template.public_id}/").content.decode()
    assert client.get(f"/benchmarks/t/{template.public_id}/export.yaml?version=9").status_code == 404
    assert Client().get(f"/benchmarks/t/{template.public_id}/export.yaml").status_code == 404
