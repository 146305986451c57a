"""Rules of auto mode that hold in a team, before those of the site."""

from collections.abc import Iterator, Mapping
from typing import cast

from django.contrib import messages
from django.db.models import Field
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.actor import ActorRequest
from accounts.models import TeamMember, User
from accounts.teams.places import find_member
from accounts.teams.roles import Right
from accounts.teams.views import team_context
from battles.labels.categories import category_names
from common.errors import ArenaError, NotFound
from routing.forms import CONDITIONS, TeamRuleForm
from routing.models import Rule
from routing.teams import actions

read_or_send = require_http_methods(["GET", "HEAD", "POST"])


def _managed(request: ActorRequest, slug: str) -> tuple[TeamMember, User]:
    member = find_member(request.actor, slug, Right.MANAGE)
    assert request.actor.user is not None  # a visitor is in no team
    return member, request.actor.user


def _rule(member: TeamMember, rule_id: int) -> Rule:
    rule = actions.rules_of(member.team).filter(pk=rule_id).first()
    if rule is None:
        raise NotFound
    return rule


def _conditions(rule: Rule, categories: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the rule's conditions with their values in words."""
    for name in CONDITIONS:
        value, field = getattr(rule, name), cast("Field[object, object]", Rule._meta.get_field(name))
        if value not in (None, ""):
            words = categories if name == "category" else dict(field.flatchoices)
            yield str(field.verbose_name), str(words.get(value, value))


@require_safe
def index(request: ActorRequest, slug: str) -> HttpResponse:
    member, _user = _managed(request, slug)
    rules, names = actions.rules_of(member.team).select_related("model__team"), category_names(member.team_id)
    rows = [(rule, list(_conditions(rule, names))) for rule in rules]
    return render(request, "teams/rules.html", {**team_context(member), "rows": rows})


@read_or_send
def new(request: ActorRequest, slug: str) -> HttpResponse:
    member, user = _managed(request, slug)
    return _form_page(request, member, user, Rule(team=member.team, is_active=True))


@read_or_send
def edit(request: ActorRequest, slug: str, rule_id: int) -> HttpResponse:
    member, user = _managed(request, slug)
    return _form_page(request, member, user, _rule(member, rule_id))


def _form_page(request: ActorRequest, member: TeamMember, user: User, rule: Rule) -> HttpResponse:
    form, refusal, status = TeamRuleForm(request.POST or None, instance=rule), "", 200
    if form.is_valid():
        try:
            actions.save_rule(by=user, rule=form.save(commit=False), changed=form.changed_data)
        except ArenaError as error:
            refusal, status = error.detail, error.http_status
        else:
            messages.success(request, _("Saved."))
            return redirect("team_rules:list", member.team.slug)
    elif form.is_bound:
        status = 422
    context = {**team_context(member), "form": form, "rule": rule, "refusal": refusal}
    return render(request, "teams/rule.html", context, status=status)


@require_POST
def switch(request: ActorRequest, slug: str, rule_id: int) -> HttpResponse:
    member, user = _managed(request, slug)
    try:
        actions.switch_rule(by=user, rule=_rule(member, rule_id), is_active=request.POST.get("on") == "1")
    except ArenaError as refusal:
        messages.error(request, refusal.detail)
    return redirect("team_rules:list", slug)


@require_POST
def up(request: ActorRequest, slug: str, rule_id: int) -> HttpResponse:
    member, user = _managed(request, slug)
    actions.move_up(by=user, rule=_rule(member, rule_id))
    return redirect("team_rules:list", slug)


@require_POST
def remove(request: ActorRequest, slug: str, rule_id: int) -> HttpResponse:
    member, user = _managed(request, slug)
    actions.remove_rule(by=user, rule=_rule(member, rule_id))
    messages.success(request, _("Removed."))
    return redirect("team_rules:list", slug)
