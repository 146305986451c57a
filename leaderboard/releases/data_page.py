"""The data page: files for everyone, their columns, and the data that is not published."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts.actor import Actor
from battles.models import StarRating, Vote
from common.cache import TTLCached
from common.db.replica import reads_replica
from leaderboard.exports.access import may_read_exports
from leaderboard.models import OVERALL, AggregationRun, DataPolicy, DataRelease
from leaderboard.payload_types import ReleasePayload
from leaderboard.releases.planning import next_day
from leaderboard.releases.queries import release_payload

MAX_RELEASES = 20

Column = tuple[str, str | Promise]

# One entry may describe several columns.
VOTE_COLUMNS: list[Column] = [
    ("order", _("Number of the vote: 1 is the first. Files refer to a vote by it.")),
    ("voter", _("Pseudonym, different in each file or release: equal ones are the same person.")),
    ("model_left, model_right", _("Ids of both models.")),
    ("choice", _("left (answer A was better), right (answer B), tie or both_bad.")),
    ("created_at", _("Time of the vote, in UTC.")),
    ("board", _("Kind of board: overall for blind battles.")),
    ("categories, language", _("Labels of the prompts; und is an unknown language.")),
    ("turn_count", _("Number of prompts before the vote.")),
    (
        "style_left_tokens … style_right_lists",
        _("Length and formatting of both answers: tokens, headings, bold passages, lists. In JSON lines under style."),
    ),
    (
        "context_files … context_right_first_token_ms",
        _(
            "Whether files were attached; of each side whether its model was met before in the session, whether its "
            "reasoning was shown, and the milliseconds to its first text. In JSON lines under context."
        ),
    ),
    ("excluded_reason, excluded_at", _("Why and since when the vote does not count; empty if it counts.")),
    ("n", _("Number of equal votes in an imported table, otherwise 1.")),
    ("origin", _("draw: the pair was drawn; router: auto mode chose it. Empty for stars and imported tables.")),
]
STAR_COLUMNS: list[Column] = [
    ("order", _("Number of the rating.")),
    ("voter, turn, answer", _("Pseudonyms. Answers with the same turn were compared.")),
    ("side, model", _("Place of the answer and id of its model.")),
    ("stars", _("1 to 5.")),
    ("created_at", _("Time of the rating, in UTC.")),
    ("latest", _("False if the person changed the rating later; then it does not count.")),
]
CONVERSATION_COLUMNS: list[Column] = [
    ("order", _("Number of the vote.")),
    ("consent", _("Version of the text that the person agreed to.")),
    ("turns", _("Prompts without their files, and both answers. In CSV and Parquet as JSON.")),
    ("withdrawn", _("In releases: true is a tombstone. Delete your copy of the text.")),
]


@dataclass(frozen=True)
class DataSet:
    """Kind of published data. `export`: name of a URL; `query`: with a leading question mark."""

    key: str
    title: str | Promise
    rows: int
    export: str
    columns: list[Column]
    query: str = ""


class Counts(NamedTuple):
    votes: int
    stars: int
    conversations: int


@dataclass(frozen=True)
class DataPage:
    policy: DataPolicy
    may_read: bool
    is_public: bool
    has_conversations: bool
    datasets: list[DataSet]
    snapshot: str
    releases: list[ReleasePayload]
    planned: list[DataRelease]
    next_day: datetime | None
    formats = (("jsonl", "JSONL"), ("csv", "CSV"), ("parquet", "Parquet"))


@reads_replica
def _count() -> Counts:
    votes = Vote.objects.on_overall()
    return Counts(votes.count(), StarRating.objects.filter(on_site_boards=True).count(), votes.with_consent().count())


# Counting a million votes takes a tenth of a second.
counts = TTLCached(_count, ttl_s=60, invalidated_by=(Vote, StarRating))


def read_data_page(actor: Actor) -> DataPage:
    policy, may_read = DataPolicy.current(), may_read_exports(actor)
    newest = AggregationRun.objects.snapshots(OVERALL).values_list("public_id", flat=True).first()
    releases = DataRelease.objects.published().select_related("run")[:MAX_RELEASES] if may_read else []
    return DataPage(
        policy=policy,
        may_read=may_read,
        is_public=settings.ARENA_PUBLISH_VOTES,
        has_conversations=settings.ARENA_PUBLISH_PROMPTS,
        datasets=_datasets(),
        snapshot=newest or "",
        releases=[release_payload(release) for release in releases],
        planned=list(DataRelease.objects.unpublished()),
        next_day=next_day(policy),
    )


def _datasets() -> list[DataSet]:
    totals = counts()
    datasets = [
        DataSet("votes", _("Votes"), totals.votes, "api-export-votes", VOTE_COLUMNS),
        DataSet("stars", _("Stars"), totals.stars, "api-export-stars", STAR_COLUMNS),
    ]
    if settings.ARENA_PUBLISH_PROMPTS:
        title = _("Conversations with consent")
        texts = ("api-export-votes", CONVERSATION_COLUMNS, "?prompts=1")
        datasets.append(DataSet("conversations", title, totals.conversations, *texts))
    return datasets
