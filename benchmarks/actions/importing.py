"""Imports of templates: preview first, then store all or nothing."""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypedDict

import msgspec
from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts.actor import Actor
from accounts.models import Team, User
from benchmarks.actions.answer_runs import create_run_of_answers
from benchmarks.actions.case_digests import case_digest
from benchmarks.actions.case_files import in_place, store_files
from benchmarks.actions.drafts import create_template, start_draft
from benchmarks.actions.import_sentences import sentence_of
from benchmarks.actions.version_errors import errors_of_version
from benchmarks.checks.check_set import MAX_KEY, case_checks, raw_check
from benchmarks.errors import WrongState
from benchmarks.imports import content as neutral
from benchmarks.imports.content import Column, Entry, Imported, ReadLine, Request
from benchmarks.imports.guard import read_file
from benchmarks.models import Case, Check, ImportLook, Prompt, Template, TemplateVersion
from common.errors import ArenaError, NotFound
from common.ids import new_public_id
from common.payload_types import JsonObject
from uploads.actions import store_upload
from uploads.models import Upload


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
class ImportPreview:
    """id: "" if the file is refused. source_id: for preview_again; "" if nothing can be chosen."""

    id: str
    imported: Imported
    source_id: str = ""

    @property
    def lines(self) -> list[ReportLine]:
        """Return the report in the language of the request."""
        return [_line(entry) for entry in self.imported.entries]


def preview(*, owner: User, content: bytes, request: Request) -> ImportPreview:
    """Parse a file and keep it for apply_preview, in place of the member's last one."""
    imported = read_import(content, request)
    has_choices = bool(imported.columns or imported.sheets or imported.encodings)
    if imported.is_refused and not has_choices:
        return ImportPreview("", imported)
    ImportLook.objects.filter(created_at__lt=Now() - ImportLook.TTL).delete()
    facts = {
        "public_id": new_public_id(), "file_name": request.name[:255], "created_at": Now(), "source": None,
        "content": b"" if imported.is_refused else zlib.compress(msgspec.msgpack.encode(imported), level=1),
        "choices": None,
    }  # fmt: skip
    if has_choices:
        facts["source"] = zlib.compress(content, level=1)
        choices = Choices(request, imported.columns, imported.sheets, imported.encodings)
        facts["choices"] = msgspec.to_builtins(choices)
    stored, _is_new = ImportLook.objects.update_or_create(owner=owner, defaults=facts)
    return ImportPreview(
        "" if imported.is_refused else stored.public_id, imported, stored.public_id if has_choices else ""
    )


class Choices(msgspec.Struct):
    request: Request
    columns: list[Column]
    sheets: list[str] = []
    encodings: list[ReadLine] = []


def previewed_choices(*, owner: User, source_id: str) -> Choices:
    """Raises ImportGone."""
    return msgspec.convert(_source(owner, source_id).choices, Choices)


def preview_again(
    *, owner: User, source_id: str, mapping: dict[str, str], sheet: str = "", encoding: str = ""
) -> ImportPreview:
    """Preview the same file with other roles of its columns, another sheet or encoding. Raises ImportGone."""
    stored = _source(owner, source_id)
    choices = msgspec.convert(stored.choices, Choices)
    again = msgspec.structs.replace(choices.request, mapping=mapping)
    if choices.columns:
        again.format = "table"
    if sheet and sheet not in choices.sheets[:1]:
        again = msgspec.structs.replace(choices.request, format="", mapping={}, sheet=sheet)
    if encoding and encoding != choices.encodings[0].encoding:
        again = msgspec.structs.replace(choices.request, format="", mapping={}, encoding=encoding)
    return preview(owner=owner, content=zlib.decompress(stored.source or b""), request=again)


def _source(owner: User, source_id: str) -> ImportLook:
    stored = ImportLook.objects.filter(public_id=source_id, owner=owner, source__isnull=False).first()
    if stored is None:
        raise ImportGone
    return stored


def read_import(content: bytes, request: Request) -> Imported:
    """Parse a file, and refuse what templates have no room for."""
    imported = read_file(content, request)
    if not imported.is_refused and imported.template is None:
        return _refused(imported, Entry("refused", "questions_missing"))
    return imported


@transaction.atomic
def apply_preview(
    *, owner: User, preview_id: str, template: Template | None = None, team: Team | None = None,
    with_answers: bool = False,
) -> TemplateVersion:  # fmt: skip
    """Store a preview once, as create_draft does, and the file's answers as a run.

    Raises ImportGone, ImportRefused and WrongState; with answers also RunNotPossible and TooManyRuns.
    """
    stored = ImportLook.objects.select_for_update().filter(public_id=preview_id, owner=owner).first()
    if stored is None or not stored.content:
        raise ImportGone
    imported = msgspec.msgpack.decode(zlib.decompress(stored.content), type=Imported)
    stored.delete()
    draft = create_draft(owner=owner, imported=imported, template=template, team=team)
    if with_answers and imported.replies:
        create_run_of_answers(owner=owner, version=draft, replies=imported.replies, name=stored.file_name[:120])
    return draft


