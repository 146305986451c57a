from django.http import StreamingHttpResponse
from django.utils.translation import gettext as _

from accounts.actor import Actor
from benchmarks import access
from benchmarks.errors import ExportTooLarge, WrongState
from benchmarks.exports.formats import CONTENT_TYPES, WRITERS, file_ending, fits_workbook
from benchmarks.exports.source import RunExport
from benchmarks.models import Run
from leaderboard.exports.api import stream_chunks


def export_response(run: Run, ending: str, *, actor: Actor, person: access.Person, wide: str) -> StreamingHttpResponse:
    """Stream a run as a file, counted as an export. ending: a key of WRITERS. wide: "1" for CSV with a row per case.

    Others see no contents of a held-out template. Raises WrongState, ExportTooLarge and LimitReached.
    """
    if not run.item_count:
        raise WrongState(_("The run has no items yet."))
    actor.count("export", fail_open=True)
    exported = RunExport(
        run, with_contents=access.shows_contents_of(person, run), is_wide=wide.lower() in ("1", "true")
    )
    if ending == "xlsx" and not fits_workbook(exported):
        raise ExportTooLarge
    of_file = file_ending(exported, ending)
    return StreamingHttpResponse(
        stream_chunks(WRITERS[ending](exported)),
        content_type=CONTENT_TYPES[of_file],
        headers={"Content-Disposition": f'attachment; filename="run-{run.public_id}.{of_file}"'},
    )
