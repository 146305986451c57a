"""The arena's own settings: battles, limits, money, boards."""

from decimal import Decimal

from django.core.exceptions import ImproperlyConfigured

from arena_site.settings.env import BASE_DIR, load_env

env = load_env()

ARENA_MODELS_FILE = BASE_DIR / env.str("ARENA_MODELS_FILE", default="config/models.yaml")

# Battles. Times in seconds; sizes in characters or bytes as named.
ARENA_PROMPT_CHARACTERS = 20_000
ARENA_TURNS_PER_BATTLE = 50
# Maximum of one request to the gateway: characters of its texts, pictures and other files, tools.
ARENA_GATEWAY_CHARACTERS = env.int("ARENA_GATEWAY_CHARACTERS", default=2_000_000)
ARENA_GATEWAY_PICTURES = 50
ARENA_GATEWAY_TOOLS = 512
ARENA_MAX_TOKENS = env.int("ARENA_MAX_TOKENS", default=2048)
ARENA_PAIR_WEIGHTS = env.str("ARENA_PAIR_WEIGHTS", default="battles.prompting.pairing.uniform_pair_weights")
# Decides in auto mode and in the gateway; battles.auto.port.heaviest_weight learns nothing.
ARENA_ROUTER = env.str("ARENA_ROUTER", default="routing.deciding.policy.decide")
# Names of entry points of installed packages (docs/benchmarks.md, "Plug-ins").
ARENA_PLUGINS = env.list("ARENA_PLUGINS", default=[])
# Whose electricity emissions are estimated with: three letters of ISO 3166, or WOR.
ARENA_ELECTRICITY_ZONE = env.str("ARENA_ELECTRICITY_ZONE", default="WOR").upper()
ARENA_EQUAL_PACE = env.bool("ARENA_EQUAL_PACE", default=False)
ARENA_LOCAL_MODEL_URL = env.str("ARENA_LOCAL_MODEL_URL", default="")
ARENA_ANSWER_CONCURRENCY = env.int("ARENA_ANSWER_CONCURRENCY", default=100)
# Maximum of calls of benchmark runs at once to one provider without a limit of its own.
ARENA_BACKGROUND_CALLS = 32
# Calls under way at once of a team's own models.
ARENA_TEAM_CALLS = env.int("ARENA_TEAM_CALLS", default=max(1, ARENA_ANSWER_CONCURRENCY // 4))
# Maximum of benchmark runs under way.
ARENA_RUNS = {"member": 3, "site": 20}
# Deadlines of providers without their own.
ARENA_DEADLINES = {
    "connect": env.float("ARENA_DEADLINE_CONNECT_S", default=5),
    "first": env.float("ARENA_DEADLINE_FIRST_S", default=30),
    "idle": env.float("ARENA_DEADLINE_IDLE_S", default=30),
    "total": env.float("ARENA_DEADLINE_TOTAL_S", default=180),
}
# Rates by (action, group): visitor, member, network (an IPv4 address or an IPv6 /64) or the IPv6 /48 around it. A
# network's rate suits a class of forty people, who use less than forty visitors' limits. Administrators can replace
# each rate (accounts.admin.limits).
ARENA_LIMITS = {
    ("battle", "visitor"): "30/hour,150/day",
    ("battle", "member"): "120/hour",
    ("battle", "network"): "600/hour,3000/day",
    ("battle", "network48"): "1000/hour,5000/day",
    ("turn", "visitor"): "120/hour",
    ("turn", "member"): "480/hour",
    ("turn", "network"): "2400/hour",
    ("turn", "network48"): "4000/hour",
    ("vote", "visitor"): "60/hour",
    ("vote", "member"): "240/hour",
    ("vote", "network"): "1200/hour",
    ("vote", "network48"): "2000/hour",
    ("star", "visitor"): "360/hour",
    ("star", "member"): "1440/hour",
    ("star", "network"): "7200/hour",
    ("star", "network48"): "12000/hour",
    ("report", "visitor"): "10/hour",
    ("report", "member"): "30/hour",
    ("report", "network"): "100/hour",
    ("report", "network48"): "200/hour",
    ("upload", "visitor"): "5/hour",
    ("upload", "member"): "40/hour",
    ("upload", "network"): "100/hour",
    ("upload", "network48"): "200/hour",
    # Requests to the API that only read; the pages' requests are not counted.
    ("read", "visitor"): "600/minute",
    ("read", "member"): "1200/minute",
    ("read", "network"): "12000/minute",
    ("read", "network48"): "20000/minute",
    # Requests to /v1/chat/completions.
    ("gateway", "member"): "300/minute,6000/hour",
    ("gateway", "network"): "3000/minute,60000/hour",
    ("gateway", "network48"): "5000/minute,100000/hour",
    # Decisions of auto mode without a battle.
    ("route", "visitor"): "60/minute",
    ("route", "member"): "600/minute",
    ("route", "network"): "6000/minute",
    ("route", "network48"): "10000/minute",
    # New benchmark runs; see also ARENA_RUNS.
    ("run", "member"): "20/hour",
    ("run", "network"): "200/hour",
    ("run", "network48"): "400/hour",
    ("export", "visitor"): "6/hour",
    ("export", "member"): "30/hour",
    ("export", "network"): "30/hour",
    ("export", "network48"): "50/hour",
    # Wrong passwords: "person" is an e-mail address from one network (or from a browser in which it signed in before),
    # "address" an e-mail address from anywhere. "signup" counts new accounts, "signon" sign-ins
    # begun with an issuer, "token" wrong API tokens.
    ("signin", "person"): "5/15 minutes",
    ("signin", "address"): "50/15 minutes",
    ("signin", "network"): "100/15 minutes",
    ("signin", "network48"): "200/15 minutes",
    ("signup", "network"): "100/hour",
    ("signup", "network48"): "200/hour",
    ("signon", "network"): "600/hour",
    ("signon", "network48"): "1000/hour",
    ("token", "network"): "60/minute",
    ("token", "network48"): "200/minute",
    # Wrong codes of reviews.
    ("join", "network"): "10/minute",
    ("join", "network48"): "20/minute",
    # Visitors at their first battle of a review that asks everybody.
    ("reviewer", "visitor"): "20/hour",
    ("reviewer", "network"): "400/hour",
    ("reviewer", "network48"): "700/hour",
}
if not env.bool("ARENA_RATE_LIMITS", default=True):
    ARENA_LIMITS = {
        key: rate if key[0] in ("signin", "signup", "signon", "token", "join") else "off"
        for key, rate in ARENA_LIMITS.items()
    }
# Terms of new reviews: share of battles that show a pair again, and the time before a vote counts.
ARENA_REVIEWS = {"repeats_percent": 10, "least_seconds": 2}
# Maximum of open event streams (live answers, updates of boards) per person, network and web process.
ARENA_STREAMS = {"person": 8, "network": env.int("ARENA_STREAMS_NETWORK", default=200), "process": 1000}
# Maximum of connections to one web process; further requests are answered with 503.
ARENA_CONNECTIONS = 4000
# Maximum of counted votes per person and per network in a day (UTC; 0: no maximum). Further votes are stored, marked
# and not counted.
ARENA_DAILY_VOTES = {
    "person": env.int("ARENA_DAILY_VOTES_PERSON", default=100),
    "network": env.int("ARENA_DAILY_VOTES_NETWORK", default=1000),
}
# Maximum share of Overall's votes that open anomaly reviews of voters, and of groups, hold. Votes of further reviews
# count until a decision.
ARENA_MAX_HELD_SHARE = {"voters": 0.05, "groups": 0.2}
# Battles that visitors of one network start in an hour before each further one requires a proof of work (0: never).
ARENA_PROOF_OF_WORK_FROM = env.int("ARENA_PROOF_OF_WORK_FROM", default=0)
# Megabytes of one file: a web process keeps a file in memory while it arrives.
ARENA_MAX_FILE_MB = env.int("ARENA_MAX_FILE_MB", default=20)
if not 1 <= ARENA_MAX_FILE_MB <= 200:
    raise ImproperlyConfigured("ARENA_MAX_FILE_MB must be between 1 and 200")
# Bytes of all stored files of one person.
ARENA_UPLOAD_QUOTAS = {
    "visitor": env.int("ARENA_UPLOAD_QUOTA_VISITOR_MB", default=50) * 1_000_000,
    "member": env.int("ARENA_UPLOAD_QUOTA_MEMBER_MB", default=500) * 1_000_000,
}
# Characters of all files attached to one prompt.
ARENA_ATTACHED_CHARACTERS = 200_000
# US dollars per day (UTC); None: no cap. Caps of providers are set in the administration.
ARENA_BUDGETS = {
    whose: Decimal(dollars) if dollars else None
    for whose, dollars in [
        ("visitor", env.str("ARENA_BUDGET_VISITOR_DAY", default="")),
        ("member", env.str("ARENA_BUDGET_MEMBER_DAY", default="")),
        ("site", env.str("ARENA_BUDGET_SITE_DAY", default="")),
    ]
}
# Allow providers on this machine and in private networks; link-local and metadata addresses are never allowed.
ARENA_ALLOW_PRIVATE_PROVIDERS = env.bool("ARENA_ALLOW_PRIVATE_PROVIDERS", default=True)
# Proxy for calls to public addresses; private ones are called directly.
ARENA_OUTBOUND_PROXY = env.str("ARENA_OUTBOUND_PROXY", default="")
if ARENA_OUTBOUND_PROXY and not ARENA_OUTBOUND_PROXY.startswith("http://"):
    raise ImproperlyConfigured("ARENA_OUTBOUND_PROXY must begin with http://")
# Days after which sessions without activity and ended, unpublished benchmark runs are deleted; 0 keeps them. Hashes of
# networks and decisions of auto mode are kept no longer either, and have maximums of their own (arena_site.retention).
ARENA_KEEP_DAYS = env.int("ARENA_KEEP_DAYS", default=0)
# Visitors may download the votes, under pseudonyms, and releases of them; otherwise only members.
ARENA_PUBLISH_VOTES = env.bool("ARENA_PUBLISH_VOTES", default=False)
# Exports may contain prompts and answers of people who agreed to this text (default: battles.prompting.consent).
ARENA_PUBLISH_PROMPTS = env.bool("ARENA_PUBLISH_PROMPTS", default=False)
ARENA_CONSENT_TEXT = env.str("ARENA_CONSENT_TEXT", default="")
# Owners of published battles may list them in the gallery.
ARENA_GALLERY = env.bool("ARENA_GALLERY", default=False)
# Anyone may read how much the arena is used, without teams and models.
ARENA_PUBLIC_STATISTICS = env.bool("ARENA_PUBLIC_STATISTICS", default=False)
# Search engines may index published battles, and the gallery.
ARENA_INDEX_SHARED = env.bool("ARENA_INDEX_SHARED", default=False)

# Traces are sent to this collector by OTLP over HTTP; empty: none. OpenTelemetry's own variables.
_collector = env.str("OTEL_EXPORTER_OTLP_ENDPOINT", default="").rstrip("/")
ARENA_TRACES_ENDPOINT = env.str("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", default="") or (
    f"{_collector}/v1/traces" if _collector else ""
)
# The exporter reads it, too.
ARENA_TRACES_SECRET_HEADERS = env.str("OTEL_EXPORTER_OTLP_HEADERS", default="")
ARENA_TRACES_SERVICE = env.str("OTEL_SERVICE_NAME", default="") or "arena"
# Share of traces that are sent.
ARENA_TRACES_RATIO = env.float("OTEL_TRACES_SAMPLER_ARG", default=0.05)
