"""Freezing of versions; archiving and deletion of templates."""

import hashlib

import msgspec
from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from benchmarks.actions.version_errors import errors_of_version
from benchmarks.errors import RunNotPossible, TemplateInUse, VersionFrozen
from benchmarks.models import Case, CaseFile, Check, Prompt, Run, Template, TemplateVersion
from common.db.triggers import without_triggers_of
from common.errors import InvalidInput
from common.text.numbers import format_numbers


def lock_draft(version: TemplateVersion) -> TemplateVersion:
    """Return the draft, locked until COMMIT. Raises WrongState for a frozen version."""
    draft = TemplateVersion.objects.select_for_update().get(pk=version.pk)
    if draft.state != TemplateVersion.State.DRAFT:
        raise VersionFrozen
    return draft


@transaction.atomic
def freeze_version(version: TemplateVersion) -> TemplateVersion:
    """Freeze a draft, so that a run can use it; return it. A frozen version stays as it is.

    Raises InvalidInput without cases or prompts, RunNotPossible with the position of each bad template, schema, check
    or target.
    """
    version = TemplateVersion.objects.select_for_update().get(pk=version.pk)
    if version.state == TemplateVersion.State.FROZEN:
        return version
    prompts = list(version.prompts.values_list("label", "messages", "turns"))
    checks = list(
        version.checks.values_list(
            "key", "scorer", "target", "settings", "extract", "weight", "negate", "threshold", "is_gate", "metric"
        )
    )
    cases = version.cases.values_list(
        "key", "variables", "expected", "messages", "checks", "cluster", "tags", "weight", "threshold", "metadata"
    )
    rules = [version.threshold, version.errors_count, version.relevant_difference]
    digest = hashlib.sha256(msgspec.json.encode([version.variables, version.parameters, prompts, checks, rules]))
    version.case_count = 0
    for case in cases.iterator():
        digest.update(msgspec.json.encode(case))
        version.case_count += 1
    if not prompts or not version.case_count:
        numbers = format_numbers(prompts=len(prompts), cases=version.case_count)
        sentence = _("The template has %(cases)s cases and %(prompts)s prompts: it needs one of each at least.")
        raise InvalidInput(sentence % numbers)
    files = CaseFile.objects.filter(case__version=version).order_by("case__position", "position")
    for facts in files.values_list("variable", "upload__name", "upload__sha256"):
        digest.update(msgspec.json.encode(facts))
    if errors := errors_of_version(version):
        raise RunNotPossible(fields=errors)
    version.state, version.digest, version.frozen_at = TemplateVersion.State.FROZEN, digest.hexdigest(), Now()
    version.save(update_fields=["state", "digest", "frozen_at", "case_count"])
    return version


def archive_template(template: Template, *, archived: bool) -> None:
    """Hide a template from lists, or show it again; its runs stay."""
    template.archived_at = Now() if archived else None
    template.save(update_fields=["archived_at"])
    template.refresh_from_db()


@transaction.atomic
def delete_template(template: Template) -> None:
    """Delete a template with its versions. Raises TemplateInUse if it has runs."""
    versions = TemplateVersion.objects.select_for_update().filter(template=template)
    if Run.objects.filter(version__in=list(versions)).exists():
        raise TemplateInUse
    with without_triggers_of(Case, CaseFile, Prompt, Check):  # of frozen versions, which no run used
        for contents in (Case, Prompt, Check):
            contents.objects.filter(version__template=template).delete()
        versions.delete()
    template.delete()
