"""Access to templates and runs; all others get 404."""

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet
from django.http import Http404

from accounts.models import User
from benchmarks.models import Run, Template, TemplateVersion
from common.text.numbers import parse_whole_number

Person = User | AnonymousUser


def readable_templates(person: Person) -> QuerySet[Template]:
    """Return the site's templates and the member's own."""
    is_site = Q(visibility=Template.Visibility.SITE)
    own = Q(owner_user=person) if isinstance(person, User) else Q(pk__in=[])
    return Template.objects.filter(own | is_site)


def may_edit(person: Person, template: Template) -> bool:
    if not isinstance(person, User):
        return False
    return template.owner_user_id == person.pk or (
        template.visibility == Template.Visibility.SITE and person.is_administrator
    )


def get_template_or_404(person: Person, public_id: str, *, to_edit: bool = False) -> Template:
    template = readable_templates(person).filter(public_id=public_id).first()
    if template is None or (to_edit and not may_edit(person, template)):
        raise Http404
    return template


def visible_versions(person: Person, template: Template) -> QuerySet[TemplateVersion]:
    """Return versions, newest first; drafts only to those who may edit them."""
    versions = template.versions.order_by("-number")
    if may_edit(person, template):
        return versions
    return versions.filter(state=TemplateVersion.State.FROZEN)


def find_version(person: Person, template: Template, number: int | str | None) -> TemplateVersion | None:
    """Return the newest version, or the one with a number; None if there is none."""
    versions = visible_versions(person, template)
    if number not in ("", None):
        versions = versions.filter(number=parse_whole_number(str(number), max_digits=9) or 0)
    return versions.select_related("template").first()


def shows_contents(person: Person, template: Template) -> bool:
    """Return whether prompts and references are readable."""
    return not template.held_out or may_edit(person, template)


def readable_runs(person: Person) -> QuerySet[Run]:
    """Return runs published with names and the member's own."""
    return reported_runs(person).filter(_own(person) | Q(publishes_names=True))


def reported_runs(person: Person) -> QuerySet[Run]:
    """Return runs whose report is readable: published ones and the member's own."""
    return Run.objects.filter(_own(person) | Q(published_at__isnull=False))


def _own(person: Person) -> Q:
    return Q(owner=person) if isinstance(person, User) else Q(pk__in=[])


def get_reported_run_or_404(person: Person, public_id: str) -> Run:
    run = reported_runs(person).select_related("version__template").filter(public_id=public_id).first()
    if run is None:
        raise Http404
    return run


def has_runs(person: Person) -> bool:
    return isinstance(person, User) and Run.objects.filter(owner=person).exists()


def get_run_or_404(person: Person, public_id: str, *, to_change: bool = False) -> Run:
    run = readable_runs(person).select_related("version__template").filter(public_id=public_id).first()
    if run is None or (to_change and not owns(person, run)):
        raise Http404
    return run


def owns(person: Person, run: Run) -> bool:
    return isinstance(person, User) and run.owner_id == person.pk


def shows_contents_of(person: Person, run: Run) -> bool:
    """Return whether a run's prompts, references and replies are readable."""
    return owns(person, run) or shows_contents(person, run.version.template)
