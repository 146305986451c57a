"""Lists of templates and runs; a fixed number of queries each."""

from collections import defaultdict
from dataclasses import dataclass, field

from django import forms
from django.db.models import F, Max, OuterRef, Q, QuerySet, Subquery, Sum
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from accounts.actor import Actor
from benchmarks import access
from benchmarks.built_in.reading import slugs_of_other_languages
from benchmarks.models import Run, RunCount, RunItem, Template, TemplateVersion

PER_PAGE = 30


class ListForm(forms.Form):
    """Filters; an unknown value filters nothing."""

    search = forms.CharField(required=False, max_length=120)
    state = forms.ChoiceField(choices=[("", _("every state")), *Run.State.choices], required=False)
    whose = forms.ChoiceField(
        choices=[("", _("yours and the site’s")), ("own", _("yours")), ("site", _("the site’s"))], required=False
    )

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
        templates = templates.filter(owner_user=actor.user)
    visible = TemplateVersion.objects.filter(template=OuterRef("pk")).order_by("-number")
    frozen = Q(state=TemplateVersion.State.FROZEN)
    visible = visible.filter(frozen | Q(template__owner_user=actor.user))
    return templates.annotate(
        number=Subquery(visible.values("number")[:1]),
        state=Subquery(visible.values("state")[:1]),
        case_count=Subquery(visible.values("case_count")[:1]),
        last_run=Max("versions__runs__created_at", filter=Q(versions__runs__owner=actor.user)),
    ).order_by(F("last_run").desc(nulls_last=True), "-created_at", "pk")


def list_runs(actor: Actor, form: ListForm) -> QuerySet[Run]:
    runs = access.readable_runs(actor).select_related("version__template", "owner")
    if search := form.value("search"):
        runs = runs.filter(Q(name__icontains=search) | Q(version__template__name__icontains=search))
    if state := form.value("state"):
        runs = runs.filter(state=state)
    if form.value("whose") == "own":
        runs = runs.filter(owner=actor.user)
    elif form.value("whose") == "site":
        runs = runs.filter(published_at__isnull=False)
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
