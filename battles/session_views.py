"""Pages on which people look after their sessions."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from battles import actions
from battles.forms import RenameForm, StartForm
from battles.models import Session
from battles.session_export import session_file
from battles.views import PageRequest, get_session_or_404, session_page

SESSIONS_PER_PAGE = 50


@require_GET
def sessions(request: PageRequest) -> HttpResponse:
    words = request.GET.get("search", "").strip().replace("\x00", "")
    archived = request.GET.get("archived") == "1"
    found = Session.objects.owned_by(request.actor).filter(archived=archived).search(words).order_by("-last_active_at")
    page = Paginator(found, SESSIONS_PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "battles/sessions.html", {"page_obj": page, "search": words, "archived": archived})


@require_POST
def rename(request: PageRequest, public_id: str) -> HttpResponse:
    session = get_session_or_404(request, public_id)
    form = RenameForm(request.POST)
    if not form.is_valid():
        return session_page(request, session, StartForm(), rename_form=form)
    actions.update_session(session, title=form.cleaned_data["title"])
    return redirect(session)


@require_POST
def archive(request: PageRequest, public_id: str) -> HttpResponse:
    session = get_session_or_404(request, public_id)
    archived = request.POST.get("archived") == "1"
    actions.update_session(session, archived=archived)
    messages.success(request, _("The session is archived.") if archived else _("The session is back in your list."))
    return redirect("battles:sessions") if archived else redirect(session)


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: PageRequest, public_id: str) -> HttpResponse:
    session = get_session_or_404(request, public_id)
    if request.method != "POST":
        return render(request, "battles/delete_session.html", {"session": session})
    actions.delete_session(session)
    messages.success(request, _("The session is deleted."))
    return redirect("battles:sessions")


@require_GET
def export(request: PageRequest, public_id: str) -> HttpResponse:
    return session_file(get_session_or_404(request, public_id), request.GET.get("as", "markdown"))
