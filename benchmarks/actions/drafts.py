"""Changes of templates and drafts; each locks the version."""

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from django.db import transaction
from django.db.models import Max
from django.utils.text import slugify
from django.utils.translation import gettext as _

from accounts import audit
from accounts.models import Team, User
from benchmarks.actions.case_digests import case_digest
from benchmarks.actions.case_files import copy_files, find_uploads, store_files
from benchmarks.actions.templates import lock_draft
from benchmarks.imports.limits import MAX_CASES, MAX_KEY
from benchmarks.models import Case, Check, Prompt, Template, TemplateVersion
from benchmarks.pasting import PastedCase
from benchmarks.preparation.case_files import files_by_case
from common.errors import InvalidInput
from common.payload_types import JsonObject


@dataclass(frozen=True)
class DraftContent:
    """Unsaved prompts and checks in their order."""

    prompts: Sequence[Prompt]
    checks: Sequence[Check]
    parameters: JsonObject = field(default_factory=dict)
    errors_count: str = TemplateVersion.ErrorsCount.MISSING
    # JSON Schema of a case's variables; None keeps the draft's.
    variables: JsonObject | None = None
    threshold: float | None = None
    relevant_difference: float | None = None


@transaction.atomic
def create_template(*, owner: User, name: str, description: str = "", team: Team | None = None) -> Template:
    """Store a template with an empty draft."""
    slug = slugify(name)[:110] or "template"
    of_owner = (
        Template.objects.filter(owner_user=owner, team=None) if team is None else Template.objects.filter(team=team)
    )
    if of_owner.filter(slug=slug).exists():
        slug = f"{slug}-{secrets.token_hex(4)}"
    template = Template.objects.create(owner_user=owner, team=team, name=name, description=description, slug=slug)
    version = TemplateVersion.objects.create(template=template)
    Prompt.objects.create(version=version, messages=[{"role": "user", "template": "{{ question }}"}])
    return template


@transaction.atomic
def update_template(
    template: Template, *, name: str, description: str, visibility: str, held_out: bool, by: User
) -> None:
    if visibility != template.visibility:
        audit.record(by, f"share template with {visibility}", template.public_id, before=template.visibility)
    template.name, template.description = name, description
    template.visibility, template.held_out = visibility, held_out
    template.save(update_fields=["name", "description", "visibility", "held_out"])


@transaction.atomic
def save_draft(version: TemplateVersion, content: DraftContent) -> None:
    """Replace a draft's prompts, checks and parameters. Raises WrongState."""
    draft = lock_draft(version)
    draft.parameters, draft.errors_count = content.parameters, content.errors_count
    draft.threshold, draft.relevant_difference = content.threshold, content.relevant_difference
    if content.variables is not None:
        draft.variables = content.variables
    draft.save(update_fields=["parameters", "errors_count", "variables", "threshold", "relevant_difference"])
    draft.prompts.all().delete()
    draft.checks.all().delete()
    for position, prompt in enumerate(content.prompts):
        prompt.version, prompt.position = draft, position
    for position, check in enumerate(content.checks):
        check.version, check.position = draft, position
    Prompt.objects.bulk_create(content.prompts)
    Check.objects.bulk_create(content.checks)


@transaction.atomic
def start_draft(template: Template) -> TemplateVersion:
    """Return the draft, or a new copy of the newest version."""
    template = Template.objects.select_for_update().get(pk=template.pk)
    newest = template.versions.order_by("-number").first()
    if newest is None:
        return TemplateVersion.objects.create(template=template)
    if newest.state == TemplateVersion.State.DRAFT:
        return newest
    draft, copies = _copy_version(newest, template, number=newest.number + 1)
    copy_files(copies)
    return draft


@transaction.atomic
def copy_template(version: TemplateVersion, *, by: User, team: Team | None) -> Template:
    """Store a version as the draft of a new template of the person, or of a team. Raises as copy_files does."""
    original = version.template
    copy = create_template(owner=by, name=original.name, description=original.description, team=team)
    copy.held_out, copy.kind = original.held_out, original.kind
    copy.save(update_fields=["held_out", "kind"])
    copy.versions.all().delete()
    _draft, copies = _copy_version(version, copy, number=1)
    copy_files(copies, by=by, team=team)
    return copy


