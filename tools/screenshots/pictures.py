"""All pictures, with their readers and the actions before."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain

from playwright.sync_api import Page

from tests.worlds.no_pages import NO_PAGE
from tools.screenshots import acts

Act = Callable[[Page], None]


class Who(StrEnum):
    NEWCOMER = "newcomer"  # on the first visit
    VISITOR = "visitor"  # with battles
    MEMBER = "member"
    GUARDED = "guarded"  # a member with a second factor
    MODERATOR = "moderator"
    ADMINISTRATOR = "administrator"


class World(StrEnum):
    """States of the arena, prepared in this order."""

    NEW = "new"  # without battles
    PLAYED = "played"  # with battles on the local model
    GENERATED = "generated"  # with hundreds of generated battles, too
    STRICT = "strict"  # with consent and low limits
    BROKEN = "broken"  # without Valkey and the table of uploads
    TERMS = "terms"  # whose terms must be accepted
    SCHOOL = "school"  # whose members make teams, with prices of models and accounts by invitation


@dataclass(frozen=True)
class Picture:
    """`address`: a URL with ids as {name}. `shows`: URL pattern after `act`, in the form of tests.site_urls."""

    name: str
    address: str
    who: Who = Who.NEWCOMER
    world: World = World.PLAYED
    act: Act | None = None
    status: int = 200
    shows: str = ""


def _all(who: Who, world: World, pages: dict[str, str]) -> list[Picture]:
    return [Picture(name, address, who, world) for name, address in pages.items()]


BATTLES = [
    *_all(Who.NEWCOMER, World.NEW, {
        "start": "/", "start-side-by-side": "/?mode=side_by_side", "start-compare": "/?mode=compare",
        "start-direct": "/?mode=direct", "start-auto": "/?mode=auto", "sessions-empty": "/sessions/",
        "files-empty": "/uploads/", "votes-empty": "/votes/", "own-board-empty": "/leaderboard/mine/",
    }),
    Picture("start-narrowed", "/", world=World.NEW, act=acts.narrow),
    Picture("answering", "/", act=acts.ask, shows="/s/{public_id}/"),
    Picture("stopped", "/", act=acts.ask_and_stop, shows="/s/{public_id}/"),
    Picture("just-revealed", "/", act=acts.ask_and_vote, shows="/s/{public_id}/"),
    *_all(Who.VISITOR, World.PLAYED, {
        "battle": "/s/{unvoted}/", "revealed": "/s/{voted}/", "follow-up": "/s/{asked_again}/",
        "compare": "/s/{compared}/", "side-by-side": "/s/{beside}/", "direct": "/s/{direct}/",
        "with-a-file": "/s/{with_file}/", "sessions": "/sessions/", "sessions-found": "/sessions/?search=lighthouse",
        "votes": "/votes/", "own-board": "/leaderboard/mine/", "limits": "/accounts/limits/", "software": "/software/",
        "session-delete": "/s/{beside}/delete/", "shared": "/b/{share}/", "files": "/uploads/",
        "gallery": "/gallery/", "statistics": "/statistics/",
        "file": "/uploads/{file}/", "file-delete": "/uploads/{file}/delete/",
    }),
    Picture("sidebar", "/", Who.VISITOR, act=acts.open_sidebar),
    Picture("session-editing", "/s/{beside}/", Who.VISITOR, act=acts.edit_session),
    Picture("reporting", "/s/{voted}/", Who.VISITOR, act=acts.open_report),
    Picture("feedback", "/s/{asked_again}/", Who.VISITOR, act=acts.open_feedback),
    Picture("attaching", "/", world=World.NEW, act=acts.attach),
    Picture("consent", "/", world=World.STRICT),
    Picture("terms-asked", "/", world=World.TERMS),
    Picture("terms", "/site/terms/", world=World.TERMS),
    Picture("privacy", "/site/privacy/", world=World.NEW),
    Picture("refused-prompt", "/", world=World.NEW, act=acts.ask_too_much),
]  # fmt: skip
PEOPLE = [
    *_all(Who.NEWCOMER, World.NEW, {
        "sign-in": "/accounts/login/", "sign-up": "/accounts/signup/", "password-reset": "/accounts/password/reset/",
        "password-reset-sent": "/accounts/password/reset/done/",
        "password-reset-done": "/accounts/password/reset/key/done/", "inactive": "/accounts/inactive/",
        "confirm-email-sent": "/accounts/confirm-email/", "confirm-email": "/accounts/confirm-email/{confirmation}/",
    }),
    Picture(
        "password-reset-key", "/accounts/password/reset/key/{uid}-{reset_key}/", world=World.NEW,
        shows="/accounts/password/reset/key/{uidb36}-{key}/",
    ),
    Picture("sign-in-refused", "/accounts/login/", world=World.NEW, act=acts.sign_in_wrongly),
    Picture(
        "second-factor", "/accounts/login/", world=World.NEW, act=acts.sign_in_guarded,
        shows="/accounts/2fa/authenticate/",
    ),
    *_all(Who.MEMBER, World.NEW, {
        "start-signed-in": "/", "files-of-a-member": "/uploads/", "email": "/accounts/email/",
        "password-change": "/accounts/password/change/", "browsers": "/accounts/browsers/",
        "connections": "/accounts/connections/",
        "tokens": "/accounts/tokens/", "my-data": "/accounts/data/", "account-delete": "/accounts/delete/",
        "second-factors-none": "/accounts/2fa/", "totp-activate": "/accounts/2fa/totp/activate/",
        "passkey-add": "/accounts/2fa/webauthn/add/", "sign-out": "/accounts/logout/",
        "reauthenticate": "/accounts/reauthenticate/",
    }),
    Picture("token-made", "/accounts/tokens/", Who.GUARDED, world=World.NEW, act=acts.make_token),
    *_all(Who.GUARDED, World.NEW, {
        "second-factors": "/accounts/2fa/", "totp-deactivate": "/accounts/2fa/totp/deactivate/",
        "recovery-codes": "/accounts/2fa/recovery-codes/",
        "recovery-codes-generate": "/accounts/2fa/recovery-codes/generate/", "passkeys": "/accounts/2fa/webauthn/",
        "passkey-edit": "/accounts/2fa/webauthn/keys/{passkey}/edit/",
        "passkey-remove": "/accounts/2fa/webauthn/keys/{passkey}/remove/",
        "reauthenticate-second-factor": "/accounts/2fa/reauthenticate/",
        "reauthenticate-passkey": "/accounts/2fa/webauthn/reauthenticate/",
        "teams": "/teams/", "team": "/teams/{team}/", "team-members": "/teams/{team}/members/",
        "team-invitations": "/teams/{team}/invitations/", "team-settings": "/teams/{team}/settings/",
        "team-session": "/teams/{team}/sessions/{team_session}/",
        "team-boards": "/teams/{team}/boards/", "team-taste": "/teams/{team}/taste/",
        "team-spending": "/teams/{team}/spending/",
        **{
            f"team-figures-{page.strip('/') or 'use'}": f"/teams/{{team}}/metrics/{page}"
            for page in ("", "funnel/", "speed/", "money/", "router/")
        },
    }),
    Picture("places", "/?team={team}", Who.GUARDED, World.NEW, act=acts.open_places),
    Picture("team-new", "/teams/new/", Who.ADMINISTRATOR, World.NEW),
    Picture("team-join", "/teams/join/?invitation={team_link}", world=World.NEW),
    Picture("team-joining", "/teams/join/?invitation={team_link}", Who.GUARDED, World.NEW),
]  # fmt: skip
BOARDS = [
    *_all(Who.NEWCOMER, World.NEW, {
        "leaderboard-empty": "/leaderboard/", "charts-empty": "/leaderboard/charts/",
        "snapshots-empty": "/leaderboard/snapshots/", "models": "/models/",
        "data-empty": "/data/",
        "method": "/leaderboard/method/", "api-docs": "/api/v1/docs/",
    }),
    *_all(Who.NEWCOMER, World.PLAYED, {
        "leaderboard": "/leaderboard/", "charts": "/leaderboard/charts/", "model": "/leaderboard/models/{model}/",
        "pair": "/leaderboard/compare/{model}/{other_model}/", "pair-choice": "/leaderboard/compare/",
        "snapshots": "/leaderboard/snapshots/", "data": "/data/",
    }),
    *_all(Who.NEWCOMER, World.GENERATED, {
        "leaderboard-500": "/leaderboard/", "leaderboard-category": "/leaderboard/?board=category:creative-writing",
        "leaderboard-language": "/leaderboard/?board=language:fr",
        "leaderboard-style-control": "/leaderboard/?style_control=1",
        "leaderboard-side-by-side": "/leaderboard/?board=side-by-side",
        "leaderboard-compare": "/leaderboard/?board=compare", "leaderboard-nothing-found": "/leaderboard/?search=llama",
        "charts-500": "/leaderboard/charts/", "charts-compare": "/leaderboard/charts/?board=compare",
        "models-500": "/models/",
        "model-500": "/leaderboard/models/{model}/", "pair-500": "/leaderboard/compare/{model}/{other_model}/",
        "snapshots-500": "/leaderboard/snapshots/", "snapshot": "/leaderboard/snapshots/{snapshot}/",
        "snapshot-changes": "/leaderboard/snapshots/{snapshot}/changes/",
    }),
]  # fmt: skip
BENCHMARKS = [
    *_all(Who.NEWCOMER, World.NEW, {"benchmarks-empty": "/benchmarks/"}),
    *_all(Who.MEMBER, World.PLAYED, {
        "benchmarks": "/benchmarks/", "benchmark-runs": "/benchmarks/?show=runs", "benchmark-new": "/benchmarks/new/",
        "benchmark-import": "/benchmarks/import/",
        "benchmark-template": "/benchmarks/t/{template}/?version=1", "benchmark-edit": "/benchmarks/t/{template}/edit/",
        "benchmark-cases": "/benchmarks/t/{template}/cases/", "benchmark-start": "/benchmarks/t/{template}/start/",
        "benchmark-case-files": "/benchmarks/t/{template}/cases/{drafted}/files/",
        "benchmark-changes": "/benchmarks/t/{template}/changes/",
        "benchmark-heatmap": "/benchmarks/heatmap/?average=1",
        "benchmark-compare": "/benchmarks/r/{later}/compare/?with={run}",
        "benchmark-report": "/benchmarks/r/{run}/report/",
        "benchmark-results": "/benchmarks/r/{run}/", "benchmark-under-way": "/benchmarks/r/{running}/",
        "benchmark-matrix": "/benchmarks/r/{run}/matrix/", "benchmark-item": "/benchmarks/r/{run}/items/{item}/",
        "benchmark-case": "/benchmarks/r/{run}/case/{case}/",
        "judges": "/benchmarks/judges/", "judge-new": "/benchmarks/judges/new/?run={run}&item={item}",
        "judge": "/benchmarks/judges/{judge}/", "judge-edit": "/benchmarks/judges/{judge}/edit/",
        "judging-start": "/benchmarks/r/{run}/judge/", "judgements": "/benchmarks/r/{run}/judgements/",
        "judgements-of-one": "/benchmarks/r/{run}/judgements/{judge}/?names=shown",
        "reviews": "/reviews/", "review": "/review/{review}/", "review-settings": "/review/{review}/settings/",
        "review-results": "/review/{closed}/results/", "review-new": "/reviews/new/?run={later}",
        "review-join": "/join/?code=BCDFGHKM", "review-people": "/review/{by_link}/people/",
        "review-draft": "/review/{review_draft}/settings/", "review-closed": "/review/{closed}/",
        "review-codes": "/review/{by_codes}/codes/", "review-by-link": "/review/{by_link}/settings/",
        "review-agreement": "/review/{closed}/agreement/",
        "review-grade": "/review/{to_grade}/grade/", "review-grades": "/review/{graded}/results/",
        "review-disagreements": "/review/{closed}/agreement/{judge}/",
        "decision-reports": "/reports/", "decision-report": "/reports/{decision_report}/",
        "decision-report-new": "/reports/new/?run={run}", "decision-report-board": "/reports/{board_report}/",
        "second-opinion-new": "/battles/{not_asked}/second-opinion/",
        "second-opinion": "/battles/{asked}/second-opinion/",
    }),
    Picture("second-opinion-invitation", "/review/{second_opinion}/"),
    Picture("second-opinion-voted", "/review/{second_opinion}/", act=acts.judge, shows="/review/{public_id}/results/"),
    Picture("review-battle", "/review/{review}/", Who.GUARDED, act=acts.begin_review, shows="/s/{public_id}/"),
    Picture("review-revealed", "/review/{review}/", Who.MODERATOR, act=acts.vote_in_review, shows="/s/{public_id}/"),
    Picture("review-join-refused", "/join/?code=BCDFGHKM", act=acts.join_wrongly),
]  # fmt: skip
TEAMS = _all(Who.MEMBER, World.PLAYED, {
    "team-models": "/teams/{team}/models/", "team-provider-new": "/teams/{team}/models/providers/new/",
    "team-provider": "/teams/{team}/models/providers/{team_provider}/",
    "team-model": "/teams/{team}/models/{team_model}/",
    "team-model-test": "/teams/{team}/models/{team_model}/test/",
    "team-rules": "/teams/{team}/rules/", "team-rule-new": "/teams/{team}/rules/new/",
    "team-rule": "/teams/{team}/rules/{team_rule}/",
    "team-questions": "/teams/{team}/questions/", "team-question-new": "/teams/{team}/questions/suggestions/new/",
    "team-question": "/teams/{team}/questions/categories/{team_category}/",
})  # fmt: skip
# Tables whose lists and forms differ from Django's.
TABLES = [
    "models_registry/provider", "models_registry/languagemodel", "models_registry/charge", "battles/session",
    "battles/battle", "battles/vote", "battles/moderationcase", "battles/moderationrule", "battles/category",
    "leaderboard/aggregationrun", "leaderboard/anomalyreview", "uploads/upload", "accounts/user", "accounts/ban",
    "accounts/invitation", "accounts/team", "accounts/teammember",
    "accounts/auditentry", "battles/feedbacktag", "battles/promptsuggestion",
    "site_content/pageversion",
]  # fmt: skip
WITHOUT_ROWS = ["models_registry/charge", "battles/category"]


def _table(table: str) -> list[Picture]:
    name, key = table.partition("/")[2], "{" + table.replace("/", "_") + "}"
    listed = Picture(f"admin-{name}-list", f"/admin/{table}/", Who.ADMINISTRATOR, World.GENERATED)
    form = Picture(f"admin-{name}", f"/admin/{table}/{key}/change/", Who.ADMINISTRATOR, World.GENERATED)
    return [listed] if table in WITHOUT_ROWS else [listed, form]


ADMINISTRATION = [
    *_all(Who.ADMINISTRATOR, World.GENERATED, {
        **{
            f"admin-figures-{page.strip('/') or 'use'}": f"/admin/metrics/{page}"
            for page in ("", "funnel/", "models/", "speed/", "money/", "router/")
        },
        "dashboard": "/admin/", "admin-app": "/admin/battles/", "styleguide": "/styleguide/",
        "admin-provider-add": "/admin/models_registry/provider/add/",
        "admin-languagemodel-add": "/admin/models_registry/languagemodel/add/",
        "admin-category-add": "/admin/battles/category/add/", "admin-invitation-add": "/admin/accounts/invitation/add/",
        "admin-discover": "/admin/models_registry/provider/{local_provider}/discover/",
        "admin-model-test": "/admin/models_registry/languagemodel/{local_model}/test/",
        "admin-model-tests": "/admin/models_registry/languagemodel/tests/",
        "admin-single-sign-on": "/admin/socialaccount/socialaccount/issuers/",
        "admin-servers": "/admin/models_registry/languagemodel/servers/",
        "admin-limits": "/admin/accounts/limit/", "admin-limit-group-add": "/admin/accounts/limitgroup/add/",
        "admin-limit-groups": "/admin/accounts/limitgroup/",
        "admin-issuer-groups": "/admin/accounts/issuergroup/",
        "admin-model-limits": "/admin/models_registry/modellimit/",
        "admin-model-limit-add": "/admin/models_registry/modellimit/add/",
        "admin-site-identity": "/admin/site_content/siteidentity/add/",
        "admin-page-add": "/admin/site_content/pageversion/add/?page=privacy",
        "admin-interactions": "/admin/battles/call/",
        "admin-budgets": "/admin/models_registry/budget/", "admin-listed-boards": "/admin/leaderboard/listedboard/",
        "admin-benchmark-runs": "/admin/benchmarks/run/", "admin-live-judges": "/admin/benchmarks/livejudge/",
        "admin-live-judge-add": "/admin/benchmarks/livejudge/add/", "admin-reports": "/admin/reviews/decisionreport/",
        "admin-rules": "/admin/routing/rule/", "admin-rule-trial": "/admin/routing/rule/try/",
        "admin-decisions": "/admin/battles/routingdecision/", "admin-trainings": "/admin/routing/routersnapshot/",
        "admin-evaluations": "/admin/routing/routerevaluation/", "admin-exchanges": "/admin/gateway/exchange/",
        "admin-vote-history": "/admin/battles/vote/{battles_vote}/history/",
        "admin-password-change": "/admin/password_change/",
    }),
    Picture("dashboard-new", "/admin/", Who.ADMINISTRATOR, World.NEW),
    Picture("dashboard-of-a-moderator", "/admin/", Who.MODERATOR, World.GENERATED),
    Picture("moderation-queue", "/admin/battles/moderationcase/", Who.MODERATOR, World.GENERATED),
    Picture(
        "moderation-decision", "/admin/battles/moderationcase/", Who.MODERATOR, World.GENERATED, act=acts.decide_cases
    ),
    Picture("votes-decision", "/admin/battles/vote/", Who.MODERATOR, World.GENERATED, act=acts.exclude_votes),
    Picture(
        "admin-model-tested", "/admin/models_registry/languagemodel/{local_model}/test/", Who.ADMINISTRATOR,
        World.GENERATED, act=acts.test_model, shows="/admin/models_registry/languagemodel/{model_id}/test/{test_id}/",
    ),
    Picture(
        "admin-models-tested", "/admin/models_registry/languagemodel/tests/?tick={local_model}", Who.ADMINISTRATOR,
        World.GENERATED, act=acts.test_models, shows="/admin/models_registry/languagemodel/tests/{together}/",
    ),
    *chain.from_iterable(map(_table, TABLES)),
]  # fmt: skip
ERRORS = [
    Picture("error-404", "/nowhere/", world=World.NEW, status=404),
    Picture("error-403", "/", world=World.NEW, act=acts.send_without_token),
    Picture("error-413", "/", world=World.NEW, act=acts.send_too_much),
    Picture("error-400", "http://unknown.localhost:{port}/", world=World.NEW, status=400),
    Picture("error-429", "/", world=World.STRICT, act=acts.ask_too_often),
    Picture("error-500", "/uploads/", Who.VISITOR, World.BROKEN, status=500),
    Picture("error-503", "/", world=World.BROKEN, act=acts.send_plainly),
]
PICTURES = [*BATTLES, *PEOPLE, *BOARDS, *BENCHMARKS, *TEAMS, *ADMINISTRATION, *ERRORS]

# URLs without a picture, by reason; * matches anything.
LEFT_OUT = {
    "takes what a form sends, and shows no page": [
        "/answers/{public_id}/rating/", "/battles/{public_id}/?*/", "/s/{public_id}/battles/",
        "/s/{public_id}/rename/", "/s/{public_id}/archive/", "/s/{public_id}/discard/", "/s/{public_id}/restore/",
        "/s/{public_id}/share/", "/sessions/consent/withdraw/", "/teams/place/", "/teams/{slug}/leave/",
        "/teams/{slug}/archive/", "/teams/{slug}/members/{public_id}/*/",
        "/teams/{slug}/invitations/{public_id}/revoke/", "/terms/accept/", "/uploads/{public_id}/encoding/",
        "/benchmarks/t/{public_id}/paste/", "/benchmarks/t/{public_id}/draft/", "/benchmarks/r/{public_id}/budget/",
        "/benchmarks/t/{public_id}/copy/", "/benchmarks/judges/{public_id}/archive/",
        "/review/{public_id}/next/", "/review/{public_id}/do/{move}/", "/review/{public_id}/people/{number}/{move}/",
        "/benchmarks/r/{public_id}/do/{move}/", "/benchmarks/r/{public_id}/items/{item_id}/grade/",
        "/benchmarks/r/{public_id}/publish/", "/benchmarks/import/apply/", "/benchmarks/import/columns/",
        "/reports/{public_id}/publish/", "/reports/{public_id}/delete/",
        "/teams/{slug}/models/site/", "/teams/{slug}/models/providers/{provider_id}/?*/",
        "/teams/{slug}/models/{model_id}/status/", "/teams/{slug}/questions/{kind}/{row_id}/remove/",
        "/teams/{slug}/rules/{rule_id}/?*/", "/teams/{slug}/models/{model_id}/test/{test_id}/",
        "/accounts/browsers/{public_id}/sign-out/", "/accounts/browsers/others/sign-out/",
        "/accounts/connections/{key}/?*/", "/accounts/sso/{key}/", "/accounts/sso/{key}/sign-out/",
        "/accounts/tokens/{public_id}/revoke/", "/admin/logout/", "/admin/battles/*/try/",
        "/admin/leaderboard/aggregationrun/aggregate/", "/admin/leaderboard/anomalyreview/look/",
        "/admin/leaderboard/anomalyreview/{pk}/decide/", "/admin/models_registry/languagemodel/{object_id}/activate/",
        "/admin/models_registry/languagemodel/{object_id}/close-breaker/",
        "/admin/models_registry/languagemodel/{object_id}/pause/",
        "/admin/models_registry/charge/paid-calls/",
    ],
    **NO_PAGE,
    "drawn by Django's administration from what others show": [
        "/admin/*/add/", "/admin/*/{object_id}/delete/", "/admin/*/{object_id}/history/",
        "/admin/*/{object_id}/change/", "/admin/account/emailaddress/", "/admin/accounts/apitoken/",
        "/admin/accounts/visitor/", "/admin/auth/group/", "/admin/battles/answer/",
        "/admin/battles/moderationendpoint/", "/admin/leaderboard/elorating/", "/admin/leaderboard/importedboard/",
        "/admin/leaderboard/pairtally/", "/admin/leaderboard/datapolicy/", "/admin/leaderboard/elosettings/",
        "/admin/leaderboard/datarelease/", "/admin/leaderboard/standing/", "/admin/leaderboard/votechange/",
        "/admin/routing/decisionoutcome/", "/admin/routing/routingthresholds/",
        "/admin/socialaccount/socialaccount/",
        "/admin/mfa/authenticator/", "/admin/models_registry/cataloguechange/", "/admin/models_registry/requestrepair/",
        "/admin/password_change/done/",
        "/admin/accounts/user/{id}/password/",
    ],
}  # fmt: skip

# Pictures in the tree, for the README and the tour in docs/screenshots: "<look>/<picture>".
TOUR = (
    "light/start-auto",
    "light/answering",
    "light/battle",
    "light/just-revealed",
    "dark/revealed",
    "phone/battle",
    "light/leaderboard",
    "light/charts-500",
    "light/dashboard",
    "light/benchmark-start",
    "light/benchmark-results",
    "light/benchmark-matrix",
)