@transaction.atomic
def create_from_table(
    *, owner: User, source_id: str, name: str, mapping: dict[str, str],
    make_checks: Callable[[Sequence[object]], Sequence[Check]], team: Team | None = None,
) -> TemplateVersion:  # fmt: skip
    """Store a previewed table as a new template. make_checks: gets all expected answers.

    Raises ImportGone, and ImportRefused with sentences where a row or its expected answer cannot be used.
    """
    result = preview_again(owner=owner, source_id=source_id, mapping=mapping)
    if not result.id or result.imported.template is None:
        raise ImportRefused(fields={"file": [line["sentence"] for line in result.lines if line["action"] == "refused"]})
    expected = [value for case in result.imported.template.cases for value in case.expected]
    draft = apply_preview(owner=owner, preview_id=result.id, team=team)
    Template.objects.filter(pk=draft.template_id).update(name=name)
    draft.checks.all().delete()
    Check.objects.bulk_create(
        Check(version=draft, position=position, **raw_check(check))
        for position, check in enumerate(make_checks(expected))
    )
    if errors := errors_of_version(draft):
        raise ImportRefused(fields=errors)
    return draft


@transaction.atomic
def create_draft(
    *, owner: User, imported: Imported, template: Template | None = None, team: Team | None = None
) -> TemplateVersion:
    """Store an import as a new or given template's draft. team: of a new one.

    Raises ImportRefused, QuotaReached, and WrongState for a template with a draft.
    """
    content = imported.template
    if imported.is_refused or content is None:
        raise ImportRefused
    if template is None:
        template = create_template(
            owner=owner, name=content.name[:120] or imported.format, description=content.description, team=team
        )  # fmt: skip
    elif template.versions.filter(state=TemplateVersion.State.DRAFT).exists():
        raise WrongState(_("The template has a draft. Import into a new template, or use the draft first."))
    draft = start_draft(template)
    draft.prompts.all().delete()
    draft.checks.all().delete()
    draft.cases.all().delete()
    draft.variables, draft.parameters, draft.case_count = content.variables, content.parameters, len(content.cases)
    draft.errors_count, draft.threshold = content.errors_count, content.threshold
    draft.relevant_difference, draft.import_report = content.relevant_difference, _stored_report(imported)
    draft.save()
    Prompt.objects.bulk_create(_prompts(draft, content.prompts))
    checks = case_checks([], _raw_checks(content.checks))
    Check.objects.bulk_create(Check(version=draft, position=position, **check) for position, check in enumerate(checks))
    uploads = _store_uploads(owner, content, template.team)
    files = [[(file.variable, uploads[file.digest]) for file in case.files] for case in content.cases]
    cases = [
        _case(draft, position, case, sent)
        for position, (case, sent) in enumerate(zip(content.cases, files, strict=True), start=1)
    ]
    Case.objects.bulk_create(cases, batch_size=1_000)
    store_files(list(zip(cases, files, strict=True)))
    return draft


def _store_uploads(owner: User, template: neutral.Template, team: Team | None) -> dict[str, Upload]:
    """Store the files of cases as uploads, by digest. Raises ImportRefused and as store_upload does."""
    names = {file.digest: file.name for case in template.cases for file in case.files}
    uploads = {digest: store_upload(Actor(user=owner), template.files[digest], name) for digest, name in names.items()}
    failed = [upload for upload in uploads.values() if upload.state == Upload.State.FAILED]
    if failed:
        raise ImportRefused(fields={"file": [f"{upload.name}: {upload.error_message}" for upload in failed]})
    return {digest: in_place(upload, owner, team) for digest, upload in uploads.items()}


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


def _case(draft: TemplateVersion, position: int, case: neutral.Case, files: Sequence[tuple[str, Upload]]) -> Case:
    messages = None
    if case.messages is not None:
        messages = [{"role": message.role, "content": message.text} for message in case.messages]
    return Case(
        version=draft, position=position, key=case.key, variables=case.variables, expected=case.expected,
        messages=messages, checks=_raw_checks(case.checks) or None, cluster=case.cluster, tags=case.tags,
        metadata=case.metadata, weight=case.weight, threshold=case.threshold,
        digest=case_digest(case.variables, case.expected, messages, files),
    )  # fmt: skip


def _raw_checks(checks: Sequence[neutral.Check]) -> list[JsonObject]:
    return [raw_check(check) | {"key": check.key[:MAX_KEY], "metric": check.metric[:80]} for check in checks]
