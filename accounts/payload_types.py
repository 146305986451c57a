from typing import Literal, NotRequired, TypedDict

from common.payload_types import JsonObject, Moment

ScopeName = Literal["read", "battle", "vote", "benchmark", "export", "gateway", "metrics"]
PersonKind = Literal["member", "visitor"]


class LimitPayload(TypedDict):
    """A limit of `limit` actions in `window_s` seconds. It starts anew in `reset_s` seconds. `who`: `person`, or
    `network` for a limit that all people of your network have reached together."""

    action: str
    who: Literal["person", "network"]
    limit: int
    window_s: int
    used: int
    remaining: int
    reset_s: int


class TodayPayload(TypedDict):
    """Today, until midnight UTC. `spent`: US dollars for answers you have seen, those of blind battles after the vote.
    `budget` and `vote_cap` (votes that count) are null without a maximum."""

    spent: str
    budget: str | None
    votes: int
    vote_cap: int | None
    resets_at: Moment


class PersonPayload(TypedDict):
    """The person behind the request. `scopes` are the token's; null in a browser, which has all the person's rights.
    `limits` is empty while they cannot be read."""

    kind: PersonKind
    email: str | None
    joined_at: Moment | None
    is_staff: bool
    scopes: list[ScopeName] | None
    limits: list[LimitPayload]
    today: TodayPayload


class SignedInBrowserPayload(TypedDict):
    """A browser in which you are signed in. Its name and system are empty when unknown; no IP address is stored."""

    id: str
    browser: str
    system: str
    signed_in_at: Moment
    last_seen_at: Moment
    is_this_one: bool


class TokenUsagePayload(TypedDict):
    """Use of a token at /v1/ in the last `days`; `cost` is in US dollars."""

    days: int
    requests: int
    prompt_tokens: int
    completion_tokens: int
    cost: str


class TokenSummaryPayload(TypedDict):
    """A token that is not revoked. Only the last four of its characters are stored. `team` is the address of the team
    in which it acts; missing in personal tokens."""

    id: str
    name: str
    last_four: str
    scopes: list[ScopeName]
    keeps_texts: bool
    caches_answers: bool
    created_at: Moment
    expires_at: Moment | None
    last_used_at: Moment | None
    usage: TokenUsagePayload
    team: NotRequired[str]


class NewlyMadeTokenPayload(TokenSummaryPayload):
    """A new token. `token` is shown once: it is null when the request is repeated with its Idempotency-Key."""

    token: str | None


class EverythingPayload(TypedDict):
    """Own data, in the forms that the API shows elsewhere."""

    exported_at: Moment
    account: JsonObject
    tokens: list[TokenSummaryPayload]
    browsers: list[JsonObject]
    connections: list[JsonObject]
    bans: list[JsonObject]
    teams: NotRequired[list[JsonObject]]
    sessions: list[JsonObject]
    uploads: list[JsonObject]
    benchmark_templates: list[JsonObject]
    benchmark_runs: list[JsonObject]
    reviews: list[JsonObject]
    joined_reviews: list[JsonObject]
    review_answers: list[JsonObject]
    grades_in_reviews: list[JsonObject]
    decision_reports: list[JsonObject]
    benchmark_judges: NotRequired[list[JsonObject]]
    decisions_of_auto_mode: list[JsonObject]
    gateway_exchanges: list[JsonObject]
    reports: list[JsonObject]
    terms: list[JsonObject]


RoleName = Literal["owner", "manager", "member", "guest"]
ColourName = Literal["blue", "green", "teal", "purple", "red", "orange", "grey"]


class TeamPayload(TypedDict):
    """A team that you are in, with your role. `slug` is its address; an owner can change it."""

    slug: str
    name: str
    colour: ColourName
    role: RoleName
    members: int
    created_at: Moment


class TeamMemberPayload(TypedDict):
    """`origin`: how the person came into the team."""

    id: str
    email: str
    role: RoleName
    origin: Literal["hand", "invitation", "issuer"]
    joined_at: Moment


class TeamInvitationPayload(TypedDict):
    """A link into a team that still works. `email` is empty if anyone with the link can use it."""

    id: str
    role: RoleName
    uses_left: int
    email: str
    created_at: Moment
    expires_at: Moment


class NewTeamInvitationPayload(TeamInvitationPayload):
    """`url` is shown once: it is null when the request is repeated with its Idempotency-Key."""

    url: str | None