def _copy_version(
    version: TemplateVersion, template: Template, *, number: int
) -> tuple[TemplateVersion, dict[int, Case]]:
    """Return the copy, and its cases by the id of the original."""
    draft = TemplateVersion.objects.create(
        template=template, number=number, variables=version.variables, parameters=version.parameters,
        errors_count=version.errors_count, case_count=version.case_count, threshold=version.threshold,
        relevant_difference=version.relevant_difference,
    )  # fmt: skip
    prompts, checks, cases = list(version.prompts.all()), list(version.checks.all()), list(version.cases.all())
    originals = [case.pk for case in cases]
    copies: list[Prompt | Check | Case] = [*prompts, *checks, *cases]
    for row in copies:
        row.pk, row.version = None, draft
    Prompt.objects.bulk_create(prompts)
    Check.objects.bulk_create(checks)
    Case.objects.bulk_create(cases, batch_size=1_000)
    return draft, dict(zip(originals, cases, strict=True))


@transaction.atomic
def add_cases(
    version: TemplateVersion, pasted: Sequence[PastedCase], *, replace: bool = False, by: User | None = None
) -> int:
    """Store pasted cases, return their number. by: owner of their files. Raises InvalidInput and WrongState."""
    draft = lock_draft(version)
    if replace:
        draft.cases.all().delete()
        draft.variables = {}
    taken = set(draft.cases.values_list("key", flat=True))
    if len(taken) + len(pasted) > MAX_CASES:
        raise InvalidInput(fields={"table": [_("A template has at most %(most)s cases.") % {"most": MAX_CASES}]})
    twice = [case.key for case in pasted if case.key in taken]
    if twice:
        sentence = _("The template already has a case “%(key)s”.")
        raise InvalidInput(fields={"table": [sentence % {"key": key} for key in twice[:20]]})
    uploads = find_uploads(by, [case.files for case in pasted], draft.template)
    files = [[(file.variable, uploads[file.upload]) for file in case.files] for case in pasted]
    taken |= {case.key for case in pasted}
    position = 1 + (draft.cases.aggregate(last=Max("position"))["last"] or 0)
    rows = [
        Case(
            version=draft, position=position + at, key=case.key or _new_key(taken, position + at),
            variables=case.variables, expected=case.expected, tags=case.tags,
            digest=case_digest(case.variables, case.expected, case.messages, files[at]), messages=case.messages,
            checks=case.checks, cluster=case.cluster, metadata=case.metadata, weight=case.weight,
        )
        for at, case in enumerate(pasted)
    ]  # fmt: skip
    Case.objects.bulk_create(rows, batch_size=1_000)
    store_files(list(zip(rows, files, strict=True)))
    _count_cases(draft)
    return len(rows)


def _new_key(taken: set[str], number: int) -> str:
    key = str(number)
    while key in taken:
        key = f"{number}-{secrets.token_hex(3)}"
    taken.add(key)
    return key


@transaction.atomic
def save_cases(version: TemplateVersion, edited: Mapping[int, PastedCase], *, deleted: Collection[int] = ()) -> None:
    """Change and delete cases. Raises InvalidInput, ids as fields, and WrongState."""
    draft = lock_draft(version)
    draft.cases.filter(pk__in=deleted).delete()
    rows = list(draft.cases.filter(pk__in=edited.keys() - set(deleted)))
    others = set(draft.cases.exclude(pk__in=[row.pk for row in rows]).values_list("key", flat=True))
    files = files_by_case([row.pk for row in rows])
    problems: dict[str, list[str]] = {}
    for row in rows:
        case = edited[row.pk]
        if not case.key or len(case.key) > MAX_KEY:
            problems[str(row.pk)] = [_("A key has 1 to %(most)s characters.") % {"most": MAX_KEY}]
        elif case.key in others:
            problems[str(row.pk)] = [_("The template already has a case “%(key)s”.") % {"key": case.key}]
        others.add(case.key)
        # A key may move from one row to another: unique again after the second update.
        row.key, row.variables, row.expected, row.tags = case.key, case.variables, case.expected, case.tags
        sent = [(file.variable, file.upload) for file in files.get(row.pk, [])]
        row.digest = case_digest(row.variables, row.expected, row.messages, sent)
    if problems:
        raise InvalidInput(fields=problems)
    changed = [row.pk for row in rows]
    for pk in changed:
        Case.objects.filter(pk=pk).update(key=f"{pk}-{secrets.token_hex(8)}")
    Case.objects.bulk_update(rows, ["key", "variables", "expected", "tags", "digest"])
    _count_cases(draft)


def _count_cases(draft: TemplateVersion) -> None:
    draft.case_count = draft.cases.count()
    draft.save(update_fields=["case_count", "variables"])
