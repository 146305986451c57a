"""Access to templates and runs; all others get 404."""

from django.db.models import Q, QuerySet
from django.http import Http404

from accounts.actor import Actor
from benchmarks.models import Run, Template, TemplateVersion
from common.text.numbers import parse_whole_number


def readable_templates(actor: Actor) -> QuerySet[Template]:
    """Return the site's templates and the member's own."""
    is_site = Q(visibility=Template.Visibility.SITE)
    own = Q(owner_user=actor.user) if actor.user else Q(pk__in=[])
    return Template.objects.filter(own | is_site)


def may_edit(actor: Actor, template: Template) -> bool:
    if actor.user is None:
        return False
    return template.owner_user_id == actor.user.pk or (
        template.visibility == Template.Visibility.SITE and actor.user.is_administrator
    )


def get_template_or_404(actor: Actor, public_id: str, *, to_edit: bool = False) -> Template:
    template = readable_templates(actor).filter(public_id=public_id).first()
    if template is None or (to_edit and not may_edit(actor, template)):
        raise Http404
    return template


def visible_versions(actor: Actor, template: Template) -> QuerySet[TemplateVersion]:
    """Return versions, newest first; drafts only to those who may edit them."""
    versions = template.versions.order_by("-number")
    if may_edit(actor, template):
        return versions
    return versions.filter(state=TemplateVersion.State.FROZEN)


def find_version(actor: Actor, template: Template, number: int | str | None) -> TemplateVersion | None:
    """Return the newest version, or the one with a number; None if there is none."""
    versions = visible_versions(actor, template)
    if number not in ("", None):
        versions = versions.filter(number=parse_whole_number(str(number), max_digits=9) or 0)
    return versions.select_related("template").first()


def shows_contents(actor: Actor, template: Template) -> bool:
    """Return whether prompts and references are readable."""
    return not template.held_out or may_edit(actor, template)


def readable_runs(actor: Actor) -> QuerySet[Run]:
    """Return runs published with names and the member's own."""
    return reported_runs(actor).filter(_own(actor) | Q(publishes_names=True))


def reported_runs(actor: Actor) -> QuerySet[Run]:
    """Return runs whose report is readable: published ones and the member's own."""
    return Run.objects.filter(_own(actor) | Q(published_at__isnull=False))


def _own(actor: Actor) -> Q:
    return Q(owner=actor.user) if actor.user else Q(pk__in=[])


def get_reported_run_or_404(actor: Actor, public_id: str) -> Run:
    run = reported_runs(actor).select_related("version__template").filter(public_id=public_id).first()
    if run is None:
        raise Http404
    return run


def has_runs(actor: Actor) -> bool:
    return actor.user is not None and Run.objects.filter(owner=actor.user).exists()


def get_run_or_404(actor: Actor, public_id: str, *, to_change: bool = False) -> Run:
    run = readable_runs(actor).select_related("version__template").filter(public_id=public_id).first()
    if run is None or (to_change and not owns(actor, run)):
        raise Http404
    return run


def owns(actor: Actor, run: Run) -> bool:
    return actor.user is not None and run.owner_id == actor.user.pk


def shows_contents_of(actor: Actor, run: Run) -> bool:
    """Return whether a run's prompts, references and replies are readable."""
    return owns(actor, run) or shows_contents(actor, run.version.template)
