from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from benchmarks import access
from benchmarks.actions.case_files import change_files
from benchmarks.forms.cases import CaseFilesForm
from benchmarks.models import CaseFile
from benchmarks.views.pages import PageRequest
from benchmarks.views.templates import draft_or_404
from common.errors import ArenaError
from uploads import downloads
from uploads.actions import keep_upload


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: PageRequest, public_id: str, case_id: int) -> HttpResponse:
    """List, add and remove the files of a draft's case."""
    template, draft = draft_or_404(request, public_id)
    case = get_object_or_404(draft.cases, pk=case_id)
    files = list(case.files.select_related("upload"))
    form = CaseFilesForm(request.POST or None, request.FILES or None, files=files)
    if form.is_valid():
        data = form.cleaned_data
        try:
            added = [
                keep_upload(actor=request.actor, content=file.read(), name=file.name or "") for file in data["file"]
            ]
            change_files(case, added=added, variable=data["variable"], removed=data["remove"])
        except ArenaError as refusal:
            form.add_error("file", refusal.detail)
        else:
            messages.success(request, _("The files are saved."))
            return redirect("benchmarks:case_files", public_id, case_id)
    context = {"template": template, "version": draft, "case": case, "files": files, "form": form}
    return render(request, "benchmarks/case_files.html", context, status=422 if form.is_bound else 200)


@require_safe
def template_file(request: PageRequest, public_id: str, file_id: int) -> HttpResponse:
    template = access.get_template_or_404(request.actor, public_id)
    if not access.shows_contents(request.actor, template):
        raise Http404
    versions = access.visible_versions(request.actor, template)
    return _content(get_object_or_404(_FILES, case__version__in=versions, pk=file_id))


@require_safe
def run_file(request: PageRequest, public_id: str, file_id: int) -> HttpResponse:
    run = access.get_run_or_404(request.actor, public_id)
    if not access.shows_contents_of(request.actor, run):
        raise Http404
    return _content(get_object_or_404(_FILES, case__version=run.version_id, pk=file_id))


_FILES = CaseFile.objects.select_related("upload__extraction")


def _content(file: CaseFile) -> HttpResponse:
    """Return exactly what models receive: the re-encoded image, or the text."""
    if not file.upload.is_kept:
        raise Http404
    return downloads.image(file.upload) if file.upload.is_image else downloads.text(file.upload)
