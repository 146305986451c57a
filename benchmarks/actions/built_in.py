"""Built-in templates, stored for the whole site. Safe to repeat."""

from django.db import connection, transaction

from benchmarks.actions.drafts import DraftContent, add_cases, save_draft, start_draft
from benchmarks.actions.templates import freeze_version
from benchmarks.built_in.reading import BuiltIn, read_all
from benchmarks.models import Template, TemplateVersion

_LOCK_ID = 0x62656E6368  # "bench"
_DIGEST = "built_in"


def store_built_in_templates() -> int:
    """Store new and changed ones as frozen versions; return their number. A draft of administrators stays."""
    return sum(_store(built_in) for built_in in read_all())


@transaction.atomic
def _store(built_in: BuiltIn) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK_ID])
    site = Template.Visibility.SITE
    template, is_new = Template.objects.get_or_create(
        owner_user=None, slug=built_in.slug, visibility=site,
        defaults={"name": built_in.name, "description": built_in.description},
    )  # fmt: skip
    newest = template.versions.order_by("-number").first()
    if newest is not None and _is_current(newest, built_in):
        return False
    draft = TemplateVersion.objects.create(template=template) if is_new else start_draft(template)
    draft.import_report = {_DIGEST: built_in.digest}
    draft.save(update_fields=["import_report"])
    save_draft(draft, DraftContent(built_in.prompts, built_in.checks, built_in.parameters))
    add_cases(draft, [entry.case for entry in built_in.cases], replace=True)
    freeze_version(draft)
    return True


def _is_current(newest: TemplateVersion, built_in: BuiltIn) -> bool:
    is_edited = newest.state == TemplateVersion.State.DRAFT
    return is_edited or newest.import_report.get(_DIGEST) == built_in.digest
