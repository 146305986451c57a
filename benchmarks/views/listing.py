from django.core.paginator import Paginator
from django.db.models import Case, When
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import get_language
from django.views.decorators.http import require_safe

from benchmarks import access
from benchmarks.built_in.reading import first_slug
from benchmarks.models import Template
from benchmarks.queries.listing import PER_PAGE, ListForm, list_runs, list_templates, progress_of
from benchmarks.views.pages import PageRequest

TABS = ("templates", "runs")


@require_safe
def index(request: PageRequest) -> HttpResponse:
    """Show templates or runs; to htmx, only the list."""
    tab = request.GET.get("show", "")
    tab = tab if tab in TABS else TABS[0]
    form = ListForm(request.GET, request.actor)
    form.full_clean()
    context: dict[str, object] = {"tab": tab, "form": form, "team_query": form.team_query}
    if tab == "runs":
        runs = Paginator(list_runs(request.actor, form), PER_PAGE).get_page(request.GET.get("page"))
        rows = list(runs)
        progress = progress_of(rows)
        context |= {"page_obj": runs, "rows": rows, "runs": [(run, progress[run.pk]) for run in rows]}
    else:
        templates = Paginator(list_templates(request.actor, form), PER_PAGE).get_page(request.GET.get("page"))
        context |= {"page_obj": templates, "rows": list(templates)}
    if not form.is_narrowed and not access.has_runs(request.actor):
        site = access.readable_templates(request.actor).filter(visibility=Template.Visibility.SITE, archived_at=None)
        offered = Case(When(slug=first_slug(get_language() or ""), owner_user=None, then=0), default=1)
        context["first_template"] = site.filter(versions__state="frozen").order_by(offered, "pk").first()
    return render(request, "benchmarks/list.html#list" if request.htmx else "benchmarks/list.html", context)
