"""Access to templates and runs; all others get 404."""

from typing import NoReturn

from django.db.models import Q, QuerySet
from django.http import Http404

from accounts.actor import Actor
from accounts.models import Team
from accounts.teams.places import place_named
from accounts.teams.roles import Right, teams_with
from benchmarks.errors import TemplateElsewhere
from benchmarks.models import Judge, Judging, Run, Template, TemplateVersion
from benchmarks.signals import answers_hiding, answers_reading
from common.errors import NotAllowed
from common.text.numbers import parse_whole_number


def team_of(actor: Actor, thing: Template | Run | Judge) -> Team | None:
    """Return the team that owns it, for the team's members only."""
    member = actor.memberships.get(thing.team_id) if thing.team_id is not None else None
    return None if member is None else member.team


def _has_right(actor: Actor, team_id: int, right: Right) -> bool:
    return team_id in teams_with(actor.memberships, right)


def _teams(actor: Actor, right: Right) -> list[int]:
    return list(teams_with(actor.memberships, right))


def mine(actor: Actor, owner: str, prefix: str = "") -> Q:
    """Filter to the member's personal things and those of teams. owner: name of the field."""
    teams = _teams(actor, Right.SEE)
    of_teams = Q(**{f"{prefix}team__in": teams}) if teams else Q(pk__in=[])
    return of_teams | _personal(actor, owner, prefix)


def _personal(actor: Actor, owner: str, prefix: str = "") -> Q:
    if actor.user is None or actor.is_limited_from(None):
        return Q(pk__in=[])
    return Q(**{f"{prefix}{owner}": actor.user, f"{prefix}team": None})


def editable_templates(actor: Actor, prefix: str = "") -> Q:
    """Filter as may_edit, without the site's."""
    filters = _personal(actor, "owner_user", prefix)
    if teams := _teams(actor, Right.EDIT):
        filters |= Q(**{f"{prefix}team__in": teams})
    if teams := _teams(actor, Right.USE):
        filters |= Q(**{f"{prefix}team__in": teams, f"{prefix}owner_user": actor.user})
    return filters


def _owns(actor: Actor, owner_id: int | None, team_id: int | None) -> bool:
    """Return whether the actor reads all of it."""
    if team_id is not None:
        return _has_right(actor, team_id, Right.SEE)
    return actor.user is not None and owner_id == actor.user.pk and not actor.is_limited_from(None)


def _may_change(actor: Actor, owner_id: int | None, team_id: int | None) -> bool:
    """Members of a team change what they made, others by their right."""
    if team_id is None:
        return _owns(actor, owner_id, None)
    is_maker = actor.user is not None and owner_id == actor.user.pk
    return _has_right(actor, team_id, Right.USE if is_maker else Right.EDIT)


def readable_templates(actor: Actor) -> QuerySet[Template]:
    """Return the site's templates, the member's own and those of teams."""
    is_site = Q(visibility=Template.Visibility.SITE)
    return Template.objects.exclude(kind=Template.Kind.JUDGING).filter(mine(actor, "owner_user") | is_site)


def may_edit(actor: Actor, template: Template) -> bool:
    if actor.user is None:
        return False
    return _may_change(actor, template.owner_user_id, template.team_id) or (
        template.visibility == Template.Visibility.SITE and actor.user.is_administrator
    )


def get_template_or_404(actor: Actor, public_id: str, *, to_edit: bool = False) -> Template:
    template = readable_templates(actor).filter(public_id=public_id).first()
    if template is None:
        raise Http404
    if to_edit and not may_edit(actor, template):
        _refuse(actor, template)
    return template


def _refuse(actor: Actor, thing: Template | Run | Judge) -> NoReturn:
    """Raise NotAllowed for a team's thing that the actor only reads, Http404 for other things."""
    if team_of(actor, thing) is not None:
        raise NotAllowed
    raise Http404


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
    is_teams = template.team_id is not None and _owns(actor, None, template.team_id)
    return not template.held_out or is_teams or may_edit(actor, template)


def place_of_run(actor: Actor, template: Template, slug: str | None) -> Team | None:
    """Return the place of a new run. slug: as sent for place_named; None for the template's place.

    Raises NotFound, NotAllowed for guests, and TemplateElsewhere for the template of another place.
    """
    if slug is None and (team := team_of(actor, template)) is not None:
        slug = team.slug
    is_personal = template.team_id is None and template.visibility == Template.Visibility.PRIVATE
    place = None if slug is None and is_personal else place_named(actor, slug)
    wanted = None if place is None else place.pk
    if wanted != template.team_id and (template.team_id is not None or is_personal):
        raise TemplateElsewhere
    return place


def readable_runs(actor: Actor) -> QuerySet[Run]:
    """Return runs published with names, the member's own and those of teams; no judgings."""
    return _readable_runs(actor).filter(is_judging=False)


def _readable_runs(actor: Actor) -> QuerySet[Run]:
    return _reported_runs(actor).filter(mine(actor, "owner") | Q(publishes_names=True))


