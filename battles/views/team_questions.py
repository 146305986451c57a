"""Categories, moderation rules and suggestions of a team."""

from typing import NamedTuple

from django.contrib import messages
from django.forms import ModelForm
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.actor import ActorRequest
from accounts.models import TeamMember, User
from accounts.teams.places import find_member
from accounts.teams.roles import Right
from accounts.teams.views import team_context
from battles.editing import team_rows
from battles.editing.forms import PromptSuggestionForm, TeamCategoryForm, TeamRuleForm
from battles.editing.team_rows import Row
from battles.models import Category, ModerationRule, PromptSuggestion
from common.errors import ArenaError, NotFound

read_or_send = require_http_methods(["GET", "HEAD", "POST"])


class Kind(NamedTuple):
    """Rows of a team that one form edits."""

    model: type[Row]
    form: "type[ModelForm[Row]]"
    heading: Promise
    add: Promise


KINDS = {
    "suggestions": Kind(
        PromptSuggestion, PromptSuggestionForm, gettext_lazy("Suggestions"), gettext_lazy("Add a suggestion")
    ),
    "categories": Kind(Category, TeamCategoryForm, gettext_lazy("Categories"), gettext_lazy("Add a category")),
    "rules": Kind(ModerationRule, TeamRuleForm, gettext_lazy("Refused prompts"), gettext_lazy("Add a rule")),
}


def _managed(request: ActorRequest, slug: str) -> tuple[TeamMember, User]:
    member = find_member(request.actor, slug, Right.MANAGE)
    assert request.actor.user is not None  # a visitor is in no team
    return member, request.actor.user


def _kind(name: str) -> Kind:
    if name not in KINDS:
        raise NotFound
    return KINDS[name]


def _row(member: TeamMember, kind: Kind, row_id: int) -> Row:
    row: Row | None = team_rows.rows_of(kind.model, member.team).filter(pk=row_id).first()
    if row is None:
        raise NotFound
    return row


@require_safe
def index(request: ActorRequest, slug: str) -> HttpResponse:
    member, _user = _managed(request, slug)
    rows = {name: team_rows.rows_of(kind.model, member.team) for name, kind in KINDS.items()}
    return render(request, "teams/questions.html", {**team_context(member), **rows})


@read_or_send
def new(request: ActorRequest, slug: str, kind: str) -> HttpResponse:
    member, user = _managed(request, slug)
    return _form_page(request, member, user, kind, _kind(kind).model(team=member.team))


@read_or_send
def edit(request: ActorRequest, slug: str, kind: str, row_id: int) -> HttpResponse:
    member, user = _managed(request, slug)
    return _form_page(request, member, user, kind, _row(member, _kind(kind), row_id))


def _form_page(
    request: ActorRequest, member: TeamMember, user: User, name: str, row: Row, *, refusal: str = "", status: int = 200
) -> HttpResponse:
    kind, is_sent = _kind(name), request.method == "POST" and not refusal
    form = kind.form(request.POST if is_sent else None, instance=row)
    if is_sent and form.is_valid():
        try:
            team_rows.save_row(by=user, row=form.save(commit=False), changed=form.changed_data)
        except ArenaError as error:
            refusal, status = error.detail, error.http_status
        else:
            messages.success(request, _("Saved."))
            return redirect("team_questions:list", member.team.slug)
    elif is_sent:
        status = 422
    context = {**team_context(member), "form": form, "row": row, "kind": kind, "name": name, "refusal": refusal}
    return render(request, "teams/question.html", context, status=status)


@require_POST
def remove(request: ActorRequest, slug: str, kind: str, row_id: int) -> HttpResponse:
    member, user = _managed(request, slug)
    row = _row(member, _kind(kind), row_id)
    try:
        team_rows.remove_row(by=user, row=row)
    except ArenaError as error:
        return _form_page(request, member, user, kind, row, refusal=error.detail, status=error.http_status)
    messages.success(request, _("Removed."))
    return redirect("team_questions:list", slug)
