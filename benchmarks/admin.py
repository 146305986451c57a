from collections.abc import Sequence

from django import forms
from django.contrib import admin, messages
from django.db.models import Count, Max, Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from accounts.admin.audited import AuditedAdmin
from battles.models import Vote
from benchmarks import actions
from benchmarks.live_judging.asking import used_since
from benchmarks.models import Judge, LiveDraw, LiveJudge, LiveJudgement, Run
from common.admin.read_only import ReadOnlyAdmin
from common.text.money import dollars, plain_decimal
from models_registry.models.ledger import today


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    """Runs without their questions and answers, which are their members'."""

    list_display = ["public_id", "owner", "state", "reason", "item_count", "spent", "budget", "created_at"]
    list_select_related = ["owner"]
    list_filter = ["state"]
    search_fields = ["public_id", "owner__email"]
    fields = [
        "public_id", "owner", "state", "reason", "entrant_count", "item_count", "repeats", "concurrency", "attempts",
        "is_paid", "budget", "reserved", "spent", "created_at", "started_at", "finished_at", "published_at",
    ]  # fmt: skip
    actions = ["pause_runs"]

    def has_pause_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm("benchmarks.change_run"))

    @admin.action(description=_("Pause selected runs"), permissions=["pause"])
    def pause_runs(self, request: HttpRequest, queryset: QuerySet[Run]) -> None:
        paused = actions.pause_runs(queryset, by=request.user)  # type: ignore[arg-type]
        sentence = ngettext("%(n)d run is paused now.", "%(n)d runs are paused now.", paused)
        messages.success(request, sentence % {"n": paused})


class LiveJudgeForm(forms.ModelForm):  # type: ignore[type-arg]
    earlier_votes = forms.BooleanField(
        label=_("also battles voted on before"), required=False,
        help_text=_("Only then can the judge’s scores be on a board that has votes already."),
    )  # fmt: skip

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        if "judge" in self.fields:
            judges = Judge.objects.filter(team=None, kind=Judge.Kind.PAIRWISE, archived_at=None)
            self.fields["judge"].queryset = judges.filter(  # type: ignore[attr-defined]
                owner_user__is_staff=True, model__team=None
            ).order_by("name", "pk")


@admin.register(LiveJudge)
class LiveJudgeAdmin(AuditedAdmin):
    form = LiveJudgeForm
    list_display = ["judge", "is_on", "share", "day_budget", "month_budget", "waits_for", "waits_until"]
    list_select_related = ["judge"]

    def get_fields(self, request: HttpRequest, obj: LiveJudge | None = None) -> Sequence[object]:  # type: ignore[override]
        settings = ["judge", "is_on", "share", "day_budget", "month_budget"]
        return [*settings, "earlier_votes"] if obj is None else [*settings, *self._seen]

    _seen = ["progress", "left_out", "spent_today", "waits_for", "waits_until"]

    def get_readonly_fields(self, request: HttpRequest, obj: LiveJudge | None = None) -> list[str]:
        return [] if obj is None else ["judge", *self._seen]

    def has_delete_permission(self, request: HttpRequest, obj: LiveJudge | None = None) -> bool:
        return False  # the draws tell which part of the votes was judged

    def state_of(self, row: LiveJudge) -> dict[str, object]:
        return {
            "is_on": row.is_on, "share": str(row.share), "day_budget": str(row.day_budget),
            "month_budget": str(row.month_budget),
        }  # fmt: skip

    def save_model(self, request: HttpRequest, obj: LiveJudge, form: LiveJudgeForm, change: bool) -> None:
        obj.waits_until, obj.waits_for = None, ""
        if change:  # the sweeper moves the other fields meanwhile
            obj.save(update_fields=["is_on", "share", "day_budget", "month_budget", "waits_until", "waits_for"])
            return
        if not form.cleaned_data["earlier_votes"]:
            obj.first_order = obj.last_order = Vote.objects.aggregate(last=Max("order"))["last"] or 0
        obj.save()

    @admin.display(description=_("judged"))
    def progress(self, row: LiveJudge) -> str:
        states = LiveJudgement.objects.filter(draw__live_judge=row).aggregate(
            asked=Count("pk"), done=Count("pk", filter=Q(state=LiveJudgement.State.DONE)),
            failed=Count("pk", filter=Q(state__in=[LiveJudgement.State.FAILED, LiveJudgement.State.UNPARSED])),
        )  # fmt: skip
        return str(_("%(done)d of %(asked)d questions; %(failed)d without a verdict") % states)

    @admin.display(description=_("left out"))
    def left_out(self, row: LiveJudge) -> str:
        reasons = dict(LiveDraw.LeftOut.choices)
        counted = row.draws.exclude(left_out="").values_list("left_out").annotate(n=Count("pk")).order_by("left_out")
        return ", ".join(f"{reasons[reason]}: {n}" for reason, n in counted) or "–"

    @admin.display(description=_("US dollars spent and reserved today"))
    def spent_today(self, row: LiveJudge) -> str:
        return dollars(plain_decimal(used_since(today())))
