from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import cast

from django.contrib import messages
from django.forms import BaseForm
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect, HttpResponseClientRefresh, trigger_client_event
from django_htmx.middleware import HtmxDetails

from accounts.actor import ActorRequest, ensure_known_actor
from accounts.models import Team
from accounts.teams.places import chosen_place, place_of_form
from accounts.teams.roles import Right, teams_with
from battles import actions, series
from battles.auto.options import AUTO, REQUESTED_MODES, dial_name
from battles.errors import AlreadyRegenerated, AlreadyVoted, NothingToStop, StillAnswering, UnknownTag
from battles.forms import FeedbackForm, PromptForm, RenameForm, StarsForm, StartForm, VoteForm
from battles.models import Answer, Battle, Session, Vote
from battles.payload_types import BattlePayload
from battles.payloads import battle_payload, read_only
from battles.prompting.preselection import by_name, preselected_models
from battles.queries import find_battle, find_battle_with_related, get_session_battles
from battles.sessions.listing import set_teams
from battles.streaming import formats, protocol
from common.errors import InvalidInput
from models_registry import drawable_cache
from models_registry.models import LanguageModel
from models_registry.picking import read_picker
from site_content.errors import TermsNotAccepted

# Client event after a vote: the session's row in the sidebar shows names now (battles/session_row.html).
NAMES_REVEALED = "names-revealed"
PICKERS_OF_MODES = {
    Battle.Mode.SIDE_BY_SIDE: ("left", "right"), Battle.Mode.COMPARE: ("several",), Battle.Mode.DIRECT: ("one",),
    AUTO: ("several",),
}  # fmt: skip


class PageRequest(ActorRequest):
    htmx: HtmxDetails


def get_battle_or_404(request: PageRequest, public_id: str, *, with_related: bool = False) -> Battle:
    """Return the battle if the actor owns it; every view of a private battle uses this."""
    find = find_battle_with_related if with_related else find_battle
    battle = find(request.actor, public_id)
    if battle is None:
        raise Http404
    return battle


def get_session_or_404(request: PageRequest, public_id: str) -> Session:
    session = Session.objects.owned_by(request.actor).filter(public_id=public_id).first()
    if session is None:
        raise Http404
    return session


def redirect_to(request: PageRequest, url: str) -> HttpResponse:
    """Return a redirect that browsers and htmx follow."""
    return HttpResponseClientRedirect(url) if request.htmx else HttpResponseRedirect(url, status=303)


@require_http_methods(["GET", "HEAD", "POST"])
def new(request: PageRequest) -> HttpResponse:
    place = place_of_form(request) if request.method == "POST" else chosen_place(request)
    models = by_name(drawable_cache.roster_of(None if place is None else place.pk).choosable)
    if request.method == "POST":
        form = StartForm(request.POST, actor=request.actor)
        if form.is_valid():
            try:
                actor = ensure_known_actor(request)
                form.store_acceptance(actor)
                battle = actions.start_session(
                    actor=actor,
                    place=place,
                    prompt=form.cleaned_data["prompt"],
                    battle_request=form.battle_request,
                    proof=form.cleaned_data["proof"],
                )
                return redirect_to(request, battle.session.get_absolute_url())
            except (InvalidInput, TermsNotAccepted) as refusal:
                form.add_refusal(refusal)
    else:
        mode = request.GET.get("mode", _first_mode(models))
        form = StartForm(
            initial={
                "mode": mode,
                "models": request.GET.getlist("models") or preselected_models(request.actor, mode, models),
                "attachments": request.GET.getlist("attach"),
            },
            actor=request.actor,
        )
    pickers = model_picker_context(form, place, shows_all="all" in request.GET)
    fewest = 1 if pickers["mode"] in (Battle.Mode.DIRECT, AUTO) else 2
    context = {
        "form": form,
        "place": place,
        "place_of_page": place,
        "drawable_count": len(models),
        "has_too_few_models": len(models) < fewest,
        **_place_context(request, place),
        **pickers,
    }
    return _form_page(request, form, "battles/new.html", "prompt", context)


