"""Files of cases; each change locks the draft."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from accounts.actor import Actor
from accounts.models import Team, User
from benchmarks.actions.case_digests import case_digest
from benchmarks.actions.templates import lock_draft
from benchmarks.errors import RunNotPossible
from benchmarks.imports.limits import MAX_KEY
from benchmarks.models import Case, CaseFile, Template, TemplateVersion
from benchmarks.pasting import PastedFile
from benchmarks.preparation.case_files import files_by_case
from common.errors import FieldErrors, InvalidInput
from uploads.actions import copy_upload, mark_used
from uploads.models import Upload

MAX_ERRORS = 20


def find_uploads(owner: User | None, cases: Sequence[Sequence[PastedFile]], template: Template) -> dict[str, Upload]:
    """Return the uploads of cases, of the member or the template's team, by public id.

    Those of a template's team are the team's copies. Raises InvalidInput and QuotaReached.
    """
    wanted = {file.upload for files in cases for file in files if file.upload.isprintable()}
    if not any(cases):
        return {}
    owned = Upload.objects.owned_by(Actor(user=owner))
    if template.team_id is not None:
        owned |= Upload.objects.filter(team=template.team_id)
    usable = owned.kept().exclude(state=Upload.State.FAILED)
    uploads = {upload.public_id: upload for upload in usable.filter(public_id__in=wanted)}
    problems = list(dict.fromkeys(problem for files in cases if (problem := _problem(files, uploads))))
    if problems:
        raise InvalidInput(fields={"files": problems})
    if owner is None:
        return uploads
    return {public_id: in_place(upload, owner, template.team) for public_id, upload in uploads.items()}


def in_place(upload: Upload, by: User, team: Team | None) -> Upload:
    """Return the upload if it is the team's, or the person's without one; else a copy. Raises as copy_upload does."""
    is_own = team is not None or upload.owner_user_id == by.pk
    return upload if is_own and upload.team_id == (team and team.pk) else copy_upload(upload, user=by, team=team)


def _problem(files: Sequence[PastedFile], uploads: Mapping[str, Upload]) -> str:
    if len(files) > CaseFile.MAX_PER_CASE:
        return _("Attach at most %(most)d files; these are %(n)d.") % {"most": CaseFile.MAX_PER_CASE, "n": len(files)}
    if max(Counter(file.upload for file in files).values(), default=0) > 1:
        return _("Attach each file once.")
    if any(file.upload not in uploads for file in files):
        return _("One of the files does not exist or was deleted.")
    return ""


def store_files(cases: Sequence[tuple[Case, Sequence[tuple[str, Upload]]]]) -> None:
    """Store files, as variable and upload, of new cases of a locked draft."""
    rows = [
        CaseFile(case=case, upload=upload, variable=variable, position=position)
        for case, files in cases
        for position, (variable, upload) in enumerate(files)
    ]
    if rows:
        CaseFile.objects.bulk_create(rows, batch_size=1_000)
        mark_used(Upload.objects.filter(pk__in={row.upload_id for row in rows}))


@transaction.atomic
def change_files(case: Case, *, added: Sequence[Upload], variable: str = "", removed: Collection[int] = ()) -> None:
    """Remove files by their ids, and add others, of a draft's case. Raises InvalidInput, WrongState, QuotaReached."""
    draft = lock_draft(case.version)
    team = draft.template.team
    if team is not None:
        added = [in_place(upload, upload.owner_user, team) for upload in added if upload.owner_user is not None]
    case.files.filter(pk__in=removed).delete()
    remaining = list(case.files.select_related("upload"))
    new = [upload for upload in added if upload not in [file.upload for file in remaining]]
    if len(remaining) + len(new) > CaseFile.MAX_PER_CASE:
        raise InvalidInput(_("A case may have %(limit)s files.") % {"limit": CaseFile.MAX_PER_CASE})
    case.files.all().delete()
    files = [
        *((file.variable, file.upload) for file in remaining),
        *((variable[:MAX_KEY] or "file", upload) for upload in new),
    ]
    store_files([(case, files)])
    case.digest = case_digest(case.variables, case.expected, case.messages, files)
    case.save(update_fields=["digest"])


def copy_files(copies: Mapping[int, Case], *, by: User | None = None, team: Team | None = None) -> None:
    """Copy the files of cases. copies: the copies by id of the original. by: the person for whose place they are.

    Raises InvalidInput for files that are gone, and QuotaReached.
    """
    files = files_by_case(copies)
    uploads = {file.upload_id: file.upload for originals in files.values() for file in originals}
    if by is not None:
        uploads = {pk: in_place(upload, by, team) for pk, upload in uploads.items()}
    store_files(
        [
            (copies[pk], [(file.variable, uploads[file.upload_id]) for file in originals])
            for pk, originals in files.items()
        ]
    )


def require_usable_files(version: TemplateVersion) -> None:
    """Lock the files until COMMIT. Raises RunNotPossible with each case whose files cannot be sent."""
    pairs = list(CaseFile.objects.filter(case__version=version).values_list("case__key", "upload"))
    if not pairs:
        return
    locked = Upload.objects.select_for_update(no_key=True).filter(pk__in={pk for _key, pk in pairs}).order_by("pk")
    uploads = {upload.pk: upload for upload in locked}
    files: dict[str, list[Upload]] = defaultdict(list)
    for key, pk in pairs:
        files[key].append(uploads[pk])
    problems: FieldErrors = {}
    for key, sent in files.items():
        if sentences := [sentence for upload in sent if (sentence := _unusable(upload))] or _too_long(sent):
            problems[f"cases[{key}].files"] = [f"{key}: {sentence}" for sentence in sentences]
        if len(problems) >= MAX_ERRORS:
            break
    if problems:
        raise RunNotPossible(fields=problems)


def _unusable(upload: Upload) -> str:
    if not upload.is_kept:
        return _("“%(file)s” was deleted.") % {"file": upload.name}
    if upload.state == Upload.State.EXTRACTING:
        return _("“%(file)s” is still being processed.") % {"file": upload.name}
    if upload.state == Upload.State.FAILED:
        return _("“%(file)s” cannot be used.") % {"file": upload.name} + f" {upload.error_message}"
    return ""


def _too_long(uploads: Sequence[Upload]) -> list[str]:
    characters, limit = sum(upload.characters or 0 for upload in uploads), settings.ARENA_ATTACHED_CHARACTERS
    sentence = _("The files have %(characters)s characters; the limit is %(most)s per prompt.")
    return [sentence % {"characters": characters, "most": limit}] if characters > limit else []
