"""Lists of templates and runs; a fixed number of queries each."""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import cast

from django import forms
from django.db.models import F, Max, OuterRef, Q, QuerySet, Subquery, Sum
from django.http import QueryDict
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from accounts.actor import Actor
from accounts.teams.places import PARAMETER, place_named
from accounts.teams.roles import Right, teams_with
from benchmarks import access
from benchmarks.built_in.reading import slugs_of_other_languages
from benchmarks.models import Run, RunCount, RunItem, Template, TemplateVersion

PER_PAGE = 30


_OWN, _SITES = ("own", _("yours")), ("site", _("the site’s"))
_TEAM = "team:"


class ListForm(forms.Form):
    """Filters; an unknown value filters nothing."""

    search = forms.CharField(required=False, max_length=120)
    state = forms.ChoiceField(choices=[("", _("every state")), *Run.State.choices], required=False)
    whose = forms.ChoiceField(choices=[("", _("yours and the site’s")), _OWN, _SITES], required=False)

    def __init__(self, data: QueryDict, actor: Actor) -> None:
        """data: of the address; `team` is short for that team's. Raises NotFound for a team of others."""
        teams = list(teams_with(actor.memberships, Right.SEE).values())
        if PARAMETER in data:
            place = place_named(actor, str(data[PARAMETER]))
            data = data.copy()
            data["whose"] = "own" if place is None else f"{_TEAM}{place.slug}"
        super().__init__(data)
        if teams:
            of_teams = [(f"{_TEAM}{team.slug}", team.name) for team in teams]
            whose = cast(forms.ChoiceField, self.fields["whose"])
            whose.choices = [("", _("every owner")), _OWN, *of_teams, _SITES]
        self._actor = actor

    @property
    def team(self) -> int | None:
        """Return the id of the chosen team."""
        slug = self.value("whose").removeprefix(_TEAM)
        chosen = (pk for pk, member in self._actor.memberships.items() if member.team.slug == slug)
        return next(chosen, None) if self.value("whose").startswith(_TEAM) else None

    @property
    def team_query(self) -> str:
        """Return the part of an address that keeps the chosen team, or ""."""
        slug = self.value("whose").removeprefix(_TEAM)
        return f"{PARAMETER}={slug}" if self.team is not None else ""

    def value(self, name: str) -> str:
        """Return a filter's value or "" after full_clean()."""
        return str(self.cleaned_data.get(name) or "")

    @property
    def is_narrowed(self) -> bool:
        return any(self.value(name) for name in self.fields)


def list_templates(actor: Actor, form: ListForm) -> QuerySet[Template]:
    """Return templates with their newest version's facts and `last_run`, latest first.

    Built-in templates of the reader's language; a search finds those of other languages, too.
    """
    templates = access.readable_templates(actor).filter(archived_at=None)
    if search := form.value("search"):
        templates = templates.filter(Q(name__icontains=search) | Q(description__icontains=search))
    else:
        templates = templates.exclude(owner_user=None, slug__in=slugs_of_other_languages(get_language() or ""))
    if form.value("whose") == "site":
        templates = templates.filter(visibility=Template.Visibility.SITE)
    elif form.value("whose") == "own":
        templates = templates.filter(owner_user=actor.user, team=None)
    elif form.team is not None:
        templates = templates.filter(team=form.team)
    visible = TemplateVersion.objects.filter(template=OuterRef("pk")).order_by("-number")
    frozen = Q(state=TemplateVersion.State.FROZEN)
    visible = visible.filter(frozen | access.editable_templates(actor, "template__"))
    return templates.annotate(
        number=Subquery(visible.values("number")[:1]),
        state=Subquery(visible.values("state")[:1]),
        case_count=Subquery(visible.values("case_count")[:1]),
        last_run=Max("versions__runs__created_at", filter=access.mine(actor, "owner", "versions__runs__")),
    ).order_by(F("last_run").desc(nulls_last=True), "-created_at", "pk")


def list_runs(actor: Actor, form: ListForm) -> QuerySet[Run]:
    runs = access.readable_runs(actor).select_related("version__template", "owner")
    if search := form.value("search"):
        runs = runs.filter(Q(name__icontains=search) | Q(version__template__name__icontains=search))
    if state := form.value("state"):
        runs = runs.filter(state=state)
    if form.value("whose") == "own":
        runs = runs.filter(owner=actor.user, team=None)
    elif form.value("whose") == "site":
        runs = runs.filter(published_at__isnull=False)
    elif form.team is not None:
        runs = runs.filter(team=form.team)
    return runs.order_by("-created_at", "-pk")


@dataclass
class ItemCounts:
    total: int = 0
    by_state: dict[str, int] = field(default_factory=dict)

    @property
    def finished(self) -> int:
        return self.total - sum(self.by_state.get(state, 0) for state in RunItem.UNFINISHED)

    @property
    def never_asked(self) -> int:
        """Number of items that a cancelled run or a left-out entrant did not come to."""
        return self.by_state.get(RunItem.State.SKIPPED, 0) + self.by_state.get(RunItem.State.LEFT_OUT, 0)

    @property
    def asked(self) -> int:
        return self.finished - self.never_asked

    @property
    def failed(self) -> int:
        return self.by_state.get(RunItem.State.FAILED, 0)

    @property
    def percent(self) -> int:
        return 100 * self.asked // self.total if self.total else 0


def progress_of(runs: list[Run]) -> dict[int, ItemCounts]:
    progress: dict[int, ItemCounts] = defaultdict(ItemCounts)
    counts = RunCount.objects.filter(entrant__run__in=runs, n__gt=0).values_list("entrant__run", "state")
    for run_id, state, n in counts.annotate(items=Sum("n")):
        progress[run_id].by_state[state] = n
        progress[run_id].total += n
    return {run.pk: progress[run.pk] for run in runs}