def _place_context(request: PageRequest, place: Team | None) -> dict[str, object]:
    """Return what keeps this tab in its place; nothing for people without a team."""
    user = request.actor.user
    if user is None or not user.has_teams:
        return {}
    return {"chosen_place": place, "place_query": f"&team={place.slug if place else ''}"}


def _first_mode(models: list[LanguageModel]) -> Battle.Mode:
    """Return the mode of a first visit: an arena with one model can only chat."""
    return Battle.Mode.DIRECT if len(models) == 1 else Battle.Mode.BLIND


def model_picker_context(form: StartForm, place: Team | None, *, shows_all: bool = False) -> dict[str, object]:
    mode = form["mode"].value()
    mode = mode if mode in dict(REQUESTED_MODES) else Battle.Mode.BLIND
    chosen, opponent = form["models"].value() or [], form["opponent"].value()
    slugs = {"left": chosen[:1], "right": [opponent] if opponent else chosen[1:2]}
    pickers = [
        read_picker(key, chosen=slugs.get(key, chosen), shows_all=shows_all, place=place)
        for key in PICKERS_OF_MODES.get(mode, ())
    ]
    return {"mode": mode, "modes": REQUESTED_MODES, "pickers": pickers}


@require_safe
def session(request: PageRequest, public_id: str) -> HttpResponse:
    session = get_session_or_404(request, public_id)
    if request.htmx:
        return _changed_battles(request, session, known=request.GET.getlist("known"))
    return session_page(request, session, StartForm(actor=request.actor))


def _changed_battles(request: PageRequest, session: Session, *, known: list[str]) -> HttpResponse:
    """Return the session's changed and new battles for an open page. known: versions on that page."""
    shown_ids = {version.partition(".")[0] for version in known}
    changed, before = [], ""
    for battle in map(page_battle, _battles_of_page(request, session)):
        if battle["version"] not in known:
            changed.append({**battle, "comes_after": "" if battle["id"] in shown_ids else before})
        before = battle["id"]
    if not changed:
        return HttpResponse(status=204)
    response = render(request, "battles/session_news.html", {"session": session, "news": changed})
    return trigger_client_event(response, NAMES_REVEALED) if any(battle["vote"] for battle in changed) else response


@require_POST
def new_battle(request: PageRequest, public_id: str) -> HttpResponse:
    session = get_session_or_404(request, public_id)
    form = StartForm(request.POST, actor=request.actor)
    if form.is_valid():
        try:
            form.store_acceptance(request.actor)
            battle = actions.start_battle(
                actor=request.actor,
                session=session,
                prompt=form.cleaned_data["prompt"],
                battle_request=form.battle_request,
                proof=form.cleaned_data["proof"],
            )
            return redirect_to(request, battle.get_absolute_url())
        except (InvalidInput, TermsNotAccepted) as refusal:
            form.add_refusal(refusal)
    return session_page(request, session, form)


def session_page(
    request: PageRequest, session: Session, form: PromptForm, *, rename_form: RenameForm | None = None
) -> HttpResponse:
    """rename_form: an invalid one to show again."""
    battles = [page_battle(battle, request.GET.get("choice", "")) for battle in _battles_of_page(request, session)]
    is_of_review = battles[-1]["mode"] == "review"
    has_left = session.is_left_by(request.actor, asks_guests=is_of_review)
    if has_left:
        battles = [cast(PageBattle, read_only(battle)) for battle in battles]
    live = [battle["id"] for battle in battles if battle["stream_url"]]
    submitted = rename_form or form
    set_teams(request.actor, [session])
    context = {
        "session": session,
        "is_in_team": session.team_id is not None and not has_left,
        "has_left": has_left,
        "place_of_page": teams_with(request.actor.memberships, Right.SEE).get(session.team_id or 0),
        "battles": battles,
        "is_of_review": is_of_review,
        "review_url": _review_url(session) if is_of_review else "",
        "address": session.get_absolute_url() + (f"?battle={battles[0]['id']}" if request.GET.get("battle") else ""),
        # Reloads pages without JavaScript, but not while they show an invalid form, whose input would be lost.
        "reload_anchor": live[-1] if live and not submitted.is_bound else None,
        "form": form,
        "rename_form": rename_form,
        "current_session_id": session.public_id,
    }
    return _form_page(request, submitted, "battles/session.html", "new_battle", context)


