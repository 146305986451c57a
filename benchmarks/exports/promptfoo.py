"""A template as promptfoo's configuration in YAML.

All that promptfoo has no field for stands under `arena` in metadata and config, which it ignores, and from which
benchmarks.imports.formats.promptfoo_arena restores the template.
"""

import json
import re
from collections.abc import Iterator
from functools import cached_property

import yaml
from django.utils.translation import gettext as _

from benchmarks.checks.check_set import case_checks, raw_check, target_of
from benchmarks.exports.promptfoo_assertions import WITHOUT_TARGET, NotExpressible, assertion_of, escaped
from benchmarks.exports.run_export import case_batches
from benchmarks.exports.run_json import CANARY
from benchmarks.imports.yaml_scalars import RESOLVERS
from benchmarks.models import Case, CaseFile, Prompt, TemplateVersion
from benchmarks.scoring.ports import Target
from common.payload_types import JsonObject

CONTENT_TYPE = "application/yaml"
_CASES_AT_ONCE = 200
# promptfoo reads these as a chat, a file or an address.
_NO_TEXT = re.compile(r"\s*(\[|- role:|\{)|(file|exec|python|https?|langfuse|portkey|helicone):|\S+\.\w{1,5}\Z")


class PromptfooExport:
    """A version's configuration."""

    def __init__(self, version: TemplateVersion) -> None:
        self.version = version
        self.checks = [raw_check(check) for check in version.checks.all()]

    @cached_property
    def notes(self) -> list[str]:
        """Return what promptfoo cannot express, in the language of the request."""
        version, cases = self.version, self.version.cases
        own = [
            check for checks in cases.exclude(checks=None).values_list("checks", flat=True) for check in checks or []
        ]
        missing = sorted({check["scorer"] for check in [*self.checks, *own] if not _has_assertion(check)})
        steps = any(check.get("extract") for check in [*self.checks, *own] if _has_assertion(check))
        gates = any(check.get("is_gate") for check in [*self.checks, *own])
        found = {
            _("Checks without an assertion: %(names)s.") % {"names": ", ".join(missing)}: missing,
            _("Reasoning in an answer is not taken out before a check."): steps,
            _("Checks that must pass only weigh."): gates,
            _("Follow-ups are not asked."): any(prompt.turns for prompt in version.prompts.all()),
            _("Messages that cases bring along are not sent."): cases.exclude(messages=None).exists(),
            _("Files of cases are left out."): CaseFile.objects.filter(case__version=version).exists(),
            _("Weights and clusters of cases do not count."): cases.exclude(weight=1, cluster="").exists(),
            _("Parameters belong to its providers: %(parameters)s.")
            % {"parameters": json.dumps(version.parameters)}: version.parameters,
            _("Failed calls are never counted as wrong."): version.errors_count == "wrong",
        }
        return [sentence for sentence, applies in found.items() if applies]

    def chunks(self) -> Iterator[bytes]:
        yield f"{self._heading()}{_yaml(self._head())}tests:\n".encode()
        for cases in case_batches(self.version, _CASES_AT_ONCE):
            yield _yaml([self._test(case) for case in cases]).encode()

    def _heading(self) -> str:
        version = self.version
        lines = [
            _("%(template)s, version %(number)s, for promptfoo.")
            % {"template": version.template.name, "number": version.number},
            _("Templates are Jinja’s: promptfoo reads them as Nunjucks, which differs in few things."),
            _("What stands under “arena” is for the import into an arena, which restores everything."),
        ]
        if self.notes:
            lines += [_("promptfoo cannot express:"), *(f"- {note}" for note in self.notes)]
        if version.template.held_out:
            lines.append(CANARY.format(digest=version.digest))
        return "".join(f"# {' '.join(line.split())}\n" for line in lines)

    def _head(self) -> JsonObject:
        version = self.version
        own = {
            "name": version.template.name, "checks": self.checks, "variables": version.variables,
            "parameters": version.parameters, "errors_count": version.errors_count, "threshold": version.threshold,
            "relevant_difference": version.relevant_difference,
        }  # fmt: skip
        shared = [_marked(check) for check in self.checks if not _is_of_case(check) and _has_assertion(check)]
        default: JsonObject = {"assert": shared} if shared else {}
        if version.threshold is not None:
            default["threshold"] = version.threshold
        return {
            "description": version.template.description,
            "prompts": [_prompt(prompt, number) for number, prompt in enumerate(version.prompts.all(), start=1)],
            **({"defaultTest": default} if default else {}),
            "metadata": {"arena": own},
        }  # fmt: skip

    def _test(self, case: Case) -> JsonObject:
        own = case_checks(self.checks, case.checks or [])[len(self.checks) :]
        asked = [*filter(_is_of_case, self.checks), *own]
        expected = target_of(case.expected)
        arena = {
            "expected": case.expected, "messages": case.messages, "checks": case.checks, "cluster": case.cluster,
            "tags": case.tags, "weight": case.weight,
        }  # fmt: skip
        variables = {name: _variable(value) for name, value in case.variables.items()}
        if variables != case.variables:
            arena["variables"] = case.variables
        test: JsonObject = {
            "description": case.key,
            "vars": variables,
            "assert": [_marked(check, expected) for check in asked if _has_assertion(check, expected)],
            # Lists are values, not variants of a case.
            "options": {"disableVarExpansion": True},
            "metadata": {
                **case.metadata, "arena": {name: value for name, value in arena.items() if value not in (None, "", [])}
            },
        }  # fmt: skip
        return test if case.threshold is None else test | {"threshold": case.threshold}


def _is_of_case(check: JsonObject) -> bool:
    """Return whether a check of the version compares with the case's expected values."""
    return check["target"] is None and check["scorer"] not in WITHOUT_TARGET


def _has_assertion(check: JsonObject, expected: Target | None = None) -> bool:
    """Return whether promptfoo can check; without values, whether it could with some."""
    try:
        assertion_of(check, ["any"] if expected is None else expected)
    except NotExpressible:
        return False
    return True


def _marked(check: JsonObject, expected: Target | None = None) -> JsonObject:
    return assertion_of(check, expected) | {"config": {"arena": check.get("key", "")}}


def _prompt(prompt: Prompt, number: int) -> JsonObject:
    messages, own = prompt.messages, {"label": prompt.label, "messages": prompt.messages, "turns": prompt.turns}
    raw = messages[0]["template"]
    if len(messages) > 1 or messages[0]["role"] != "user" or _NO_TEXT.match(raw) or not raw.strip():
        chat = [{"role": message["role"], "content": message["template"]} for message in messages]
        raw = json.dumps(chat, ensure_ascii=False, indent=1)
    # promptfoo refuses a prompt without a label.
    return {"label": prompt.label or f"prompt {number}", "raw": raw, "config": {"arena": own}}


def _variable(value: object) -> object:
    """Return a value that promptfoo neither renders nor reads from a file."""
    return escaped(value) if isinstance(value, str) else value


class _Dumper(yaml.CSafeDumper):
    """Quotes what YAML 1.1 or 1.2 would not read as a text."""

    yaml_implicit_resolvers = {
        first: [*yaml.CSafeDumper.yaml_implicit_resolvers.get(first, []), *RESOLVERS.get(first, [])]
        for first in {*yaml.CSafeDumper.yaml_implicit_resolvers, *RESOLVERS}
    }

    def ignore_aliases(self, data: object) -> bool:
        return True


def _yaml(value: object) -> str:
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)
