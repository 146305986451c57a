"""A template as promptfoo's configuration in YAML. Its first comment names what promptfoo has no field for."""

import json
import re
from collections.abc import Iterator
from functools import cached_property

from django.utils.translation import gettext as _

from benchmarks.checks.check_set import case_checks, raw_check, target_of
from benchmarks.exports.promptfoo_assertions import WITHOUT_TARGET, NotExpressible, assertion_of, escaped
from benchmarks.exports.run_export import case_batches
from benchmarks.exports.run_json import CANARY
from benchmarks.exports.yaml_text import as_comment, as_yaml
from benchmarks.models import Case, CaseFile, Prompt, TemplateVersion
from benchmarks.scoring.ports import Target
from common.payload_types import JsonObject

_CASES_AT_ONCE = 200
# promptfoo reads these as a chat, a file or an address.
_NO_TEXT = re.compile(r"\s*(\[|- role:|\{)|(file|exec|python|https?|langfuse|portkey|helicone):|\S+\.\w{1,5}\Z")


class PromptfooExport:
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
        notes = {
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
        return [sentence for sentence, applies in notes.items() if applies]

    def chunks(self) -> Iterator[bytes]:
        yield f"{self._heading()}{as_yaml(self._head())}tests:\n".encode()
        for cases in case_batches(self.version, _CASES_AT_ONCE):
            yield as_yaml([self._test(case) for case in cases]).encode()

    def _heading(self) -> str:
        version = self.version
        lines = [
            _("%(template)s, version %(number)s, for promptfoo.")
            % {"template": version.template.name, "number": version.number},
            _("Templates are Jinja’s: promptfoo reads them as Nunjucks, which differs in few things."),
        ]
        if self.notes:
            lines += [_("promptfoo cannot express:"), *(f"- {note}" for note in self.notes)]
        if version.template.held_out:
            lines.append(CANARY.format(digest=version.digest))
        return as_comment(lines)

    def _head(self) -> JsonObject:
        version = self.version
        shared = [
            assertion_of(check, None) for check in self.checks if not _is_of_case(check) and _has_assertion(check)
        ]
        default: JsonObject = {"assert": shared} if shared else {}
        if version.threshold is not None:
            default["threshold"] = version.threshold
        return {
            "description": version.template.description,
            "prompts": [_prompt(prompt, number) for number, prompt in enumerate(version.prompts.all(), start=1)],
            **({"defaultTest": default} if default else {}),
        }  # fmt: skip

    def _test(self, case: Case) -> JsonObject:
        own = case_checks(self.checks, case.checks or [])[len(self.checks) :]
        checks = [*filter(_is_of_case, self.checks), *own]
        expected = target_of(case.expected)
        metadata = ({"tags": case.tags} if case.tags else {}) | case.metadata
        test: JsonObject = {
            "description": case.key,
            "vars": {name: _variable(value) for name, value in case.variables.items()},
            "assert": [assertion_of(check, expected) for check in checks if _has_assertion(check, expected)],
            # Lists are values, not variants of a case.
            "options": {"disableVarExpansion": True},
            **({"metadata": metadata} if metadata else {}),
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


def _prompt(prompt: Prompt, number: int) -> JsonObject:
    messages = prompt.messages
    raw = messages[0]["template"]
    if len(messages) > 1 or messages[0]["role"] != "user" or _NO_TEXT.match(raw) or not raw.strip():
        chat = [{"role": message["role"], "content": message["template"]} for message in messages]
        raw = json.dumps(chat, ensure_ascii=False, indent=1)
    # promptfoo refuses a prompt without a label.
    return {"label": prompt.label or f"prompt {number}", "raw": raw}


def _variable(value: object) -> object:
    """Return a value that promptfoo neither renders nor reads from a file."""
    return escaped(value) if isinstance(value, str) else value
