from django.http import Http404, StreamingHttpResponse
from django.views.decorators.http import require_safe

from benchmarks import access
from benchmarks.exports.formats import WRITERS
from benchmarks.exports.responses import export_response
from benchmarks.views.pages import PageRequest


@require_safe
def export(request: PageRequest, public_id: str, ending: str) -> StreamingHttpResponse:
    run = access.get_run_or_404(request.user, public_id)
    if ending not in WRITERS:
        raise Http404
    return export_response(run, ending, actor=request.actor, person=request.user, wide=request.GET.get("wide", ""))
