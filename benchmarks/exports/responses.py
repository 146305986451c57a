import re
from collections.abc import Iterator

from django.http import StreamingHttpResponse
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _

from accounts.actor import Actor
from benchmarks import access
from benchmarks.errors import ExportTooLarge, WrongState
from benchmarks.exports.formats import CONTENT_TYPES, WRITERS, file_ending, fits_workbook
from benchmarks.exports.promptfoo import PromptfooExport
from benchmarks.exports.run_export import RunExport
from benchmarks.exports.template_yaml import template_chunks
from benchmarks.models import Run, TemplateVersion
from leaderboard.exports.api import stream_chunks

YAML = "application/yaml"
MAX_NAME = 80
_NOT_IN_FILE_NAMES = re.compile(r'[\\/:*?"<>|]+')


def template_response(version: TemplateVersion, *, actor: Actor, is_for_promptfoo: bool) -> StreamingHttpResponse:
    """Stream a version as YAML, counted as an export. Raises LimitReached."""
    actor.count("export", fail_open=True)
    name = f"template-{version.template.public_id}-{version.number}"
    if is_for_promptfoo:
        return file_response(PromptfooExport(version).chunks(), YAML, f"{name}.promptfoo.yaml")
    return file_response(template_chunks(version), YAML, f"{name}.yaml")


def export_response(run: Run, ending: str, *, actor: Actor, wide: str) -> StreamingHttpResponse:
    """Stream a run as a file, counted as an export. ending: a key of WRITERS. wide: "1" for CSV with a row per case.

    Others see no contents of a held-out template. Raises WrongState, ExportTooLarge and LimitReached.
    """
    if not run.item_count:
        raise WrongState(_("The run has no items yet."))
    actor.count("export", fail_open=True)
    exported = RunExport(run, with_contents=access.shows_contents_of(actor, run), is_wide=wide.lower() in ("1", "true"))
    if ending == "xlsx" and not fits_workbook(exported):
        raise ExportTooLarge
    of_file = file_ending(exported, ending)
    return file_response(WRITERS[ending](exported), CONTENT_TYPES[of_file], file_name(run, of_file))


def file_name(run: Run, ending: str) -> str:
    """Return a name with the run's day by which people find the file again."""
    words = _NOT_IN_FILE_NAMES.sub(" ", run.name or run.version.template.name).split()
    name = "".join(filter(str.isprintable, " ".join(words)))[:MAX_NAME].strip(" .")
    return f"{name or run.public_id} {run.created_at:%Y-%m-%d}.{ending}"


def file_response(chunks: Iterator[bytes], content_type: str, name: str) -> StreamingHttpResponse:
    headers = {"Content-Disposition": str(content_disposition_header(as_attachment=True, filename=name))}
    return StreamingHttpResponse(stream_chunks(chunks), content_type=content_type, headers=headers)