def _form_page(
    request: PageRequest, form: BaseForm, template: str, partial: str, context: dict[str, object]
) -> HttpResponse:
    """Render the page; an invalid form answers 422, to htmx with the form only."""
    status = 422 if form.is_bound else 200
    name = f"{template}#{partial}" if request.htmx and form.is_bound else template
    return render(request, name, context, status=status)


def _battles_of_page(request: PageRequest, session: Session) -> list[Battle]:
    """Return the session's battles, or the one that the address names."""
    if public_id := request.GET.get("battle"):
        battle = find_battle_with_related(request.actor, public_id)
        if battle is None or battle.session_id != session.pk:
            raise Http404
        return [battle]
    return get_session_battles(session)


def _review_url(session: Session) -> str:
    of_session = session.battles.exclude(series="").values_list("series", flat=True).first()
    return series.owner().url(of_session) if of_session else ""


class PageBattle(BattlePayload):
    version: str  # changes with each action or end of a turn, but not while an answer streams
    dial: str  # of auto mode, or ""
    next_url: str  # of what follows in a review, or ""
    choices: Collection[str]  # that a vote may have
    choice: str  # one of them, if it was made and questions come before the names, or ""
    questions: Sequence[series.VoteQuestion]  # of a review, after the choice


def page_battle(battle: Battle, choice: str = "") -> PageBattle:
    """Return the API's payload with a version, for templates. choice: made, but not stored yet."""
    payload = battle_payload(battle, stream_format="page")
    vote = payload["vote"]
    allowed = [name for name, value in payload.items() if name.startswith("can_") and value is True]
    allowed = [name for name in allowed if name != "can_stop"]  # the stream reports a stop
    facts = [payload["state"], len(payload["turns"]), payload["hidden"], payload["consent"], vote and vote["counted"]]
    decision = battle.decision_or_none
    dial = "" if decision is None else dial_name(decision.dial)
    version = ".".join(map(str, [payload["id"], *facts, *allowed]))
    choices = series.owner().choices(battle.series) if battle.hides_names and battle.is_review else Vote.Choice.values
    next_url = series.owner().next_url(battle) if battle.is_review and vote is not None else ""
    questions = _questions_after(battle, choice) if choice in choices else ()
    return {
        **payload, "version": version, "dial": dial, "next_url": next_url, "choices": choices,
        "choice": choice if questions else "", "questions": questions,
    }  # fmt: skip


def _questions_after(battle: Battle, choice: str) -> Sequence[series.VoteQuestion]:
    # Names would colour the answers, so the vote comes after them.
    asks = battle.is_review and choice and battle.vote_or_none is None
    return series.owner().questions(battle.series) if asks else ()


def _battle_fragment(request: PageRequest, public_id: str, form: PromptForm | None = None) -> HttpResponse:
    return _fragment_of(request, get_battle_or_404(request, public_id, with_related=True), form)


def _fragment_of(
    request: PageRequest, battle: Battle, form: PromptForm | None = None, *, choice: str = ""
) -> HttpResponse:
    if not request.htmx:
        address, fragment = battle.get_absolute_url().split("#")
        return redirect(f"{address}&choice={choice}#{fragment}" if choice else battle)
    if battle.session.is_left_by(request.actor, asks_guests=battle.is_review):
        return HttpResponseClientRefresh()
    context = {"battle": page_battle(battle, choice), "follow_up_form": form or PromptForm()}
    return render(request, "battles/battle.html#battle", context, status=422 if form else 200)


@require_safe
def battle(request: PageRequest, public_id: str) -> HttpResponse:
    return _battle_fragment(request, public_id)


