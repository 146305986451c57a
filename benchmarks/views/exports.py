from django.http import Http404, StreamingHttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from benchmarks import access
from benchmarks.errors import ExportTooLarge, WrongState
from benchmarks.exports.formats import CONTENT_TYPES, WRITERS, fits_workbook
from benchmarks.exports.source import RunExport
from benchmarks.views.pages import PageRequest
from leaderboard.exports.api import stream_chunks


@require_safe
def export(request: PageRequest, public_id: str, ending: str) -> StreamingHttpResponse:
    """Stream a run as a file; with `wide=1`, CSV has a row per case. Others see no contents of a held-out template."""
    run = access.get_run_or_404(request.user, public_id)
    if ending not in WRITERS:
        raise Http404
    if not run.item_count:
        raise WrongState(_("The run has no items yet."))
    request.actor.count("export", fail_open=True)
    exported = RunExport(
        run, with_contents=access.shows_contents_of(request.user, run),
        is_wide=request.GET.get("wide", "").lower() in ("1", "true"),
    )  # fmt: skip
    if ending == "xlsx" and not fits_workbook(exported):
        raise ExportTooLarge
    return StreamingHttpResponse(
        stream_chunks(WRITERS[ending](exported)),
        content_type=CONTENT_TYPES[ending],
        headers={"Content-Disposition": f'attachment; filename="run-{run.public_id}.{ending}"'},
    )
