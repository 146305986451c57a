"""A template as YAML that the import of any arena restores, but for files of its cases."""

from collections.abc import Iterator

from django.utils.translation import gettext as _

from benchmarks.checks.check_set import raw_check
from benchmarks.exports.run_export import case_batches
from benchmarks.exports.run_json import CANARY
from benchmarks.exports.yaml_text import as_comment, as_yaml
from benchmarks.models import Case, CaseFile, Prompt, TemplateVersion
from common.payload_types import JsonObject

_CASES_AT_ONCE = 200
_DEFAULTS: JsonObject = {
    "target": None, "threshold": None, "extract": [], "settings": {}, "metric": "", "negate": False, "is_gate": False,
    "weight": 1.0,
}  # fmt: skip


def template_chunks(version: TemplateVersion) -> Iterator[bytes]:
    yield f"{_heading(version)}{as_yaml(_head(version))}cases:\n".encode()
    for cases in case_batches(version, _CASES_AT_ONCE):
        yield as_yaml([_case(case) for case in cases]).encode()


def _heading(version: TemplateVersion) -> str:
    lines = [
        _("%(template)s, version %(number)s: an arena imports this file.")
        % {"template": version.template.name, "number": version.number}
    ]
    if CaseFile.objects.filter(case__version=version).exists():
        lines.append(_("Files of cases are left out."))
    if version.template.held_out:
        lines.append(CANARY.format(digest=version.digest))
    return as_comment(lines)


def _head(version: TemplateVersion) -> JsonObject:
    return {
        "name": version.template.name,
        "description": version.template.description,
        **_set({
            "parameters": version.parameters, "threshold": version.threshold,
            "relevant_difference": version.relevant_difference,
        }),
        "errors_count": version.errors_count,
        "variables": version.variables,
        "prompts": [_prompt(prompt) for prompt in version.prompts.all()],
        "checks": [_check(raw_check(check)) for check in version.checks.all()],
    }  # fmt: skip


def _prompt(prompt: Prompt) -> JsonObject:
    return {"label": prompt.label, "messages": prompt.messages, **_set({"turns": prompt.turns})}


def _check(check: JsonObject) -> JsonObject:
    return {name: value for name, value in check.items() if name not in _DEFAULTS or value != _DEFAULTS[name]}


def _case(case: Case) -> JsonObject:
    return {
        "key": case.key,
        "variables": case.variables,
        **_set({
            "expected": case.expected, "messages": case.messages, "cluster": case.cluster, "tags": case.tags,
            "metadata": case.metadata, "threshold": case.threshold,
            "checks": [_check(check) for check in case.checks or []],
        }),
        **({"weight": case.weight} if case.weight != 1 else {}),
    }  # fmt: skip


def _set(values: JsonObject) -> JsonObject:
    return {name: value for name, value in values.items() if value not in (None, "", [], {})}
