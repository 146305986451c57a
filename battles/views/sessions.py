"""Pages on which people look after their sessions, and what changes of them in place."""

from urllib.parse import urlsplit

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect, trigger_client_event

from battles import actions
from battles.forms import RenameForm, StartForm
from battles.models import Battle, Session
from battles.sessions.export import session_file
from battles.sessions.listing import listed
from battles.views.battles import PageRequest, get_session_or_404, session_page

# Sent to the page when a session has come back: its lists are fetched again.
CHANGED = "sessions-changed"


@require_safe
def sessions(request: PageRequest) -> HttpResponse:
    """The page, or the list alone when htmx asked: for a search, or for what comes `after`."""
    words = request.GET.get("search", "").strip().replace("\x00", "")
    archived = request.GET.get("archived") == "1"
    found = Session.objects.owned_by(request.actor).filter(archived=archived).search(words)
    context = {
        "listed": listed(found, after=request.GET.get("after", "")),
        "search": words,
        "archived": archived,
        "current_session_id": _session_on(request),
    }
    if request.htmx:
        return render(request, "battles/session_list.html", context)
    agreed = Battle.objects.owned_by(request.actor).with_consent().count()
    return render(request, "battles/sessions.html", {**context, "agreed": agreed})


@require_safe
def row(request: PageRequest, public_id: str) -> HttpResponse:
    """A line of the list: with `?edit=1` with what can be done, with `?revealed=1` without taking the focus."""
    session = get_session_or_404(request, public_id)
    if not request.htmx:
        return redirect(session)
    form = RenameForm(instance=session) if request.GET.get("edit") else None
    return _row(request, session, form, was_edited=not request.GET.get("revealed"))


@require_POST
def rename(request: PageRequest, public_id: str) -> HttpResponse:
    session = get_session_or_404(request, public_id)
    form = RenameForm(request.POST)
    if not form.is_valid():
        return _row(request, session, form) if request.htmx else _session_page(request, session, form)
    actions.update_session(session, title=form.cleaned_data["title"])
    return _row(request, session) if request.htmx else redirect(session)


@require_POST
def archive(request: PageRequest, public_id: str) -> HttpResponse:
    session = get_session_or_404(request, public_id)
    archived = request.POST.get("archived") == "1"
    actions.update_session(session, archived=archived)
    if archived:
        return _without(request, session, _("The session is archived."), undo="battles:archive_session")
    return _with(request, session)


@require_POST
def discard(request: PageRequest, public_id: str) -> HttpResponse:
    session = get_session_or_404(request, public_id)
    actions.discard_session(session)
    return _without(request, session, _("The session is deleted."), undo="battles:restore_session")


@require_POST
def restore(request: PageRequest, public_id: str) -> HttpResponse:
    return _with(request, actions.restore_session(actor=request.actor, public_id=public_id))


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: PageRequest, public_id: str) -> HttpResponse:
    session = get_session_or_404(request, public_id)
    if request.method != "POST":
        return render(request, "battles/delete_session.html", {"session": session})
    actions.delete_session(session)
    messages.success(request, _("The session is deleted."))
    return redirect("battles:sessions")


@require_safe
def export(request: PageRequest, public_id: str) -> HttpResponse:
    return session_file(get_session_or_404(request, public_id), request.GET.get("as", "markdown"))


def _session_page(request: PageRequest, session: Session, form: RenameForm) -> HttpResponse:
    return session_page(request, session, StartForm(actor=request.actor), rename_form=form)


def _session_on(request: PageRequest) -> str:
    """The id of the session whose page htmx asks from."""
    words = urlsplit(request.htmx.current_url or "").path.strip("/").split("/")
    return words[1] if len(words) > 1 and words[0] == "s" else ""


def _row(
    request: PageRequest, session: Session, form: RenameForm | None = None, *, was_edited: bool = True
) -> HttpResponse:
    context = {
        "session": Session.objects.with_revealed_names().get(pk=session.pk),
        "form": form,
        "was_edited": was_edited,
        "current_session_id": _session_on(request),
    }
    status = 422 if form is not None and form.is_bound else 200
    name = "battles/session_row.html" if form is None else "battles/session_editing.html"
    return render(request, name, context, status=status)


def _without(request: PageRequest, session: Session, sentence: str, *, undo: str) -> HttpResponse:
    """A session has left the list: so does its line, and there is a button that brings it back."""
    address = reverse(undo, args=[session.public_id])
    if request.htmx and _session_on(request) != session.public_id:
        return render(request, "battles/session_notice.html", {"sentence": sentence, "undo": address})
    messages.success(request, sentence, extra_tags=address)  # components/notice.html makes the button
    place = reverse("battles:new") if request.htmx else reverse("battles:sessions")
    return HttpResponseClientRedirect(place) if request.htmx else redirect(place)


def _with(request: PageRequest, session: Session) -> HttpResponse:
    """A session is back in the list."""
    sentence = _("The session is back in your list.")
    if request.htmx:
        response = render(request, "battles/session_notice.html", {"sentence": sentence})
        return trigger_client_event(response, CHANGED)
    messages.success(request, sentence)
    return redirect(session)
