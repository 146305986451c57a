"""Access rules of every URL."""

from collections.abc import Callable

from accounts.models import Scope
from accounts.teams.roles import Right
from tests.api_fixtures import World

# Public; nothing there belongs to a person.
OPEN = [
    "/", "/data/", "/language/", "/livez", "/readyz", "/metrics",
    "/leaderboard/", "/leaderboard/charts/", "/leaderboard/stream/", "/leaderboard/models/{slug}/",
    "/leaderboard/compare/", "/leaderboard/compare/{a}/{b}/", "/leaderboard/snapshots/",
    "/leaderboard/snapshots/{public_id}/", "/leaderboard/snapshots/{public_id}/changes/", "/leaderboard/method/",
    "/models/", "/models/choices/", "/models/icons/{digest}.png",
    "/api/v1/models/", "/api/v1/models/{slug}/", "/api/v1/boards/", "/api/v1/leaderboard/",
    "/api/v1/leaderboard/models/{slug}/", "/api/v1/leaderboard/history/", "/api/v1/leaderboard/head-to-head/",
    "/api/v1/leaderboard/matrix/", "/api/v1/leaderboard/snapshots/", "/api/v1/leaderboard/snapshots/{public_id}/",
    "/api/v1/leaderboard/judged/",
    "/site/accent/{key}.css", "/site/logo/{digest}.png", "/site/icon/{digest}.png", "/site/{page}/",
    "/api/v1/site/", "/api/v1/site/pages/{page}/", "/api/v1/feedback-tags/", "/api/v1/suggestions/",
    "/api/v1/schema/", "/api/v1/docs/", "/api/{rest}", "/api/v1/route/snapshots/", "/software/",
    "/gallery/", "/api/v1/gallery/", "/statistics/", "/api/v1/statistics/",
]  # fmt: skip
# The URL contains a signed token, valid for an hour.
SIGNED = ["/stream/{token}/", "/benchmarks/stream/{token}/"]
# Published battles, for anyone with the link (tests/battles/sessions/test_sharing.py).
PUBLISHED = [
    "/b/{share_id}/", "/b/{share_id}/export/", "/api/v1/shares/{public_id}/", "/api/v1/shares/{public_id}/export/",
]  # fmt: skip
# Data of the requesting person.
OWN = [
    "/sessions/",
    "/sessions/consent/withdraw/",
    "/votes/",
    "/leaderboard/mine/",
    "/accounts/limits/",
    "/uploads/",
    "/api/v1/sessions/",
    "/api/v1/sessions/consent/",
    "/api/v1/uploads/",
    "/api/v1/me/",
    "/api/v1/me/votes/",
    "/api/v1/route/",
    "/api/v1/route/decisions/",
    "/api/v1/me/terms/",
    "/terms/accept/",
]
# Votes under pseudonyms (access: tests/leaderboard/public_data).
EXPORTS = [
    "/api/v1/exports/votes.{ending}", "/api/v1/exports/stars.{ending}", "/api/v1/releases/",
    "/api/v1/releases/{day}/{name}", "/api/v1/exports/judged.{ending}",
]  # fmt: skip
# Only staff (tests/leaderboard/public_data/test_interaction_export.py).
STAFF_EXPORTS = ["/api/v1/exports/interactions.{ending}"]
MEMBERS_PAGES = ["/accounts/browsers/", "/accounts/tokens/", "/accounts/data/", "/accounts/data/export/"]
# 404 except for staff (tests/arena_site/operations/test_styleguide.py).
STAFF_PAGES = ["/styleguide/"]
# Operators, and owners of a team about it, with tokens of the scope `metrics` (tests/metrics/test_metrics_api.py).
FIGURES = ["/api/v1/metrics/", "/api/v1/metrics/catalogue/"]
# Only members in a browser (tests/accounts), as DELETE of me/.
MEMBERS_LISTS = ["/api/v1/me/tokens/", "/api/v1/me/export/", "/api/v1/me/browsers/"]

