"""The administration's pages by task: for its first page and the navigation beside every other."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from common.payload_types import JsonObject


@dataclass
class PageLink:
    name: str
    url: str
    add_url: str | None = None
    is_current: bool = False


@dataclass(frozen=True)
class TaskGroup:
    key: str
    name: Promise
    about: Promise
    pages: list[PageLink]


# (key, name, what for, labels of models and names of other pages' URLs), in each what is needed most often first.
_GROUPS: list[tuple[str, Promise, Promise, list[str]]] = [
    (
        "models", _("Models"), _("Connect providers, add models, watch what they cost and how auto mode chooses."),
        [
            "models_registry.provider", "models_registry.languagemodel", "admin:battles_test_models",
            "admin:battles_servers", "models_registry.cataloguechange", "models_registry.requestrepair",
            "models_registry.modellimit", "models_registry.budget", "models_registry.charge",
            "routing.rule", "routing.routingthresholds", "battles.routingdecision",
            "routing.routersnapshot", "routing.routerevaluation", "routing.decisionoutcome",
        ],
    ),
    (
        "people", _("People"), _("Invite people, give rights, widen limits."),
        [
            "accounts.user", "accounts.invitation", "accounts.team", "accounts.teammember", "auth.group",
            "accounts.limit", "accounts.limitgroup", "accounts.apitoken", "accounts.visitor", "account.emailaddress",
            "mfa.authenticator",
            "admin:accounts_single_sign_on", "accounts.issuergroup", "socialaccount.socialaccount",
        ],
    ),
    (
        "moderation", _("Moderation"), _("Read reports, judge suspicious votes, block people."),
        [
            "battles.moderationcase", "leaderboard.anomalyreview", "accounts.ban", "battles.moderationrule",
            "battles.moderationendpoint", "leaderboard.votechange",
        ],
    ),
    (
        "boards", _("Boards"), _("Choose which boards are listed, and see how they were computed."),
        [
            "leaderboard.listedboard", "battles.category", "leaderboard.aggregationrun", "leaderboard.standing",
            "leaderboard.elosettings", "leaderboard.elorating", "leaderboard.pairtally", "leaderboard.importedboard",
            "benchmarks.livejudge",
        ],
    ),
    (
        "look", _("Look and texts"), _("Name, logo, colour, legal pages, suggestions and tags."),
        [
            "site_content.siteidentity", "site_content.pageversion", "battles.promptsuggestion", "battles.feedbacktag",
        ],
    ),
    (
        "data", _("Data"), _("Look up what was asked, answered and voted; publish it."),
        [
            "battles.call", "battles.vote", "battles.battle", "battles.session", "battles.answer", "uploads.upload",
            "benchmarks.run", "reviews.decisionreport", "gateway.exchange", "leaderboard.datapolicy",
            "leaderboard.datarelease",
        ],
    ),
    (
        "machine", _("Machine"), _("See who changed what, and whether all parts run."),
        ["metrics:use", "accounts.auditentry"],
    ),
]  # fmt: skip
# Plainer names than those of the tables.
_NAMES: dict[str, Promise] = {
    "battles.call": _("Interaction log"),
    "mfa.authenticator": _("Second factors"),
    "socialaccount.socialaccount": _("Connections with single sign-on"),
    "leaderboard.elorating": _("Live Elo of each model"),
    "accounts.auditentry": _("Audit log"),
}
# Pages without a table of their own: {URL's name: (name, permission)}.
_OTHER_PAGES: dict[str, tuple[Promise, str]] = {
    "admin:battles_test_models": (_("Test all models"), "models_registry.change_languagemodel"),
    "admin:battles_servers": (_("What your servers send"), "models_registry.view_languagemodel"),
    "metrics:use": (_("Figures over time"), "metrics.view_metricday"),
    "admin:accounts_single_sign_on": (_("Single sign-on"), "socialaccount.view_socialaccount"),
}


def labels() -> list[str]:
    return [label for _key, _name, _about, listed in _GROUPS for label in listed if label not in _OTHER_PAGES]


def group_by_task(apps: Sequence[JsonObject], request: HttpRequest) -> list[TaskGroup]:
    """Return the pages that the person may open; tables of no group are the machine's.

    apps: as AdminSite.get_app_list returns them.
    """
    rows = {row["model"]._meta.label_lower: row for app in apps for row in app["models"]}
    links = {label: _link(label, row) for label, row in rows.items()}
    links |= {
        url: PageLink(str(name), reverse(url))
        for url, (name, permission) in _OTHER_PAGES.items()
        if request.user.has_perm(permission)
    }
    unlisted = sorted(rows.keys() - set(labels()))
    groups = []
    for key, name, about, listed in _GROUPS:
        of_group = [*listed, *(unlisted if key == "machine" else [])]
        groups.append(TaskGroup(key, name, about, [links[each] for each in of_group if each in links]))
    _mark_current([page for group in groups for page in group.pages], request.path)
    return [group for group in groups if group.pages]


def _link(label: str, row: JsonObject) -> PageLink:
    return PageLink(str(_NAMES.get(label, row["name"])), row["admin_url"] or row["add_url"], row["add_url"])


def _mark_current(pages: Sequence[PageLink], path: str) -> None:
    """Mark the page with the longest address that `path` begins with."""
    above = [page for page in pages if path.startswith(page.url)]
    for page in sorted(above, key=lambda page: len(page.url))[-1:]:
        page.is_current = True
