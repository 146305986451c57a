from django.http import Http404, StreamingHttpResponse
from django.views.decorators.http import require_safe

from benchmarks import access
from benchmarks.exports.formats import WRITERS
from benchmarks.exports.responses import export_response, template_response
from benchmarks.views.pages import PageRequest


@require_safe
def export_template(request: PageRequest, public_id: str) -> StreamingHttpResponse:
    """Download a version as YAML; with `?for=promptfoo` as promptfoo's configuration."""
    template = access.get_template_or_404(request.actor, public_id)
    if not access.shows_contents(request.actor, template):
        raise Http404
    version = access.find_version(request.actor, template, request.GET.get("version", ""))
    if version is None:
        raise Http404
    return template_response(version, actor=request.actor, is_for_promptfoo=request.GET.get("for") == "promptfoo")


@require_safe
def export(request: PageRequest, public_id: str, ending: str) -> StreamingHttpResponse:
    run = access.get_run_or_404(request.actor, public_id)
    if ending not in WRITERS:
        raise Http404
    return export_response(run, ending, actor=request.actor, wide=request.GET.get("wide", ""))
