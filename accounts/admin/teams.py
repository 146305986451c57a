import re
from collections.abc import Sequence

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from accounts.errors import SlugTaken
from accounts.models import Role, Team, TeamMember, User
from accounts.teams import actions
from common.admin.read_only import ReadOnlyAdmin
from common.errors import ArenaError

# A name or an address of IPv4 or IPv6, as urlsplit gives it.
_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?|[0-9a-f:]*:[0-9a-f:.]*")
STATES = [("active", _("active")), ("waiting", _("without an owner")), ("archived", _("archived"))]


class TeamAdminForm(forms.ModelForm):  # type: ignore[type-arg]
    owner = forms.EmailField(
        label=_("A further owner"), required=False,
        help_text=_("E-mail address of an account. It joins the team, if it is not in it."),
    )  # fmt: skip

    class Meta:
        model = Team
        fields = ["name", "slug", "colour"]

    def clean_owner(self) -> User | None:
        email: str = self.cleaned_data["owner"]
        user = User.objects.filter(email=email.lower(), is_active=True).first()
        if email and user is None:
            raise forms.ValidationError(_("No active account has this address."))
        return user

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"]
        if slug in actions.RESERVED_SLUGS:
            raise forms.ValidationError(SlugTaken.message)
        return slug


class ChangedTeamForm(TeamAdminForm):
    class Meta(TeamAdminForm.Meta):
        fields = ["name", "slug", "colour", "private_hosts"]
        help_texts = {
            "private_hosts": _(
                "Names or addresses, separated by commas, that the team's providers may have in private networks. "
                "Its managers can then send requests to any port there."
            ),
        }

    def clean_private_hosts(self) -> list[str]:
        hosts = [str(host).strip().strip("[]").lower() for host in self.cleaned_data["private_hosts"]]
        for host in hosts:
            if not _HOST.fullmatch(host):
                raise forms.ValidationError(
                    _("“%(host)s” is not a host: enter a name or an address, without scheme and port."),
                    params={"host": host},
                )
        return sorted(set(hosts))


class NewTeamForm(TeamAdminForm):
    owner = forms.EmailField(label=_("Owner"), help_text=_("E-mail address of an account."))


class StateFilter(admin.SimpleListFilter):
    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return [(state, str(label)) for state, label in STATES]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Team]) -> QuerySet[Team]:
        match self.value():
            case "active":
                return queryset.filter(archived_at=None)
            case "waiting":
                return queryset.filter(archived_at=None).exclude(waits_since=None)
            case "archived":
                return queryset.exclude(archived_at=None)
        return queryset


@admin.register(Team)
class TeamAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Teams and their owners; nothing that their members wrote."""

    form = TeamAdminForm
    list_display = ["name", "slug", "created_at", "waits_since", "archived_at", "removed_at"]
    list_filter = [StateFilter]
    search_fields = ["name", "slug"]
    actions = ["archive", "restore"]

    def get_form(
        self, request: HttpRequest, obj: Team | None = None, change: bool = False, **kwargs: object
    ) -> type["forms.ModelForm[Team]"]:
        form = NewTeamForm if obj is None else ChangedTeamForm
        return super().get_form(request, obj, change, **{**kwargs, "form": form})

    def get_fields(self, request: HttpRequest, obj: Team | None = None) -> Sequence[str]:  # type: ignore[override]
        editable = ["name", "slug", "colour", "owner"]
        dates = ["created_by", "created_at", "waits_since", "archived_at", "removed_at"]
        return editable if obj is None else [*editable, "private_hosts", *dates]

    def get_readonly_fields(self, request: HttpRequest, obj: Team | None = None) -> list[str]:
        return [] if obj is None else ["created_by", "created_at", "waits_since", "archived_at", "removed_at"]

    def has_change_permission(self, request: HttpRequest, obj: Team | None = None) -> bool:
        return super().has_change_permission(request, obj) and (obj is None or obj.removed_at is None)

    def has_delete_permission(self, request: HttpRequest, obj: Team | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Team, form: "forms.ModelForm[Team]", change: bool) -> None:
        by: User = request.user  # type: ignore[assignment]
        owner = form.cleaned_data.pop("owner")
        if not change:
            obj.pk = actions.create_team(by=by, owner=owner, **form.cleaned_data).pk
            return
        hosts = form.cleaned_data.pop("private_hosts")
        if set(form.changed_data) - {"owner", "private_hosts"}:
            actions.change_team(by=by, team=obj, **form.cleaned_data)
        actions.allow_private_hosts(by=by, team=obj, hosts=hosts)
        if owner is not None:
            actions.add_member(by=by, team=obj, user=owner, role=Role.OWNER)

    @admin.action(description=_("Archive: their members no longer see them"), permissions=["change"])
    def archive(self, request: HttpRequest, queryset: QuerySet[Team]) -> None:
        archived = 0
        for team in queryset:
            try:
                actions.archive_team(by=request.user, team=team)  # type: ignore[arg-type]
            except ArenaError as refusal:  # without names of what members wrote
                messages.error(request, f"{team}: {refusal.message}")
            else:
                archived += 1
        if archived:
            messages.success(request, _("The teams are archived. For 30 days they can be restored."))

    @admin.action(description=_("Restore archived teams"), permissions=["change"])
    def restore(self, request: HttpRequest, queryset: QuerySet[Team]) -> None:
        for team in queryset:
            actions.restore_team(by=request.user, team=team)  # type: ignore[arg-type]
        messages.success(request, _("Archived teams are back, but those whose texts are deleted."))


@admin.register(TeamMember)
class TeamMemberAdmin(ReadOnlyAdmin):
    list_display = ["user", "team", "role", "origin", "joined_at"]
    list_select_related = ["user", "team"]
    list_filter = ["role", "origin"]
    search_fields = ["user__email", "team__name", "team__slug"]
    fields = ["user", "team", "role", "origin", "joined_at"]
    ordering = ["-pk"]
