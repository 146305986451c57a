"""Tests of a team's models by its managers, paid by the team."""

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe
from kombu.exceptions import OperationalError

from accounts import audit
from accounts.actor import ActorRequest
from accounts.models import TeamMember
from accounts.open_streams import reader_fields
from accounts.teams.places import find_member
from accounts.teams.roles import Right
from accounts.teams.views import team_context
from battles import tasks
from battles.editing.forms import ModelTestForm
from battles.streaming.protocol import TurnToken
from battles.worker import model_tests
from common.errors import ArenaError, NotFound
from common.valkey.connections import UNREACHABLE
from models_registry.health.failure_messages import failure_message
from models_registry.models import LanguageModel
from models_registry.payers import Payer


def _tested(request: ActorRequest, slug: str, model_id: int) -> tuple[TeamMember, LanguageModel]:
    member = find_member(request.actor, slug, Right.MANAGE)
    own = LanguageModel.of_every_owner.filter(team=member.team).select_related("team", "provider__team")
    model = own.filter(pk=model_id).first()
    if model is None:
        raise NotFound
    return member, model


@require_http_methods(["GET", "HEAD", "POST"])
def start(request: ActorRequest, slug: str, model_id: int) -> HttpResponse:
    member, model = _tested(request, slug, model_id)
    form = ModelTestForm(request.POST or None)
    if not form.is_valid():
        return _page(request, member, model, form, status=422 if form.is_bound else 200)
    try:
        request.actor.count("battle", fail_open=True)
        payer = Payer.of(request.actor, member.team_id)
        test_id = model_tests.store_request(model, form.cleaned_data["prompt"], payer=payer)
        tasks.wake_model_test(test_id)
    except ArenaError as refusal:
        form.add_error(None, refusal.detail)
        return _page(request, member, model, form, status=refusal.http_status)
    except (OperationalError, *UNREACHABLE):
        form.add_error(None, _("The queue is temporarily unavailable. Try again."))
        return _page(request, member, model, form, status=503)
    audit.record(request.actor.user, "test model", f"team {member.team.slug}: {model}")
    return redirect("team_model_test_result", slug, model.pk, test_id)


@require_safe
def show(request: ActorRequest, slug: str, model_id: int, test_id: str) -> HttpResponse:
    member, model = _tested(request, slug, model_id)
    try:
        test = model_tests.read(test_id)
    except UNREACHABLE:
        return redirect("team_model_test", slug, model.pk)
    if test is not None and (test.model_id, test.team_id) != (model.pk, member.team_id):
        raise NotFound
    stream = ""
    if test is not None and not test.is_over:
        reader = reader_fields(request.actor.key, team=member.team_id)
        token = TurnToken(test_id, 0, "test", sides=model_tests.SIDES, **reader)
        stream = reverse("battles:stream", args=[token.signed()])
    failure = failure_message(test.error) if test is not None else ""
    form = ModelTestForm(initial={"prompt": test.prompt} if test is not None else None)
    return _page(request, member, model, form, test=test, is_lost=test is None, stream=stream, failure=failure)


def _page(
    request: ActorRequest,
    member: TeamMember,
    model: LanguageModel,
    form: ModelTestForm,
    *,
    status: int = 200,
    **more: object,
) -> HttpResponse:
    context = {**team_context(member), "model": model, "form": form, **more}
    return render(request, "teams/model_test.html", context, status=status)