# Data of one person: the id in the URL, and the token scope required by each method that accepts tokens.
READ, BATTLE, VOTE = {"GET": Scope.READ, "HEAD": Scope.READ}, {"POST": Scope.BATTLE}, {"POST": Scope.VOTE}
BENCHMARK = {"POST": Scope.BENCHMARK}
OWNED: dict[str, tuple[Callable[[World], str], dict[str, Scope]]] = {
    "/api/v1/sessions/{public_id}/": (
        lambda world: world.waiting.session.public_id,
        {**READ, "PATCH": Scope.BATTLE, "DELETE": Scope.BATTLE},
    ),
    "/api/v1/sessions/{public_id}/battles/": (lambda world: world.waiting.session.public_id, BATTLE),
    "/api/v1/sessions/{public_id}/export/": (lambda world: world.waiting.session.public_id, READ),
    "/api/v1/sessions/{public_id}/restore/": (lambda world: world.discarded.session.public_id, BATTLE),
    "/api/v1/leaderboard/battles/{public_id}/": (lambda world: world.voted.public_id, READ),
    "/api/v1/battles/{public_id}/": (lambda world: world.waiting.public_id, READ),
    "/api/v1/battles/{public_id}/stream/": (lambda world: world.live.public_id, READ),
    "/api/v1/battles/{public_id}/stop/": (lambda world: world.live.public_id, BATTLE),
    "/api/v1/battles/{public_id}/messages/": (lambda world: world.waiting.public_id, BATTLE),
    "/api/v1/battles/{public_id}/regenerate/": (lambda world: world.unanswered.public_id, BATTLE),
    "/api/v1/battles/{public_id}/vote/": (lambda world: world.waiting.public_id, VOTE),
    "/api/v1/battles/{public_id}/publish/": (lambda world: world.voted.public_id, {**BATTLE, "DELETE": Scope.BATTLE}),
    "/api/v1/battles/{public_id}/gallery/": (lambda world: world.voted.public_id, {**BATTLE, "DELETE": Scope.BATTLE}),
    "/api/v1/battles/{public_id}/second-opinion/": (lambda world: world.voted.public_id, BENCHMARK),
    "/api/v1/battles/{public_id}/consent/": (lambda world: world.voted.public_id, {"DELETE": Scope.BATTLE}),
    "/api/v1/battles/{public_id}/feedback/": (lambda world: world.voted.public_id, VOTE),
    "/api/v1/battles/{public_id}/report/": (lambda world: world.voted.public_id, BATTLE),
    "/api/v1/answers/{public_id}/rating/": (lambda world: world.to_rate, VOTE),
    "/api/v1/route/decisions/{public_id}/": (lambda world: world.decision.public_id, READ),
    "/api/v1/route/decisions/{public_id}/outcome/": (lambda world: world.decision.public_id, BATTLE),
    "/api/v1/uploads/{public_id}/": (lambda world: world.document.public_id, {**READ, "DELETE": Scope.BATTLE}),
    "/api/v1/uploads/{public_id}/encoding/": (lambda world: world.document.public_id, {"POST": Scope.BATTLE}),
    "/api/v1/uploads/{public_id}/text/": (lambda world: world.document.public_id, READ),
    "/api/v1/uploads/{public_id}/file/": (lambda world: world.picture.public_id, READ),
    "/api/v1/uploads/{public_id}/image/": (lambda world: world.picture.public_id, READ),
}
OWNED_PAGES: dict[str, Callable[[World], str]] = {
    "/s/{public_id}/": lambda world: world.waiting.session.public_id,
    "/s/{public_id}/battles/": lambda world: world.waiting.session.public_id,
    "/s/{public_id}/rename/": lambda world: world.waiting.session.public_id,
    "/s/{public_id}/share/": lambda world: world.waiting.session.public_id,
    "/s/{public_id}/archive/": lambda world: world.waiting.session.public_id,
    "/s/{public_id}/row/": lambda world: world.waiting.session.public_id,
    "/s/{public_id}/discard/": lambda world: world.waiting.session.public_id,
    "/s/{public_id}/restore/": lambda world: world.discarded.session.public_id,
    "/s/{public_id}/delete/": lambda world: world.waiting.session.public_id,
    "/s/{public_id}/export/": lambda world: world.waiting.session.public_id,
    "/battles/{public_id}/": lambda world: world.waiting.public_id,
    "/battles/{public_id}/second-opinion/": lambda world: world.voted.public_id,
    "/battles/{public_id}/vote/": lambda world: world.waiting.public_id,
    "/battles/{public_id}/publish/": lambda world: world.voted.public_id,
    "/battles/{public_id}/gallery/": lambda world: world.voted.public_id,
    "/battles/{public_id}/withdraw/": lambda world: world.voted.public_id,
    "/battles/{public_id}/consent/withdraw/": lambda world: world.voted.public_id,
    "/battles/{public_id}/feedback/": lambda world: world.voted.public_id,
    "/battles/{public_id}/messages/": lambda world: world.waiting.public_id,
    "/battles/{public_id}/stop/": lambda world: world.live.public_id,
    "/battles/{public_id}/regenerate/": lambda world: world.unanswered.public_id,
    "/battles/{public_id}/report/": lambda world: world.voted.public_id,
    "/answers/{public_id}/rating/": lambda world: world.to_rate,
    "/uploads/{public_id}/": lambda world: world.document.public_id,
    "/uploads/{public_id}/chip/": lambda world: world.document.public_id,
    "/uploads/{public_id}/text/": lambda world: world.document.public_id,
    "/uploads/{public_id}/file/": lambda world: world.document.public_id,
    "/uploads/{public_id}/image/": lambda world: world.picture.public_id,
    "/uploads/{public_id}/encoding/": lambda world: world.document.public_id,
    "/uploads/{public_id}/delete/": lambda world: world.document.public_id,
}
# The member's own browsers (tests/accounts); /accounts/ accepts no tokens.
MEMBERS_BROWSERS = ["/accounts/browsers/{public_id}/sign-out/", "/accounts/browsers/others/sign-out/"]
# The same in the API with DELETE, without tokens.
MEMBERS_BROWSERS_API = ["/api/v1/me/browsers/{public_id}/", "/api/v1/me/browsers/others/"]
# The member's own tokens, in a browser and never with a token.
MEMBERS_TOKENS = {"/api/v1/me/tokens/{public_id}/": "DELETE", "/accounts/tokens/{public_id}/revoke/": "POST"}
# Own templates and runs, the site's templates and published runs (tests/benchmarks/test_pages.py).
BENCHMARKS = [
    "/benchmarks/", "/benchmarks/heatmap/", "/benchmarks/import/", "/benchmarks/import/apply/",
    "/benchmarks/import/columns/",
    "/benchmarks/new/",
    "/benchmarks/judges/", "/benchmarks/judges/new/", "/benchmarks/judges/trials/{test_id}/",
    "/benchmarks/judges/{public_id}/", "/benchmarks/judges/{public_id}/edit/",
    "/benchmarks/judges/{public_id}/archive/",
    "/benchmarks/t/{public_id}/", "/benchmarks/t/{public_id}/edit/",
    "/benchmarks/t/{public_id}/cases/", "/benchmarks/t/{public_id}/paste/", "/benchmarks/t/{public_id}/draft/",
    "/benchmarks/t/{public_id}/changes/", "/benchmarks/t/{public_id}/copy/",
    "/benchmarks/t/{public_id}/start/", "/benchmarks/t/{public_id}/export.yaml",
    "/benchmarks/t/{public_id}/cases/{case_id}/files/", "/benchmarks/t/{public_id}/files/{file_id}/",
    "/benchmarks/r/{public_id}/", "/benchmarks/r/{public_id}/budget/",
    "/benchmarks/r/{public_id}/compare/", "/benchmarks/r/{public_id}/report/",
    "/benchmarks/r/{public_id}/report.html", "/benchmarks/r/{public_id}/publish/",
    "/benchmarks/r/{public_id}/do/{move}/", "/benchmarks/r/{public_id}/matrix/",
    "/benchmarks/r/{public_id}/items/{item_id}/", "/benchmarks/r/{public_id}/items/{item_id}/grade/",
    "/benchmarks/r/{public_id}/case/{case_id}/", "/benchmarks/r/{public_id}/judge/",
    "/benchmarks/r/{public_id}/judgements.{ending}",
    "/benchmarks/r/{public_id}/judgements/", "/benchmarks/r/{public_id}/judgements/{judge_id}/",
    "/benchmarks/r/{public_id}/export.{ending}", "/benchmarks/r/{public_id}/files/{file_id}/",
]  # fmt: skip
# The same in the API, and the scope that each method needs (tests/benchmarks/test_api.py).
BENCHMARKS_API: dict[str, dict[str, Scope]] = {
    "/api/v1/benchmarks/templates/": {**READ, **BENCHMARK},
    "/api/v1/benchmarks/templates/{public_id}/": {**READ, "PUT": Scope.BENCHMARK, "DELETE": Scope.BENCHMARK},
    "/api/v1/benchmarks/templates/{public_id}/export.yaml": READ,
    "/api/v1/benchmarks/templates/{public_id}/cases/": {**READ, **BENCHMARK},
    "/api/v1/benchmarks/templates/{public_id}/versions/": {**READ, **BENCHMARK},
    "/api/v1/benchmarks/templates/{public_id}/copy/": BENCHMARK,
    "/api/v1/benchmarks/templates/{public_id}/freeze/": BENCHMARK,
    "/api/v1/benchmarks/estimate/": BENCHMARK,
    "/api/v1/benchmarks/runs/": {**READ, **BENCHMARK},
    "/api/v1/benchmarks/runs/{public_id}/": {**READ, "PATCH": Scope.BENCHMARK},
    "/api/v1/benchmarks/runs/{public_id}/start/": BENCHMARK,
    "/api/v1/benchmarks/runs/{public_id}/pause/": BENCHMARK,
    "/api/v1/benchmarks/runs/{public_id}/resume/": BENCHMARK,
    "/api/v1/benchmarks/runs/{public_id}/cancel/": BENCHMARK,
    "/api/v1/benchmarks/runs/{public_id}/retry/": BENCHMARK,
    "/api/v1/benchmarks/runs/{public_id}/leave-out/": BENCHMARK,
    "/api/v1/benchmarks/runs/{public_id}/items/": READ,
    "/api/v1/benchmarks/runs/{public_id}/report/": READ,
    "/api/v1/benchmarks/runs/{public_id}/compare/": READ,
    "/api/v1/benchmarks/runs/{public_id}/rescore/": BENCHMARK,
    "/api/v1/benchmarks/runs/{public_id}/publish/": BENCHMARK,
    "/api/v1/benchmarks/runs/{public_id}/export.{ending}": READ,
    "/api/v1/benchmarks/runs/{public_id}/judgements/": {**READ, **BENCHMARK},
    "/api/v1/benchmarks/runs/{public_id}/judgements/estimate/": BENCHMARK,
    "/api/v1/benchmarks/runs/{public_id}/judgements.{ending}": READ,
    "/api/v1/judges/": {**READ, **BENCHMARK},
    "/api/v1/judges/{public_id}/": {**READ, "PUT": Scope.BENCHMARK},
    "/api/v1/judges/{public_id}/card/": BENCHMARK,
    "/api/v1/benchmarks/heatmap/": READ,
    "/api/v1/benchmarks/imports/": BENCHMARK,
    "/api/v1/benchmarks/imports/{public_id}/apply/": BENCHMARK,
    "/api/v1/benchmarks/items/{public_id}/grade/": BENCHMARK,
    "/api/v1/benchmarks/runs/{public_id}/stream/": READ,
    "/api/v1/benchmarks/items/{public_id}/": READ,
}
# Reviews: their audience, and those who manage them (tests/reviews/test_access.py).
REVIEWS = [
    "/reviews/", "/reviews/new/", "/review/{public_id}/", "/review/{public_id}/next/", "/review/{public_id}/results/",
    "/review/{public_id}/agreement/", "/review/{public_id}/agreement/{judge_id}/", "/review/{public_id}/settings/",
    "/review/{public_id}/do/{move}/", "/join/", "/review/{public_id}/people/", "/review/{public_id}/grade/",
    "/review/{public_id}/people/{number}/{move}/", "/review/{public_id}/codes/",
    "/review/{public_id}/export.{ending}",
]  # fmt: skip
REVIEWS_API: dict[str, dict[str, Scope]] = {
    "/api/v1/reviews/": {**READ, **BENCHMARK},
    "/api/v1/reviews/{public_id}/": {**READ, "PATCH": Scope.BENCHMARK},
    **{f"/api/v1/reviews/{{public_id}}/{move}/": BENCHMARK for move in ("open", "close", "withdraw")},
    **{f"/api/v1/reviews/{{public_id}}/{move}/": VOTE for move in ("next", "grades")},
    "/api/v1/reviews/join/": VOTE,
    "/api/v1/reviews/{public_id}/progress/": READ,
    "/api/v1/reviews/{public_id}/people/": READ,
    **{f"/api/v1/reviews/{{public_id}}/people/{{number}}/{move}/": BENCHMARK for move in ("aside", "back")},
    "/api/v1/reviews/{public_id}/results/": READ,
    "/api/v1/reviews/{public_id}/agreement/": READ,
    "/api/v1/reviews/{public_id}/export.{ending}": READ,
}
# Own decision reports, those of teams and published ones (tests/reviews/reports/test_access.py).
REPORTS = [
    "/reports/", "/reports/new/", "/reports/{public_id}/", "/reports/{public_id}/report.{ending}",
    "/reports/{public_id}/publish/", "/reports/{public_id}/delete/",
]  # fmt: skip
REPORTS_API: dict[str, dict[str, Scope]] = {
    "/api/v1/reports/": {**READ, **BENCHMARK},
    "/api/v1/reports/{public_id}/publish/": BENCHMARK,
    "/api/v1/reports/{public_id}.{ending}": READ,
    "/api/v1/reports/{public_id}/": {**READ, "DELETE": Scope.BENCHMARK},
}
# One's own teams, and links into teams (tests/accounts/teams).
TEAMS_OF_ONE = ["/teams/", "/teams/new/", "/teams/join/", "/teams/place/", "/api/v1/teams/"]
# A team's URLs: the right that each method needs; None: any role (test_teams.py).
TEAMS: dict[str, dict[str, Right | None]] = {
    "/teams/{slug}/": {"GET": Right.SEE, "HEAD": Right.SEE},
    "/teams/{slug}/leave/": {"POST": None},
    "/teams/{slug}/members/": {"GET": Right.SEE},
    "/teams/{slug}/members/{public_id}/role/": {"POST": Right.OWN},
    "/teams/{slug}/members/{public_id}/remove/": {"POST": Right.OWN},
    "/teams/{slug}/invitations/": {"GET": Right.OWN, "POST": Right.OWN},
    "/teams/{slug}/invitations/{public_id}/revoke/": {"POST": Right.OWN},
    "/teams/{slug}/settings/": {"GET": Right.OWN, "POST": Right.OWN},
    "/teams/{slug}/archive/": {"POST": Right.OWN},
    "/teams/{slug}/taste/": {"GET": Right.SEE, "HEAD": Right.SEE},
    "/teams/{slug}/boards/": {"GET": Right.OWN, "POST": Right.OWN},
    "/teams/{slug}/models/": {"GET": Right.SEE, "HEAD": Right.SEE},
    "/teams/{slug}/models/choices/": {"GET": Right.USE},
    "/teams/{slug}/models/site/": {"POST": Right.MANAGE},
    "/teams/{slug}/models/providers/new/": {"GET": Right.MANAGE, "POST": Right.MANAGE},
    "/teams/{slug}/models/providers/{provider_id}/": {"GET": Right.MANAGE, "POST": Right.MANAGE},
    "/teams/{slug}/models/providers/{provider_id}/list/": {"POST": Right.MANAGE},
    "/teams/{slug}/models/providers/{provider_id}/add/": {"POST": Right.MANAGE},
    "/teams/{slug}/models/providers/{provider_id}/changes/{change_id}/": {"POST": Right.MANAGE},
    "/teams/{slug}/models/providers/{provider_id}/remove/": {"POST": Right.MANAGE},
    "/teams/{slug}/models/{model_id}/": {"GET": Right.MANAGE, "POST": Right.MANAGE},
    "/teams/{slug}/models/{model_id}/status/": {"POST": Right.MANAGE},
    "/teams/{slug}/models/{model_id}/test/": {"GET": Right.MANAGE, "POST": Right.MANAGE},
    "/teams/{slug}/models/{model_id}/test/{test_id}/": {"GET": Right.MANAGE, "HEAD": Right.MANAGE},
    "/teams/{slug}/rules/": {"GET": Right.MANAGE, "HEAD": Right.MANAGE},
    "/teams/{slug}/rules/new/": {"GET": Right.MANAGE, "POST": Right.MANAGE},
    "/teams/{slug}/rules/{rule_id}/": {"GET": Right.MANAGE, "POST": Right.MANAGE},
    "/teams/{slug}/rules/{rule_id}/switch/": {"POST": Right.MANAGE},
    "/teams/{slug}/rules/{rule_id}/up/": {"POST": Right.MANAGE},
    "/teams/{slug}/rules/{rule_id}/remove/": {"POST": Right.MANAGE},
    "/teams/{slug}/questions/": {"GET": Right.MANAGE, "HEAD": Right.MANAGE},
    "/teams/{slug}/questions/{kind}/new/": {"GET": Right.MANAGE, "POST": Right.MANAGE},
    "/teams/{slug}/questions/{kind}/{row_id}/": {"GET": Right.MANAGE, "POST": Right.MANAGE},
    "/teams/{slug}/questions/{kind}/{row_id}/remove/": {"POST": Right.MANAGE},
    "/teams/{slug}/sessions/{public_id}/": {"GET": Right.SEE},
    "/api/v1/teams/{slug}/": {"GET": Right.SEE, "HEAD": Right.SEE, "PATCH": Right.OWN},
    "/api/v1/teams/{slug}/members/": {"GET": Right.SEE},
    "/api/v1/teams/{slug}/members/{public_id}/": {"PATCH": Right.OWN, "DELETE": Right.OWN},
    "/api/v1/teams/{slug}/invitations/": {"GET": Right.OWN, "POST": Right.OWN},
    "/api/v1/teams/{slug}/invitations/{public_id}/": {"DELETE": Right.OWN},
    "/teams/{slug}/spending/": {"GET": Right.SEE, "HEAD": Right.SEE, "POST": Right.MANAGE},
    **{
        f"/teams/{{slug}}/metrics/{page}": {"GET": Right.OWN, "HEAD": Right.OWN}
        for page in ("", "funnel/", "speed/", "money/", "router/")
    },
    "/api/v1/teams/{slug}/spending/": {"GET": Right.SEE, "HEAD": Right.SEE, "PATCH": Right.MANAGE},
}
# Only a member's token of the scope `gateway`, never cookies (tests/gateway/test_bad_input.py).
GATEWAY = [
    "/v1/models", "/v1/models/{name}", "/v1/chat/completions", "/v1/responses", "/v1/messages",
    "/v1/messages/count_tokens", "/v1/{rest}",
]  # fmt: skip
TABLES = (
    OPEN, GATEWAY, SIGNED, PUBLISHED, OWN, EXPORTS, STAFF_EXPORTS, MEMBERS_PAGES, MEMBERS_LISTS, STAFF_PAGES, OWNED,
    OWNED_PAGES, FIGURES, TEAMS_OF_ONE, TEAMS, BENCHMARKS, BENCHMARKS_API, REVIEWS, REVIEWS_API, REPORTS, REPORTS_API,
    MEMBERS_TOKENS,
    MEMBERS_BROWSERS, MEMBERS_BROWSERS_API,
)  # fmt: skip