@require_POST
def vote(request: PageRequest, public_id: str) -> HttpResponse:
    battle = get_battle_or_404(request, public_id)
    form = VoteForm(request.POST)
    if not form.is_valid():
        raise Http404  # not sent by our pages
    choice = Vote.Choice(form.cleaned_data["choice"])
    questions = _questions_after(battle, choice)
    if questions and not form.cleaned_data["is_complete"]:
        return _fragment_of(request, get_battle_or_404(request, public_id, with_related=True), choice=choice)
    answers = [] if "skip" in request.POST else form.answers(len(questions))
    try:
        vote = actions.cast_vote(actor=request.actor, battle=battle, choice=choice, answers=answers)
        battle = vote.battle
    except AlreadyVoted:  # a double click: show the stored vote
        return _battle_fragment(request, public_id)
    return trigger_client_event(_fragment_of(request, battle), NAMES_REVEALED)


@require_POST
def feedback(request: PageRequest, public_id: str) -> HttpResponse:
    battle = get_battle_or_404(request, public_id)
    form = FeedbackForm(request.POST)
    if form.is_valid():
        try:
            actions.give_feedback(battle=battle, tags=form.tags, comment=form.cleaned_data["comment"])
            if not request.htmx:
                messages.success(request, _("Feedback saved. Thank you."))
                return redirect(battle)
        except UnknownTag as refusal:
            form.add_error("comment", refusal.detail)
    return render(request, "battles/feedback_result.html", {"form": form}, status=200 if form.is_valid() else 422)


@require_POST
def follow_up(request: PageRequest, public_id: str) -> HttpResponse:
    battle = get_battle_or_404(request, public_id)
    form = PromptForm(request.POST, actor=request.actor)
    if form.is_valid():
        data = form.cleaned_data
        try:
            actions.follow_up(
                actor=request.actor, battle=battle, prompt=data["prompt"], attachments=data["attachments"]
            )
            return _battle_fragment(request, public_id)
        except InvalidInput as refusal:
            form.add_error("prompt", refusal.detail)
    return _battle_fragment(request, public_id, form) if request.htmx else session_page(request, battle.session, form)


@require_POST
def stop(request: PageRequest, public_id: str) -> HttpResponse:
    battle = get_battle_or_404(request, public_id)
    with suppress(NothingToStop):  # the turn has just ended
        actions.stop(battle=battle)
    return _battle_fragment(request, public_id)


@require_POST
def regenerate(request: PageRequest, public_id: str) -> HttpResponse:
    battle = get_battle_or_404(request, public_id)
    with suppress(StillAnswering, AlreadyRegenerated):  # a double click: show the turn that the first one started
        actions.regenerate(actor=request.actor, battle=battle)
    return _battle_fragment(request, public_id)


@require_POST
def stars(request: PageRequest, public_id: str) -> HttpResponse:
    owned = Answer.objects.filter(turn__battle__in=Battle.objects.owned_by(request.actor))
    answer = get_object_or_404(owned.select_related("turn__battle__session", "side"), public_id=public_id)
    form = StarsForm(request.POST)
    if not form.is_valid():
        raise Http404  # not sent by our pages
    actions.give_stars(actor=request.actor, answer=answer, stars=form.cleaned_data["stars"])
    return HttpResponse(status=204) if request.htmx else redirect(answer.turn.battle)


@require_GET
def stream(request: HttpRequest, token: str) -> StreamingHttpResponse:
    """Stream server-sent events of a live turn; the signed token authorizes, so no query is needed."""
    stream_token = protocol.TurnToken.read_or_404(token)
    after = request.headers.get("Last-Event-ID") or request.GET.get("after") or protocol.BEGINNING
    if stream_token.format == "page":
        events = formats.page_events(stream_token, after, language=request.LANGUAGE_CODE)
    else:
        events = formats.api_events(stream_token, after)
    # No query checks the owner: at `end` the page fetches the battle, which checks that the person still has it.
    return stream_token.response(request, events, needs_staff=stream_token.format == "test")
