from collections.abc import Sequence

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from benchmarks import access
from benchmarks.editing.changes import read_changes
from benchmarks.models import TemplateVersion
from benchmarks.views.pages import PageRequest


@require_safe
def changes(request: PageRequest, public_id: str) -> HttpResponse:
    """Show the changes between two versions; without a choice, those of the newest one."""
    template = access.get_template_or_404(request.actor, public_id)
    versions = list(access.visible_versions(request.actor, template))
    if len(versions) < 2 or not access.shows_contents(request.actor, template):
        raise Http404
    after = _chosen(versions, request.GET.get("after", ""), default=versions[0])
    place = versions.index(after)
    before = _chosen(versions, request.GET.get("before", ""), default=versions[min(place + 1, len(versions) - 1)])
    context = {
        "template": template, "versions": versions, "before": before, "after": after,
        "changes": read_changes(before, after),
    }  # fmt: skip
    name = "benchmarks/changes.html#changes" if request.htmx else "benchmarks/changes.html"
    return render(request, name, context)


def _chosen(versions: Sequence[TemplateVersion], number: str, *, default: TemplateVersion) -> TemplateVersion:
    if not number:
        return default
    version = next((version for version in versions if str(version.number) == number), None)
    if version is None:
        raise Http404
    return version
