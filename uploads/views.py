from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.middleware import HtmxDetails

from accounts.actor import ActorRequest, ensure_known_actor
from common.errors import ArenaError
from common.text.encodings import CODECS
from uploads import actions, downloads
from uploads.encoding_choice import encoding_choice
from uploads.errors import EncodingUnfit, NoFile
from uploads.files.deletion import delete_upload
from uploads.message_parts import sent_text
from uploads.models import Upload

UPLOADS_PER_PAGE = 50


class PageRequest(ActorRequest):
    htmx: HtmxDetails


def get_upload_or_404(request: PageRequest, public_id: str, *, include_deleted: bool = False) -> Upload:
    """Return the actor's upload; views get uploads in no other way, but for texts and images that a review shows."""
    owned = Upload.objects.owned_by(request.actor).select_related("extraction")
    file = (owned if include_deleted else owned.kept()).filter(public_id=public_id).first()
    if file is None:
        raise Http404
    return file


def _get_readable_or_404(request: PageRequest, public_id: str) -> Upload:
    file = downloads.find_readable(request.actor, public_id)
    if file is None:
        raise Http404
    return file


@require_http_methods(["GET", "HEAD", "POST"])
def library(request: PageRequest) -> HttpResponse:
    if request.method == "POST":
        return _upload_files(request)
    uploads = Upload.objects.owned_by(request.actor).kept()
    page = Paginator(uploads.order_by("-created_at", "-pk"), UPLOADS_PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "uploads/library.html", {"page_obj": page, "bytes_kept": uploads.bytes_kept()})


def _upload_files(request: PageRequest) -> HttpResponse:
    """Store the files. htmx sends one and receives its chip for the prompt box."""
    files: list[Any] = request.FILES.getlist("file")
    if not files:
        raise NoFile
    actor = ensure_known_actor(request)
    uploads = [actions.keep_upload(actor=actor, content=file.read(), name=file.name or "") for file in files]
    if request.htmx:
        return render(request, "uploads/chip.html", {"upload": uploads[0]}, status=201)
    return redirect("uploads:library")


@require_safe
def upload(request: PageRequest, public_id: str) -> HttpResponse:
    """Show a file's record and exactly the text that models receive."""
    file = get_upload_or_404(request, public_id, include_deleted=True)
    sent = sent_text(file) if file.is_ready and file.deleted_at is None else ""
    context = {"upload": file, "sent": sent, "encodings": encoding_choice(file)}
    return render(request, "uploads/upload.html", context)


@require_POST
def encoding(request: PageRequest, public_id: str) -> HttpResponse:
    """Read a text again in the chosen encoding."""
    file, name = get_upload_or_404(request, public_id), request.POST.get("encoding", "")
    try:
        if name not in CODECS:
            raise EncodingUnfit
        actions.read_in_encoding(upload=file, encoding=name)
    except ArenaError as refusal:
        messages.error(request, refusal.detail)
    return redirect(f"{file.get_absolute_url()}#encoding")


@require_safe
def chip(request: PageRequest, public_id: str) -> HttpResponse:
    return render(request, "uploads/chip.html", {"upload": get_upload_or_404(request, public_id)})


@require_safe
def text(request: PageRequest, public_id: str) -> HttpResponse:
    return downloads.text(_get_readable_or_404(request, public_id))


@require_safe
def file(request: PageRequest, public_id: str) -> HttpResponse:
    return downloads.original(get_upload_or_404(request, public_id))


@require_safe
def image(request: PageRequest, public_id: str) -> HttpResponse:
    return downloads.image(_get_readable_or_404(request, public_id))


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: PageRequest, public_id: str) -> HttpResponse:
    file = get_upload_or_404(request, public_id)
    if request.method != "POST":
        return render(request, "uploads/delete.html", {"upload": file})
    delete_upload(file)
    messages.success(request, _("The file is deleted."))
    return redirect("uploads:library")