def _reported_runs(actor: Actor) -> QuerySet[Run]:
    """Return runs whose report is readable: published ones, the member's own and those of teams."""
    return Run.objects.filter(mine(actor, "owner") | Q(published_at__isnull=False))


def runs_in_place(actor: Actor, place: Team | None) -> QuerySet[Run]:
    """Return the readable runs of a team; None: personal and published ones."""
    runs = readable_runs(actor)
    if place is not None:
        return runs.filter(team=place)
    return runs.filter(Q(team=None) | Q(published_at__isnull=False))


def get_reported_run_or_404(actor: Actor, public_id: str) -> Run:
    run = _reported_runs(actor).select_related("version__template").filter(public_id=public_id).first()
    if run is None:
        raise Http404
    return run


def has_runs(actor: Actor) -> bool:
    return actor.user is not None and Run.objects.filter(mine(actor, "owner")).exists()


def get_run_or_404(actor: Actor, public_id: str, *, to_change: bool = False) -> Run:
    """Return a run, or a judging's."""
    run = _readable_runs(actor).select_related("version__template").filter(public_id=public_id).first()
    if run is None:
        raise Http404
    if to_change and not may_change(actor, run):
        _refuse(actor, run)
    return run


def get_run_with_answers_or_404(actor: Actor, public_id: str) -> Run:
    """Return a run whose answers are about to be read with names. Raises Http404, and AnswersHidden."""
    run = get_run_or_404(actor, public_id)
    read_answers(actor, run)
    return run


def read_answers(actor: Actor, run: Run) -> None:
    """Call this before a run's answers are read with names, or which of them were right. Raises AnswersHidden.

    A judging shows the answers of the run that it is about.
    """
    answers_reading.send(sender=Run, run=_answered_run(run), actor=actor)


def hides_answers(actor: Actor, run: Run) -> bool:
    """Return whether read_answers would raise; notes no reader."""
    responses = answers_hiding.send(sender=Run, run=_answered_run(run), actor=actor)
    return any(is_hidden for _receiver, is_hidden in responses)


def _answered_run(run: Run) -> Run:
    return Run.objects.get(judgings__run=run) if run.is_judging else run


def get_run_to_grade_or_404(actor: Actor, public_id: str) -> Run:
    run = get_run_or_404(actor, public_id)
    if not may_grade(actor, run):
        _refuse(actor, run)
    read_answers(actor, run)
    return run


def get_run_to_publish_or_404(actor: Actor, public_id: str) -> Run:
    run = get_run_or_404(actor, public_id)
    if run.is_judging:
        raise Http404
    if not may_publish(actor, run):
        _refuse(actor, run)
    return run


def readable_judges(actor: Actor) -> QuerySet[Judge]:
    """Return the member's own judges and those of teams, with all their numbers."""
    return Judge.objects.filter(mine(actor, "owner_user"))


def get_judge_or_404(actor: Actor, public_id: str, *, to_edit: bool = False) -> Judge:
    judge = readable_judges(actor).select_related("model", "team").filter(public_id=public_id).first()
    if judge is None:
        raise Http404
    if to_edit and not _may_change(actor, judge.owner_user_id, judge.team_id):
        _refuse(actor, judge)
    return judge


def may_edit_judge(actor: Actor, judge: Judge) -> bool:
    return _may_change(actor, judge.owner_user_id, judge.team_id)


def get_judged_run_or_404(actor: Actor, public_id: str, *, to_judge: bool = False) -> Run:
    """Return a run whose judgements are readable: those of its owner, of a team its members."""
    run = get_run_or_404(actor, public_id)
    if run.is_judging or not owns(actor, run):
        raise Http404
    if to_judge and not may_change(actor, run):
        _refuse(actor, run)
    return run


def get_judged_answers_or_404(actor: Actor, public_id: str) -> Run:
    """As get_judged_run_or_404, where the answers are about to be read. Raises AnswersHidden, too."""
    run = get_judged_run_or_404(actor, public_id)
    read_answers(actor, run)
    return run


def get_judging_or_404(run: Run, public_id: str) -> Judging:
    """run: as get_judged_run_or_404."""
    judging = run.judgings.select_related("judge__model", "run").filter(public_id=public_id).first()
    if judging is None:
        raise Http404
    return judging


def owns(actor: Actor, run: Run) -> bool:
    """Return whether costs, comments and problems of a run are readable."""
    return _owns(actor, run.owner_id, run.team_id)


def may_change(actor: Actor, run: Run) -> bool:
    return _may_change(actor, run.owner_id, run.team_id)


def may_grade(actor: Actor, run: Run) -> bool:
    """Return whether the actor judges answers of a run: in a team, all members do."""
    return owns(actor, run) if run.team_id is None else _has_right(actor, run.team_id, Right.USE)


def may_publish(actor: Actor, run: Run) -> bool:
    return owns(actor, run) if run.team_id is None else _has_right(actor, run.team_id, Right.EDIT)


def shows_contents_of(actor: Actor, run: Run) -> bool:
    """Return whether a run's prompts, references and replies are readable."""
    return owns(actor, run) or shows_contents(actor, run.version.template)
