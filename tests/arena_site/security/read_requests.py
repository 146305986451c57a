"""GET requests for every URL of the site. Each URL with parameters needs an entry in IDS, else KeyError."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from battles.auto.options import REQUESTED_MODES
from battles.models import Battle
from models_registry.picking import KINDS
from tests.site_urls import addresses


@dataclass
class Arena:
    """Values for the parameters of URLs. battles: those without a vote. run: under way; item, case: of it."""

    models: list[str]
    pairs: list[list[str]]
    snapshot: str
    share: str
    token: str = ""
    browser: str = ""
    battles: list[Battle] = field(default_factory=list)
    run: str = "none"
    review: str = "none"
    item: int = 1
    case: int = 1

    @property
    def battle_ids(self) -> list[str]:
        return [battle.public_id for battle in self.battles]

    @property
    def session_ids(self) -> list[str]:
        return [battle.session.public_id for battle in self.battles]


# Not read here: streams have no end or belong to one battle (tests/battles/streaming/test_equal_pace.py).
STREAMS = {"/stream/{token}/", "/leaderboard/stream/", "/benchmarks/stream/{token}/"}
_BATTLE = ("/battles/{public_id}/", "/api/v1/battles/{public_id}/")
_SESSION = ("/s/{public_id}/", "/api/v1/sessions/{public_id}/")
_UPLOAD = ("/uploads/{public_id}/", "/api/v1/uploads/{public_id}/")
_ANSWER = ("/answers/{public_id}/", "/api/v1/answers/{public_id}/")
_SHARE = ("/b/{share_id}/", "/api/v1/shares/{public_id}/")
_SNAPSHOT = ("/leaderboard/snapshots/{public_id}/", "/api/v1/leaderboard/snapshots/{public_id}/")
# Values of a URL's parameter, by prefixes of the URL.
IDS: dict[tuple[str, ...], Callable[[Arena], list[str]]] = {
    _BATTLE: lambda arena: arena.battle_ids,
    ("/api/v1/leaderboard/battles/{public_id}/",): lambda arena: arena.battle_ids,
    _SESSION: lambda arena: arena.session_ids,
    _UPLOAD: lambda arena: ["none"],
    _ANSWER: lambda arena: ["none"],
    _SHARE: lambda arena: [arena.share],
    _SNAPSHOT: lambda arena: [arena.snapshot],
    ("/leaderboard/models/{slug}/", "/api/v1/leaderboard/models/{slug}/", "/api/v1/models/{slug}/"): (
        lambda arena: arena.models
    ),
    ("/accounts/connections/", "/accounts/sso/"): lambda arena: ["company"],
    ("/site/accent/",): lambda arena: ["1c6b50-7cc7a5-00000000"],
    ("/site/logo/", "/site/icon/"): lambda arena: ["0000000000000000"],
    ("/site/{page}/", "/api/v1/site/pages/{page}/"): lambda arena: ["terms"],
    ("/api/v1/exports/",): lambda arena: ["jsonl"],
    ("/accounts/tokens/", "/api/v1/me/tokens/"): lambda arena: [arena.token],
    ("/accounts/browsers/", "/api/v1/me/browsers/"): lambda arena: [arena.browser],
    ("/accounts/confirm-email/", "/accounts/password/reset/key/", "/accounts/2fa/webauthn/keys/"): lambda arena: ["1"],
    ("/api/v1/benchmarks/runs/",): lambda arena: [arena.run],
    ("/api/v1/benchmarks/items/",): lambda arena: [f"{arena.run}-{arena.item}"],
    ("/api/v1/benchmarks/", "/api/v1/judges/"): lambda arena: ["none"],
    ("/api/v1/reviews/",): lambda arena: [arena.review],
    ("/reports/", "/api/v1/reports/"): lambda arena: ["none"],
    ("/api/v1/route/decisions/",): lambda arena: ["none"],
    ("/models/icons/",): lambda arena: ["none"],
    ("/v1/models/{name}", "/v1/{rest}"): lambda arena: ["none"],
    ("/api/{rest}",): lambda arena: ["v1/none/"],
    ("/teams/",): lambda arena: ["none"],
}
QUERIES: dict[str, Callable[[Arena], list[str]]] = {
    "/": lambda arena: [f"?mode={mode}" for mode, _name in REQUESTED_MODES],
    "/api/v1/models/": lambda arena: ["?drawable=true"],
    "/reports/new/": lambda arena: ["?board=overall"],
    "/models/": lambda arena: ["?search=a"],
    "/gallery/": lambda arena: [f"?model={model}" for model in arena.models],
    "/statistics/": lambda arena: ["?bucket=month"],
    "/api/v1/statistics/": lambda arena: ["?as=csv"],
    "/api/v1/gallery/": lambda arena: ["?vote=tie"],
    "/models/choices/": lambda arena: [f"?picker={key}" for key in KINDS],
    "/leaderboard/": lambda arena: ["?format=csv", "?format=json"],
    "/api/v1/leaderboard/": lambda arena: ["?as=csv", "?style_control=1"],
    "/api/v1/leaderboard/history/": lambda arena: [f"?models={','.join(arena.models)}"],
    "/api/v1/leaderboard/head-to-head/": lambda arena: [f"?a={a}&b={b}" for a, b in arena.pairs],
}


def paths(arena: Arena) -> Iterator[str]:
    """Yield every URL but those for staff, filled in, and again with its queries."""
    for address in addresses():
        if address.startswith("/admin/") or address in STREAMS:
            continue
        yield from _filled(address, arena)
        yield from (address + query for query in QUERIES.get(address, lambda arena: [])(arena))


def _filled(address: str, arena: Arena) -> list[str]:
    if "{" not in address:
        return [address]
    if address.startswith(("/teams/{slug}/models/", "/teams/{slug}/questions/", "/teams/{slug}/rules/")):
        ids = {"kind": "categories", "test_id": "none"}
        numbers = dict.fromkeys(("provider_id", "model_id", "row_id", "rule_id", "change_id"), 1)
        return [address.format(slug="none", **ids, **numbers)]
    if address == "/leaderboard/compare/{a}/{b}/":
        return [f"/leaderboard/compare/{a}/{b}/" for a, b in arena.pairs]
    if address.startswith(("/benchmarks/r/", "/benchmarks/t/", "/benchmarks/judges/")):
        public_id = arena.run if address.startswith("/benchmarks/r/") else "none"
        numbers = {"item_id": arena.item, "case_id": arena.case, "file_id": 1, "judge_id": "none", "test_id": "none"}
        return [address.format(public_id=public_id, move="pause", ending="csv", **numbers)]
    if address.startswith("/review/"):
        return [address.format(public_id=arena.review, move="close", judge_id="none", number=1, ending="csv")]
    if address.startswith(("/teams/", "/api/v1/teams/")):
        return [address.format(slug="none", public_id="none")]
    if address == "/api/v1/releases/{day}/{name}":
        return ["/api/v1/releases/2026-01-31/votes.jsonl"]
    if address == "/accounts/password/reset/key/{uidb36}-{key}/":
        return ["/accounts/password/reset/key/1-none/"]
    ids = next((ids for beginnings, ids in IDS.items() if address.startswith(beginnings)), None)
    if ids is None:
        raise KeyError(f"tests/arena_site/security/read_requests.py does not say how to read {address}")
    before, _, rest = address.partition("{")
    after = rest.partition("}")[2].replace("{ending}", "csv").replace("{number}", "1")
    return [before + id + after for id in ids(arena)]
