"""Imports of templates: look first, then store all or nothing."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

import msgspec
from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from benchmarks.actions.answer_runs import create_run_of_answers
from benchmarks.actions.drafts import case_digest, create_template, start_draft
from benchmarks.actions.import_sentences import sentence_of
from benchmarks.errors import WrongState
from benchmarks.imports import content as neutral
from benchmarks.imports.content import Entry, Imported, Request
from benchmarks.imports.guard import read_file
from benchmarks.models import Case, Check, ImportLook, Prompt, Template, TemplateVersion
from benchmarks.scores import MAX_KEY, case_checks
from common.errors import ArenaError, NotFound
from common.ids import new_public_id
from common.payload_types import JsonObject


class ImportRefused(ArenaError):
    code = "import_refused"
    message = _("The file was refused: nothing is stored.")
    http_status = 422


class ImportGone(NotFound):
    message = _("This import is gone. Choose the file again.")


class ReportLine(TypedDict):
    """line, column: from 1; 0 if unknown."""

    action: str
    code: str
    sentence: str
    line: int
    column: int
    file: str


@dataclass(frozen=True)
class Look:
    """id: "" if the file is refused."""

    id: str
    imported: Imported

    @property
    def lines(self) -> list[ReportLine]:
        """Return the report in the language of the request."""
        return [_line(entry) for entry in self.imported.entries]


def look(*, owner: User, content: bytes, request: Request) -> Look:
    """Parse a file and keep it for apply_look, in place of the member's last one."""
    imported = read_import(content, request)
    if imported.is_refused:
        return Look("", imported)
    ImportLook.objects.filter(created_at__lt=Now() - ImportLook.TTL).delete()
    packed = zlib.compress(msgspec.msgpack.encode(imported), level=1)
    facts = {"public_id": new_public_id(), "file_name": request.name[:255], "content": packed, "created_at": Now()}
    kept, _is_new = ImportLook.objects.update_or_create(owner=owner, defaults=facts)
    return Look(kept.public_id, imported)


def read_import(content: bytes, request: Request) -> Imported:
    """Parse a file, and refuse what templates have no room for."""
    imported = read_file(content, request)
    template = imported.template
    if imported.is_refused:
        return imported
    if template is None:
        return _refused(imported, Entry("refused", "questions_missing"))
    with_files = sum(bool(case.files) for case in template.cases)
    if with_files:
        return _refused(imported, Entry("refused", "files_not_supported", {"cases": with_files}))
    return imported


@transaction.atomic
def apply_look(
    *, owner: User, look_id: str, template: Template | None = None, with_answers: bool = False
) -> TemplateVersion:
    """Store a look once, as create_draft does, and the file's answers as a run. Raises ImportGone and WrongState."""
    kept = ImportLook.objects.select_for_update().filter(public_id=look_id, owner=owner).first()
    if kept is None:
        raise ImportGone
    imported = msgspec.msgpack.decode(zlib.decompress(kept.content), type=Imported)
    kept.delete()
    draft = create_draft(owner=owner, imported=imported, template=template)
    if with_answers and imported.replies:
        create_run_of_answers(owner=owner, version=draft, replies=imported.replies, name=kept.file_name[:120])
    return draft


@transaction.atomic
def create_draft(*, owner: User, imported: Imported, template: Template | None = None) -> TemplateVersion:
    """Store an import as a new or given template's draft. Raises ImportRefused, WrongState if it has one."""
    found = imported.template
    if imported.is_refused or found is None:
        raise ImportRefused
    if template is None:
        template = create_template(owner=owner, name=found.name[:120] or imported.format, description=found.description)
    elif template.versions.filter(state=TemplateVersion.State.DRAFT).exists():
        raise WrongState(_("The template has a draft. Import into a new template, or use the draft first."))
    draft = start_draft(template)
    draft.prompts.all().delete()
    draft.checks.all().delete()
    draft.cases.all().delete()
    draft.variables, draft.parameters, draft.case_count = found.variables, found.parameters, len(found.cases)
    draft.errors_count, draft.threshold = found.errors_count, found.threshold
    draft.relevant_difference, draft.import_report = found.relevant_difference, _stored_report(imported)
    draft.save()
    Prompt.objects.bulk_create(_prompts(draft, found.prompts))
    checks = case_checks([], _raw_checks(found.checks))
    Check.objects.bulk_create(Check(version=draft, position=position, **check) for position, check in enumerate(checks))
    Case.objects.bulk_create(
        [_case(draft, position, case) for position, case in enumerate(found.cases, start=1)], batch_size=1_000
    )
    return draft


def _refused(imported: Imported, entry: Entry) -> Imported:
    return Imported(imported.format, [*imported.entries, entry], {**imported.counts, "refused": 1})


def _line(entry: Entry) -> ReportLine:
    return ReportLine(
        action=entry.action, code=entry.code, sentence=sentence_of(entry), line=entry.line, column=entry.column,
        file=entry.file,
    )  # fmt: skip


def _stored_report(imported: Imported) -> JsonObject:
    report = {
        "format": imported.format, "counts": imported.counts, "entries": imported.entries, "models": imported.models,
        "repeats": imported.repeats, "concurrency": imported.concurrency,
    }  # fmt: skip
    stored: JsonObject = msgspec.to_builtins(report)
    return stored


def _prompts(draft: TemplateVersion, prompts: Sequence[neutral.Prompt]) -> list[Prompt]:
    return [
        Prompt(
            version=draft, position=position, label=prompt.label[:80], turns=prompt.turns,
            messages=[{"role": message.role, "template": message.text} for message in prompt.messages],
        )
        for position, prompt in enumerate(prompts)
    ]  # fmt: skip


def _case(draft: TemplateVersion, position: int, case: neutral.Case) -> Case:
    messages = None
    if case.messages is not None:
        messages = [{"role": message.role, "content": message.text} for message in case.messages]
    return Case(
        version=draft, position=position, key=case.key, variables=case.variables, expected=case.expected,
        messages=messages, checks=_raw_checks(case.checks) or None, cluster=case.cluster, tags=case.tags,
        metadata=case.metadata, weight=case.weight, threshold=case.threshold,
        digest=case_digest(case.variables, case.expected, messages),
    )  # fmt: skip


def _raw_checks(checks: Sequence[neutral.Check]) -> list[JsonObject]:
    return [_raw_check(check) for check in checks]


def _raw_check(check: neutral.Check) -> JsonObject:
    settings = check.settings | ({"checks": _raw_checks(check.checks)} if check.checks else {})
    target = None if check.uses_expected or not check.targets else check.targets
    return {
        "key": check.key[:MAX_KEY], "scorer": check.scorer, "settings": settings, "extract": check.extract,
        "target": target if check.target is None else check.target, "is_gate": check.is_gate,
        "weight": check.weight, "negate": check.negate, "threshold": check.threshold, "metric": check.metric[:80],
    }  # fmt: skip
