"""Moderators judge votes and block people, and see no keys or settings."""

from django.contrib.auth.models import Group, Permission

from accounts.staff_rights import MODERATORS as MODERATORS

MAY_SEE = [
    "accounts.user", "accounts.visitor", "accounts.ban", "battles.session", "battles.battle", "battles.answer",
    "battles.vote", "battles.moderationcase", "uploads.upload", "leaderboard.votechange", "leaderboard.anomalyreview",
    "leaderboard.aggregationrun", "leaderboard.standing",
]  # fmt: skip
# Adding a vote change is excluding and restoring votes (leaderboard.admin.judging); changing a ban is lifting it;
# changing a case is deciding it (arena_site.moderation_queue).
MAY_ADD_OR_CHANGE = [
    "leaderboard.add_votechange", "accounts.add_ban", "accounts.change_ban", "battles.change_moderationcase",
]  # fmt: skip


def permissions() -> set[str]:
    seen = {f"{app}.view_{model}" for app, model in (name.split(".") for name in MAY_SEE)}
    return seen | set(MAY_ADD_OR_CHANGE)


def sync_group(**_: object) -> None:
    """Reset the group's permissions after every migration, undoing edits."""
    wanted = permissions()
    candidates = Permission.objects.filter(codename__in=[name.split(".")[1] for name in wanted]).select_related(
        "content_type"
    )
    group, _created = Group.objects.get_or_create(name=MODERATORS)
    group.permissions.set([row for row in candidates if f"{row.content_type.app_label}.{row.codename}" in wanted])
