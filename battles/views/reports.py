from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts.actor import ensure_known_actor
from battles import actions
from battles.models import Battle
from battles.views.battles import PageRequest
from common.errors import InvalidInput


@require_POST
def report(request: PageRequest, public_id: str) -> HttpResponse:
    battle = Battle.objects.find_visible(request.actor, public_id)
    if battle is None:
        raise Http404
    reason = request.POST.get("reason", "")
    try:
        actions.report(actor=ensure_known_actor(request), battle=battle, reason=reason)
    except InvalidInput as error:
        context = {"battle": {"id": public_id}, "reason": reason, "problem": error.detail}
        template = "battles/report.html" if request.htmx else "battles/report_again.html"
        return render(request, template, context, status=422)
    if request.htmx:
        return render(request, "battles/report.html", {"battle": {"id": public_id}, "is_reported": True})
    messages.success(request, _("Thank you. A moderator will review it."))
    if battle.public_id != public_id:
        return redirect(battle.share)
    session = battle.session
    if session.team is not None and session.person != request.actor.key:
        return redirect("battles:team_session", session.team.slug, session.public_id)
    return redirect(battle)
