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
from battles.sessions.export import session_file_response
from battles.sessions.listing import list_sessions, set_teams
from battles.views.battles import PageRequest, get_session_or_404, session_page

# Client event when a session is restored to the list: the page fetches its lists again.
CHANGED = "sessions-changed"


@require_safe
def sessions(request: PageRequest) -> HttpResponse:
    """Show the page; to htmx, only the list, for a search or the next page (`after`)."""
    search = request.GET.get("search", "").strip().replace("\x00", "")
    archived = request.GET.get("archived") == "1"
    sessions = Session.objects.owned_by(request.actor).filter(archived=archived).search(search)
    context = {
        "listed": list_sessions(request.actor, sessions, after=request.GET.get("after", "")),
        "search": search,
        "archived": archived,
        "current_session_id": _current_session_id(request),
    }
    if request.htmx:
        return render(request, "battles/session_list.html", context)
    consent_count = Battle.objects.owned_by(request.actor).with_consent().count()
    return render(request, "battles/sessions.html", {**context, "agreed": consent_count})


@require_safe
def row(request: PageRequest, public_id: str) -> HttpResponse:
    """Show a row of the list: `?edit=1` with form and buttons, `?revealed=1` without taking the focus."""
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
        return _removed_from_list(request, session, _("The session is archived."), undo="battles:archive_session")
    return _returned_to_list(request, session)


@require_POST
def share(request: PageRequest, public_id: str) -> HttpResponse:
    """Share the session with its team, or end that."""
    session = get_session_or_404(request, public_id)
    is_shared = request.POST.get("shared") == "1"
    actions.share_with_team(request.actor, session, is_shared=is_shared)
    sentence = _("Your team can read this session now.") if is_shared else _("Only you can read this session now.")
    messages.success(request, sentence)
    return redirect(session)


@require_POST
def discard(request: PageRequest, public_id: str) -> HttpResponse:
    session = get_session_or_404(request, public_id)
    actions.discard_session(session)
    return _removed_from_list(request, session, _("The session is deleted."), undo="battles:restore_session")


@require_POST
def restore(request: PageRequest, public_id: str) -> HttpResponse:
    return _returned_to_list(request, actions.restore_session(actor=request.actor, public_id=public_id))


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
    return session_file_response(get_session_or_404(request, public_id), request.GET.get("as", "markdown"))


def _session_page(request: PageRequest, session: Session, form: RenameForm) -> HttpResponse:
    return session_page(request, session, StartForm(actor=request.actor), rename_form=form)


def _current_session_id(request: PageRequest) -> str:
    """Return the id of the session whose page sent the htmx request, or ""."""
    parts = urlsplit(request.htmx.current_url or "").path.strip("/").split("/")
    return parts[1] if len(parts) > 1 and parts[0] == "s" else ""


def _row(
    request: PageRequest, session: Session, form: RenameForm | None = None, *, was_edited: bool = True
) -> HttpResponse:
    session = Session.objects.with_revealed_names().get(pk=session.pk)
    set_teams(request.actor, [session])
    context = {
        "session": session,
        "form": form,
        "was_edited": was_edited,
        "current_session_id": _current_session_id(request),
    }
    status = 422 if form is not None and form.is_bound else 200
    name = "battles/session_row.html" if form is None else "battles/session_editing.html"
    return render(request, name, context, status=status)


def _removed_from_list(request: PageRequest, session: Session, sentence: str, *, undo: str) -> HttpResponse:
    """Replace the session's row with a notice and an undo button."""
    undo_url = reverse(undo, args=[session.public_id])
    if request.htmx and _current_session_id(request) != session.public_id:
        return render(request, "battles/session_notice.html", {"sentence": sentence, "undo": undo_url})
    messages.success(request, sentence, extra_tags=undo_url)  # components/notice.html renders the button
    target = reverse("battles:new") if request.htmx else reverse("battles:sessions")
    return HttpResponseClientRedirect(target) if request.htmx else redirect(target)


def _returned_to_list(request: PageRequest, session: Session) -> HttpResponse:
    sentence = _("The session is back in your list.")
    if request.htmx:
        response = render(request, "battles/session_notice.html", {"sentence": sentence})
        return trigger_client_event(response, CHANGED)
    messages.success(request, sentence)
    return redirect(session)
