"""The group of moderators: people who judge votes and block people, and see no key and no setting."""

from django.contrib.auth.models import Group, Permission

MODERATORS = "Moderators"
MAY_SEE = [
    "accounts.user", "accounts.visitor", "accounts.ban", "battles.session", "battles.battle", "battles.answer",
    "battles.vote", "battles.moderationcase", "uploads.upload", "leaderboard.votechange", "leaderboard.anomalyreview",
    "leaderboard.aggregationrun", "leaderboard.standing",
]  # fmt: skip
# To add a change of votes is to exclude and restore them (leaderboard.admin.judging); to change a ban is to lift it.
# To change a case is to decide it (arena_site.moderation_queue).
MAY_ADD_OR_CHANGE = [
    "leaderboard.add_votechange", "accounts.add_ban", "accounts.change_ban", "battles.change_moderationcase",
]  # fmt: skip


def permissions() -> set[str]:
    """As app.codename."""
    seen = {f"{app}.view_{model}" for app, model in (name.split(".") for name in MAY_SEE)}
    return seen | set(MAY_ADD_OR_CHANGE)


def make_group(**_: object) -> None:
    """After every migration: exactly these permissions, whatever somebody ticked in between."""
    wanted = permissions()
    found = Permission.objects.filter(codename__in=[name.split(".")[1] for name in wanted]).select_related(
        "content_type"
    )
    group, _made = Group.objects.get_or_create(name=MODERATORS)
    group.permissions.set([one for one in found if f"{one.content_type.app_label}.{one.codename}" in wanted])
