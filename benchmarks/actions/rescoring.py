from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext as _

from benchmarks.actions.templates import freeze_version
from benchmarks.errors import RunNotPossible, WrongState
from benchmarks.models import CaseFile, Run, RunItem, TemplateVersion
from benchmarks.tasks import wake_after_commit

# Cases that a refusal names.
MAX_KEYS = 20


@transaction.atomic
def rescore_run(run: Run, version: TemplateVersion | None = None) -> Run:
    """Score a finished run's answers again, by a version's checks and expected values; this costs no call.

    version: by default the template's newest; a draft is frozen. Raises WrongState, RunNotPossible for other questions.
    """
    run = Run.objects.lock(run.pk)
    if run.state != Run.State.DONE or run.is_judging:
        raise WrongState
    version = version or run.version.template.versions.latest("number")
    if version.template_id != run.version.template_id:
        raise RunNotPossible(_("Choose a version of the run’s template."))
    version = freeze_version(version)
    if changed := _keys_of_changed_cases(run, version):
        sentence = _("The version has no case “%(key)s” that asks the same as in the run.")
        raise RunNotPossible(fields={"version": [sentence % {"key": key} for key in changed]})
    run.checks_version = None if version.pk == run.version_id else version
    run.state, run.finished_at, run.driven_until = Run.State.SCORING, None, None
    run.save(update_fields=["checks_version", "state", "finished_at", "driven_until"])
    RunItem.objects.filter(entrant__run=run, state=RunItem.State.SCORED).update(state=RunItem.State.ANSWERED)
    wake_after_commit(run)
    return run


def _keys_of_changed_cases(run: Run, version: TemplateVersion) -> list[str]:
    """Return up to 20 keys of the run's cases that are missing, or have other content or files, in the version."""
    with_messages = version.cases.filter(key=OuterRef("key"), variables=OuterRef("variables"))
    same = Exists(with_messages.filter(messages=OuterRef("messages")))
    without_messages = Exists(with_messages.filter(messages__isnull=True))
    differing = run.version.cases.filter(~same & ~(Q(messages__isnull=True) & without_messages))
    changed = differing.order_by("position").values_list("key", flat=True)[:MAX_KEYS]
    before, after = _files(run.version), _files(version)
    with_files = run.version.cases.filter(key__in=[*before, *after]).order_by("position").values_list("key", flat=True)
    with_other_files = (key for key in with_files if before.get(key) != after.get(key))
    return list(dict.fromkeys([*changed, *with_other_files]))[:MAX_KEYS]


def _files(version: TemplateVersion) -> dict[str, list[tuple[str, str, str]]]:
    """Return names and digests of files by case key."""
    files: dict[str, list[tuple[str, str, str]]] = {}
    stored_files = CaseFile.objects.filter(case__version=version).order_by("case", "position")
    for key, *facts in stored_files.values_list("case__key", "variable", "upload__name", "upload__sha256"):
        files.setdefault(key, []).append((facts[0], facts[1], facts[2]))
    return files
