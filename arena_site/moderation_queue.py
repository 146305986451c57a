"""The moderators' queue in the administration, above all apps because it needs each of them."""

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin import helpers
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.html import format_html_join
from django.utils.safestring import mark_safe
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts.errors import NeedsAdministrator
from accounts.models import User
from battles import actions
from battles.models import ModerationCase, ModerationCaseQuerySet, ModerationVerdict, Turn, Vote
from battles.queries import get_battle
from common.admin.read_only import ReadOnlyAdmin
from leaderboard.actions import retract_votes
from leaderboard.admin.judging import MAY_JUDGE, BecauseForm

MAY_DECIDE = "battles.change_moderationcase"
MAY_BAN = "accounts.add_ban"


class BanForm(BecauseForm):
    """Reason, which the blocked person sees, with a duration."""

    DAYS = [("1", gettext_lazy("a day")), ("7", gettext_lazy("a week")), ("30", gettext_lazy("thirty days"))]
    days = forms.ChoiceField(
        label=gettext_lazy("For"), choices=[*DAYS, ("", gettext_lazy("until it is lifted"))], required=False
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["because"].help_text = _("Shown to the blocked person.")

    def clean(self) -> dict[str, object]:
        data = super().clean() or {}
        days = data.pop("days", "")
        return {**data, "until": timezone.now() + timedelta(days=int(days)) if days else None}


@transaction.atomic
def exclude_votes_of_cases(cases: ModerationCaseQuerySet, *, by: User, because: str) -> list[ModerationCase]:
    """Exclude the votes of the cases' battles; return the cases. Raises TalliesDisagree."""
    settled = actions.settle_cases(
        cases.exclude(battle__vote=None), by=by, because=because, action="moderation.exclude"
    )
    votes = Vote.objects.filter(battle__moderation_case__in=settled)
    retract_votes(votes, reason=Vote.ExcludedReason.MODERATION, by=by, because=because)
    return settled


def _is_withheld(case: ModerationCase) -> bool:
    """Return whether a team's texts are not for moderators: of a team they read what people reported."""
    return case.battle is not None and not case.battle.session.is_readable_by_staff and not case.reports.all()


class FlaggedByFilter(admin.SimpleListFilter):
    title = gettext_lazy("who flagged it")
    parameter_name = "by"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return [("people", _("reported by people")), ("rules", _("flagged by rules"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[ModerationCase]) -> QuerySet[ModerationCase]:
        match self.value():
            case "people":
                return queryset.exclude(reports=None)
            case "rules":
                return queryset.exclude(verdicts=None)
        return queryset


class HiddenFilter(admin.SimpleListFilter):
    title = gettext_lazy("whether it is hidden")
    parameter_name = "hidden"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return [("1", _("hidden"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[ModerationCase]) -> QuerySet[ModerationCase]:
        return queryset.filter(battle__hidden_at__isnull=False) if self.value() == "1" else queryset


@admin.register(ModerationCase)
class ModerationQueueAdmin(ReadOnlyAdmin):
    """Cases, the longest waiting first."""

    list_display = ["findings", "prompt", "person", "decision", "flagged_at"]
    list_filter = ["state", FlaggedByFilter, "verdicts__action", HiddenFilter]
    search_fields = [
        "battle__public_id", "reports__reason", "verdicts__category", "battle__session__owner_user__email",
        "user__email", "reason",
    ]  # fmt: skip
    search_help_text = gettext_lazy("A battle's id, a category, words of a report, or an e-mail address.")
    ordering = ["-state", "flagged_at", "pk"]
    list_per_page = 50
    actions = ["dismiss", "hide", "exclude_votes", "ban", "show_again"]
    fields = [
        "state", "flagged_at", "findings", "person", "outcome", "opened_at", "decided_at", "decided_by", "reason",
    ]  # fmt: skip
    change_form_template = "admin/battles/moderationcase/change_form.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[ModerationCase]:
        return ModerationCase.objects.for_queue()

    @admin.display(description=gettext_lazy("what"))
    def findings(self, case: ModerationCase) -> str:
        counts = Counter(self._verdict_text(verdict) for verdict in case.verdicts.all())
        parts = [text if times == 1 else f"{text} × {times}" for text, times in counts.items()]
        if reports := len(case.reports.all()):
            parts.append(ngettext("%(n)d report", "%(n)d reports", reports) % {"n": reports})
        return "; ".join(parts)

    @staticmethod
    def _verdict_text(verdict: ModerationVerdict) -> str:
        score = "" if verdict.score is None else f", {verdict.score:.2f}"
        return f"{_(verdict.category)} ({verdict.get_action_display()}{score})"

    @admin.display(description=gettext_lazy("first prompt"))
    def prompt(self, case: ModerationCase) -> str:
        turns: list[Turn] = [] if _is_withheld(case) else getattr(case.battle, "first_turns", [])
        return Truncator(" ".join(turns[0].prompt.split())).chars(80) if turns else ""

    @admin.display(description=gettext_lazy("person"))
    def person(self, case: ModerationCase) -> str:
        return str(case.person or "")

    @admin.display(description=gettext_lazy("what became of it"))
    def outcome(self, case: ModerationCase) -> str:
        if case.battle is None:
            return _("refused")
        vote = case.battle.vote_or_none
        parts = [_("hidden")] if case.battle.is_hidden else []
        return ", ".join([*parts, *([_("vote excluded")] if vote is not None and not vote.counts else [])])

    @admin.display(description=gettext_lazy("state"), ordering="state")
    def decision(self, case: ModerationCase) -> str:
        """Join state, outcome and author: columns of their own would squeeze the prompt."""
        parts = [case.get_state_display(), self.outcome(case), str(case.decided_by or "")]
        return format_html_join(mark_safe("<br>"), "{}", ((part,) for part in parts if part))

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        """Add the conversation, the reports, and the list's actions as buttons."""
        case = self.get_object(request, object_id)
        is_withheld = case is not None and _is_withheld(case)
        battle_id = case.battle_id if case is not None and not is_withheld else None
        extra = {
            "is_withheld": is_withheld,
            "battle": get_battle(battle_id) if battle_id is not None else None,
            "reports": case.reports.select_related("user", "visitor").order_by("pk") if case is not None else (),
            "decisions": self._decisions(request).items(),
        }
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), **extra})

    def _decisions(self, request: HttpRequest) -> dict[str, str]:
        """Return {name: description} of the person's actions."""
        return {name: str(action[2]) for name, action in self.get_actions(request).items() if action is not None}

    def has_decide_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(MAY_DECIDE)

    def has_judge_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perms([MAY_DECIDE, MAY_JUDGE])

    def has_ban_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perms([MAY_DECIDE, MAY_BAN])

    @admin.action(description=gettext_lazy("Dismiss …"), permissions=["decide"])
    def dismiss(self, request: HttpRequest, queryset: ModerationCaseQuerySet) -> HttpResponse | None:
        return self._confirm_and_run(request, queryset, BecauseForm, actions.dismiss_cases)

    @admin.action(description=gettext_lazy("Hide the battles …"), permissions=["decide"])
    def hide(self, request: HttpRequest, queryset: ModerationCaseQuerySet) -> HttpResponse | None:
        return self._confirm_and_run(request, queryset, BecauseForm, actions.hide_battles)

    @admin.action(description=gettext_lazy("Set their votes aside …"), permissions=["judge"])
    def exclude_votes(self, request: HttpRequest, queryset: ModerationCaseQuerySet) -> HttpResponse | None:
        return self._confirm_and_run(request, queryset, BecauseForm, exclude_votes_of_cases)

    @admin.action(description=gettext_lazy("Block the people …"), permissions=["ban"])
    def ban(self, request: HttpRequest, queryset: ModerationCaseQuerySet) -> HttpResponse | None:
        return self._confirm_and_run(request, queryset, BanForm, actions.ban_people)

    @admin.action(description=gettext_lazy("Show hidden battles again …"), permissions=["decide"])
    def show_again(self, request: HttpRequest, queryset: ModerationCaseQuerySet) -> HttpResponse | None:
        return self._confirm_and_run(request, queryset, BecauseForm, actions.unhide_battles)

    def _confirm_and_run(
        self,
        request: HttpRequest,
        cases: ModerationCaseQuerySet,
        form_class: type[BecauseForm],
        act: Callable[..., list[ModerationCase]],
    ) -> HttpResponse | None:
        """Render the form, or run the action and return None: back to the list."""
        form = form_class(request.POST if "because" in request.POST else None)
        if form.is_valid():
            chosen = ModerationCase.objects.filter(pk__in=list(cases.values_list("pk", flat=True)))
            try:
                done = act(chosen, by=request.user, **form.cleaned_data)
            except NeedsAdministrator as refusal:
                messages.error(request, refusal.detail)
                return None
            sentence = ngettext("%(n)d case is decided.", "%(n)d cases are decided.", len(done))
            messages.success(request, sentence % {"n": len(done)})
            return None
        action = request.POST["action"]
        context = {
            **self.admin_site.each_context(request),
            "title": self._decisions(request)[action],
            "opts": self.opts,
            "form": form,
            "number": cases.count(),
            "action": action,
            "chosen": request.POST.getlist(helpers.ACTION_CHECKBOX_NAME),
            "select_across": request.POST.get("select_across", "0"),
        }
        return TemplateResponse(request, "admin/battles/moderationcase/decide.html", context)
